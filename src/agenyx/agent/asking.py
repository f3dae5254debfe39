"""Questions to a human: what is written down when one is asked, and what of it no longer holds when it is answered.

Between the two lie seconds or days. The content of the files that a call would change is compared; where they lead is
`policy.consent`'s.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from collections.abc import Mapping

from msgspec.structs import replace

from agenyx.core.approval import Approval
from agenyx.core.limits import FILE_BYTES
from agenyx.core.tools import Effects
from agenyx.core.verdict import Reason, Verdict
from agenyx.session.session import Session
from agenyx.session.state import CallState
from agenyx.workspace.names import parse, show

CHANGED = "changed since you were asked"
MOST_FILES = 256  # that are compared; further ones are not
MOST_BYTES = 64 << 20  # that are read of all files together
_CHUNK = 1 << 20
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


async def question(session: Session, call: CallState, effects: Effects, verdict: Verdict) -> Approval:
    """The approval to ask for, with the content that the files have now."""
    refs = [ref for ref in (*effects.writes, *effects.removes) if not ref.problem]
    paths = tuple(dict.fromkeys(show(ref.real) for ref in refs))[:MOST_FILES]
    files = await asyncio.to_thread(_contents, paths)
    identity, at = session.ids.new("apr"), session.clock()
    return Approval(identity, call.call, verdict, effects, files, session.agent, at, call.changed)


async def changes(asked: Approval, seen: Mapping[str, str]) -> tuple[str, ...]:
    """The paths that hold something else than when it was asked.

    `seen` is what the session itself read or left last, by path: that is no change. A path that an earlier question
    was about for this reason is not asked about again, or a file that others keep writing would be asked for ever.
    """
    told = {reason.part for reason in asked.verdict.reasons if reason.text.endswith(CHANGED)}
    files = tuple(file for file in asked.files if file[0] not in told)
    now = await asyncio.to_thread(_contents, tuple(path for path, _ in files))
    return tuple(path for (path, was), (_, is_) in zip(files, now, strict=True) if is_ not in (was, seen.get(path)))


def with_changes(verdict: Verdict, changed: tuple[str, ...]) -> Verdict:
    """The verdict with what changed among its reasons."""
    return replace(verdict, reasons=(*verdict.reasons, *(Reason("path", f"{p} {CHANGED}", part=p) for p in changed)))


def _contents(paths: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    left, found = MOST_BYTES, list[tuple[str, str]]()
    for path in paths:
        digest, size = content(path, min(left, FILE_BYTES))
        found.append((path, digest))
        left -= size
    return tuple(found)


def content(path: str, most: int = FILE_BYTES) -> tuple[str, int]:
    """The SHA-256 of a file, its path as `names.show` prints it, "" where there is none; and how many bytes were read.

    A file of more than `most` bytes goes by its size and time, what is no file or cannot be read by a word.
    """
    name = parse(path)
    try:
        if not stat.S_ISREG(os.lstat(name).st_mode):
            return "no file", 0
        with open(os.open(name, _READ), "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size > most:
                return f"{status.st_size} bytes of {status.st_mtime_ns}", 0
            digest, size = hashlib.sha256(), 0
            while data := file.read(_CHUNK):
                digest.update(data)
                size += len(data)
            return digest.hexdigest(), size
    except (FileNotFoundError, NotADirectoryError):
        return "", 0
    except OSError:
        return "unreadable", 0

"""Reads transcripts back and finds the one to go on with. Bad lines anywhere are counted and passed over."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from agenyx.config.home import workspace_key
from agenyx.core import json
from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.limits import RECORD_BYTES, TRANSCRIPT_BYTES
from agenyx.session.records import Reader, Record
from agenyx.session.state import State
from agenyx.session.store import TRANSCRIPT

_ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


def sessions_of(home: str, workspace: str) -> str:
    """The folder that holds the sessions of a workspace."""
    return os.path.join(home, "sessions", workspace_key(workspace))


def decode_lines(data: bytes, problems: list[str]) -> Iterator[Record]:
    """The records in `data`; each line that is none is told in `problems`. The order of `seq` must rise."""
    reader, last = Reader(), 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line:
            continue
        if len(line) > RECORD_BYTES:
            problems.append(f"line {number} is too large")
            continue
        try:
            record = reader.decode(line)
        except json.JsonError:
            problems.append(f"line {number} is damaged")
            continue
        if record.seq <= last:
            problems.append(f"line {number} repeats an earlier record")
            continue
        last = record.seq
        yield record


def load(directory: str) -> State:
    """Fold the transcript in `directory`. Raises AgenyxError when there is none or it is too large."""
    path = os.path.join(directory, TRANSCRIPT)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        with open(descriptor, "rb") as file:
            size = os.fstat(descriptor).st_size
            if size > TRANSCRIPT_BYTES:
                raise AgenyxError(f"the transcript {path} has {size} bytes, which is too large", "Start a new session.")
            data = file.read(size)
    except OSError as error:
        raise AgenyxError(f"the session cannot be read: {error.strerror} ({path})") from error
    state = State()
    problems: list[str] = []
    for record in decode_lines(data, problems):
        state.apply(record)
    state.problems[:0] = problems
    return state


def find(home: str, session: str) -> str:
    """The folder of the session with this id, in whatever workspace. Raises UsageError when there is none."""
    if not _ID.fullmatch(session):
        raise UsageError(f"{session!r} is not a session id", "Use the id that an earlier run printed, or --continue.")
    top = os.path.join(home, "sessions")
    for key in _listed(top):
        directory = os.path.join(top, key, session)
        if os.path.isfile(os.path.join(directory, TRANSCRIPT)):
            return directory
    raise UsageError(f"there is no session {session}", "Use --continue for the latest session of this directory.")


def latest(home: str, workspace: str) -> str:
    """The folder of the session of this workspace that was written last. Raises UsageError when there is none."""
    top = sessions_of(home, workspace)
    found: list[tuple[float, str]] = []
    for name in _listed(top):
        directory = os.path.join(top, name)
        try:
            status = os.stat(os.path.join(directory, TRANSCRIPT))
        except OSError:
            continue
        if status.st_size:
            found.append((status.st_mtime, directory))
    if not found:
        raise UsageError("there is no earlier session of this directory", "Leave out --continue to start one.")
    return max(found)[1]


def _listed(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []

"""What files held before and after the calls of a session: the copies, and the history that the records tell.

A state of a path is one string: "" is absent, a SHA-256 a file with that content, `link:` and a SHA-256 a symbolic
link with that target, "folder" a folder, "?" anything else or what could not be taken. Copies lie in `<session>/blobs`,
named by their hash, so that equal content is kept once. Knows neither tools nor the workspace.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from agenyx.config.home import private_directory
from agenyx.core.errors import AgenyxError
from agenyx.core.limits import TRANSCRIPT_BYTES
from agenyx.session.load import decode_lines
from agenyx.session.records import REWIND, Checkpoint, Folders, Opened, Prompt, Record
from agenyx.session.store import TRANSCRIPT
from agenyx.workspace.names import show

ABSENT, FOLDER, UNKNOWN, LINK = "", "folder", "?", "link:"
KEPT_FILE = 8 << 20  # bytes of the largest file that is copied
KEPT_SESSION = 256 << 20  # bytes of all copies of a session; the oldest go first
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def _plain(_data: bytes) -> bool:
    return False


class Blobs:
    """Copies of contents. They are not brought to the disk one by one: what a power cut took is told as lost.

    `secret` tells of content that no copy may be made of.
    """

    def __init__(self, directory: str, total: int = KEPT_SESSION, secret: Callable[[bytes], bool] = _plain) -> None:
        self._folder, self._most, self._secret = os.path.join(directory, "blobs"), total, secret
        self._size: int | None = None

    def put(self, data: bytes, digest: str = "") -> str:
        """Keep a copy and return its SHA-256, which is `digest` where it is known. Raises OSError."""
        if self._secret(data):
            raise OSError(errno.EPERM, "it holds a credential")
        digest = digest or hashlib.sha256(data).hexdigest()
        path = os.path.join(self._folder, digest)
        with suppress(FileNotFoundError):
            if os.stat(path).st_size == len(data):
                os.utime(path)  # used last: it is dropped last
                return digest
        if self._size is None:
            private_directory(self._folder)
            self._size = sum(size for _, size, _ in self._files())
        temporary = f"{path}.{os.urandom(4).hex()}.tmp"
        try:
            with open(os.open(temporary, _NEW, 0o600), "wb") as file:
                file.write(data)
            os.replace(temporary, path)
        except OSError:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        self._size += len(data)
        if self._size > self._most:
            self._drop(path)
        return digest

    def keep(self, digest: str) -> bool:
        """Whether there is a copy; it is dropped last then."""
        try:
            os.utime(os.path.join(self._folder, digest))
        except OSError:
            return False
        return True

    def get(self, digest: str) -> bytes | None:
        """The content with this hash; None when it is gone or damaged."""
        try:
            path = os.path.join(self._folder, os.path.basename(digest))
            with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
                data = file.read()
        except OSError:
            return None
        return data if hashlib.sha256(data).hexdigest() == digest else None

    def _files(self) -> list[tuple[float, int, str]]:
        found: list[tuple[float, int, str]] = []
        with suppress(OSError), os.scandir(self._folder) as scan:
            for entry in scan:
                with suppress(OSError):
                    facts = entry.stat(follow_symlinks=False)
                    found.append((facts.st_mtime, facts.st_size, entry.path))
        return found

    def _drop(self, spared: str) -> None:
        files = sorted(self._files())
        self._size = sum(size for _, size, _ in files)
        for _, size, path in files:
            if self._size <= self._most * 9 // 10:
                break
            if path != spared:
                with suppress(OSError):
                    os.unlink(path)
                    self._size -= size


class Point(Struct, frozen=True):
    """A moment that files can go back to: just before a prompt of the person, or before an earlier rewind.

    `name` is the number of the turn, as /tree counts, or r1, r2, … of a rewind. They are in the order of the file, over
    all branches: the files of a workspace have one history.
    """

    name: str
    id: str
    seq: int
    at: float
    kind: Literal["prompt", "rewind"]
    text: str


class Change(Struct, frozen=True):
    """One record of the history."""

    seq: int
    body: Checkpoint


class History(Struct, frozen=True):
    """`folders` are all that ever stood beside the workspace, as they are shown."""

    workspace: str
    points: tuple[Point, ...]
    changes: tuple[Change, ...]
    folders: tuple[str, ...] = ()


def history(records: Iterable[Record]) -> History:
    """The history of the files of a session, from all its records in the order of the file."""
    workspace, points, changes, rewinds = "", list[Point](), list[Change](), set[str]()
    folders: dict[str, None] = {}
    moves: list[tuple[int, str]] = []  # how many changes lay behind when the workspace was elsewhere, and where

    for record in records:
        match record.body:
            case Opened(workspace=where):
                if workspace and where != workspace:
                    moves.append((len(changes), workspace))
                workspace = where
            case Folders(paths):
                folders.update(dict.fromkeys(paths))
            case Prompt(user) if user.origin == "typed":
                name = str(len(points) - len(rewinds) + 1)
                points.append(Point(name, record.id, record.seq, record.at, "prompt", user.said))
            case Checkpoint(call) as body:
                if call.startswith(REWIND) and call not in rewinds:
                    rewinds.add(call)
                    points.append(Point(f"r{len(rewinds)}", call, record.seq, record.at, "rewind", ""))
                changes.append(Change(record.seq, body))
            case _:
                pass
    for count, before in moves:
        changes[:count] = [_moved(change, before, workspace) for change in changes[:count]]
    return History(workspace, tuple(points), tuple(changes), tuple(folders))


def _moved(change: Change, before: str, now: str) -> Change:
    """The change with its path where the workspace lies now."""
    old, new = show(os.fsencode(before)), show(os.fsencode(now))
    path = change.body.path
    if path != old and not path.startswith(f"{old}/"):
        return change
    return Change(change.seq, replace(change.body, path=new + path[len(old) :]))


def stored(directory: str) -> Iterator[Record]:
    """The records of a session on disk, also while another process has it. Raises AgenyxError."""
    path = os.path.join(directory, TRANSCRIPT)
    try:
        with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW), "rb") as file:
            yield from decode_lines(file.read(TRANSCRIPT_BYTES), [])
    except OSError as error:
        raise AgenyxError(f"the session cannot be read: {error.strerror} ({path})", "Make it readable.") from error


class Span(Struct, frozen=True):
    """What became of one path: `target` and `mode` as it was at the point, `last` its latest record, `known` every
    state that the session saw it in."""

    path: str
    target: str
    mode: int
    last: Checkpoint
    known: frozenset[str]


def since(found: History, seq: int) -> Iterator[Span]:
    """Each path that the session touched at or after the record `seq`, in the order in which it was touched first."""
    first: dict[str, Checkpoint] = {}
    last: dict[str, Checkpoint] = {}
    known: dict[str, set[str]] = {}
    for change in found.changes:
        body = change.body
        if change.seq >= seq:
            first.setdefault(body.path, body)
        last[body.path] = body
        known.setdefault(body.path, set()).update(state for state in (body.before, body.after) if state is not None)
    for path, body in first.items():
        yield Span(path, body.before, body.mode, last[path], frozenset(known[path]))

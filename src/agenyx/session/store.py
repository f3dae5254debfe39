"""Where records go: a file that is only ever appended to, under a lock, or memory when there is no disk to write on."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from typing import Protocol

from agenyx.config.home import private_directory
from agenyx.core.errors import AgenyxError, StoreError

TRANSCRIPT = "transcript.jsonl"
LOCK = ".session.lock"


class Store(Protocol):
    """Takes encoded lines. Raises StoreError; after one failure it takes nothing more."""

    def append(self, lines: Sequence[bytes], *, sync: bool) -> None: ...

    def sync(self) -> None: ...

    def close(self) -> None: ...


class MemoryStore:
    """Keeps the lines of a session that is not persisted."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []

    def append(self, lines: Sequence[bytes], *, sync: bool) -> None:
        self.lines.extend(lines)

    def sync(self) -> None:
        pass

    def close(self) -> None:
        pass


class FileStore:
    """A transcript file, locked for this process as long as the store is open.

    Nothing is truncated or rewritten, not even a torn last line: it is closed with a newline and stays as a bad line.
    """

    def __init__(self, directory: str) -> None:
        """Raises OSError when the folder cannot be made or written, AgenyxError when another process holds the lock."""
        private_directory(directory)
        self._lock = _lock(os.path.join(directory, LOCK))
        try:
            path = os.path.join(directory, TRANSCRIPT)
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file = os.open(path, flags, 0o600)
            size = os.fstat(self._file).st_size
            self._torn = size > 0 and os.pread(self._file, 1, size - 1) != b"\n"
            if size == 0:
                _sync_directory(directory)
        except OSError:
            os.close(self._lock)
            raise
        self._unsynced = False
        self._broken: str = ""

    def append(self, lines: Sequence[bytes], *, sync: bool) -> None:
        """One write for all lines; `sync` also brings them, and what was written before, to the disk."""
        if self._broken:
            raise StoreError(f"the session is closed to writing since {self._broken}", "Start again when it is mended.")
        data = (b"\n" if self._torn else b"") + b"".join(lines)
        try:
            written = os.write(self._file, data)
            if written != len(data):
                # The rest of a short write (a full disk) must not be tried again: the line is torn as it stands.
                raise OSError(28, "the disk took only part of a record")
            self._torn, self._unsynced = False, True
            if sync:
                self.sync()
        except OSError as error:
            self._broken = f"a record could not be written ({error.strerror})"
            raise StoreError(
                f"the session could not be written: {error.strerror}",
                "Nothing more was done. Free space or make the disk writable, then go on with --continue.",
            ) from error

    def sync(self) -> None:
        """Bring what was written to the disk. Costs nothing when nothing was written since the last time."""
        if self._unsynced:
            os.fsync(self._file)
            self._unsynced = False

    def close(self) -> None:
        os.close(self._file)
        os.close(self._lock)


def _lock(path: str) -> int:
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(lock, 32, 0).decode("ascii", "replace").strip()
        os.close(lock)
        raise AgenyxError(
            f"this session is in use by process {holder or 'unknown'}",
            "End that process, or start a session of its own by leaving out --continue and --resume.",
        ) from None
    try:
        # Also the first thing that a full disk refuses, while nothing depends on the session yet.
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
    except OSError:
        os.close(lock)
        raise
    return lock


def _sync_directory(directory: str) -> None:
    """A new file is only there after a crash if its folder was brought to the disk as well."""
    for path in (directory, os.path.dirname(directory)):
        folder = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

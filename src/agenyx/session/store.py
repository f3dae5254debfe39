"""Where records go: a file that is only ever appended to, under a lock, or memory when there is no disk to write on."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from typing import Protocol

from agenyx.config.home import private_directory
from agenyx.core.errors import AgenyxError, StoreError
from agenyx.core.limits import TRANSCRIPT_BYTES

TRANSCRIPT = "transcript.jsonl"
UNFINISHED = ".fork-incomplete"
"""Stands in the folder of a copy for as long as it is not whole: such a folder is no session."""
LOCK = ".session.lock"
INTENT = ".agenyx-delete-intent-v1.json"  # a session with this file is being deleted: see session/deletion.py


class SessionLocked(AgenyxError):
    """Another process has the session open."""


class Store(Protocol):
    """Takes encoded lines. Raises StoreError; after one failure it takes nothing more."""

    def append(self, lines: Sequence[bytes], *, sync: bool) -> None: ...

    def sync(self) -> None: ...

    def read(self) -> bytes:
        """Everything in the store, also what was there before it was opened."""
        ...

    def close(self) -> None: ...


class MemoryStore:
    """Keeps the lines of a session that is not persisted. `behind` is the transcript that it goes on from, or ""."""

    def __init__(self, behind: str = "") -> None:
        self.lines: list[bytes] = []
        self._behind = behind

    def append(self, lines: Sequence[bytes], *, sync: bool) -> None:
        self.lines.extend(lines)

    def sync(self) -> None:
        pass

    def read(self) -> bytes:
        before = b""
        if self._behind:
            try:
                with open(self._behind, "rb") as file:
                    before = file.read()
            except OSError as error:
                raise StoreError(f"the session cannot be read: {error.strerror}", "Start a new session.") from error
        return before + (b"\n" if before and not before.endswith(b"\n") else b"") + b"".join(self.lines)

    def close(self) -> None:
        pass


class FileStore:
    """A transcript file, locked for this process as long as the store is open.

    Nothing is truncated or rewritten, not even a torn last line: it is closed with a newline and stays as a bad line.
    """

    def __init__(self, directory: str) -> None:
        """Raises OSError when the folder cannot be made or written, AgenyxError when another process holds the lock."""
        private_directory(directory)
        # Everything below goes through this descriptor: the folder stays ours also where the home is renamed.
        self._folder = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self._lock = take_lock(self._folder, directory)
        except BaseException:
            os.close(self._folder)
            raise
        try:
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            self._file = os.open(TRANSCRIPT, flags, 0o600, dir_fd=self._folder)
            found = os.fstat(self._file)
            self._size, self._identity = found.st_size, (found.st_dev, found.st_ino)
            self._torn = found.st_size > 0 and os.pread(self._file, 1, found.st_size - 1) != b"\n"
            if found.st_size == 0:
                _sync_directory(directory)
        except OSError:
            os.close(self._lock)
            os.close(self._folder)
            raise
        self._unsynced = False
        self._broken: str = ""

    def append(self, lines: Sequence[bytes], *, sync: bool) -> None:
        """One write for all lines; `sync` also brings them, and what was written before, to the disk."""
        if self._broken:
            raise StoreError(f"the session is closed to writing since {self._broken}", "Start again when it is mended.")
        data = (b"\n" if self._torn else b"") + b"".join(lines)
        if self._size + len(data) > TRANSCRIPT_BYTES:
            raise StoreError(f"the transcript would exceed {TRANSCRIPT_BYTES >> 20} MiB", "Begin a new session.")
        self._check()
        try:
            written = os.write(self._file, data)
            if written != len(data):
                # The rest of a short write (a full disk) must not be tried again: the line is torn as it stands.
                raise OSError(28, "the disk took only part of a record")
            self._torn, self._unsynced = False, True
            self._size += written
            if sync:
                self.sync()
        except OSError as error:
            self._broken = f"a record could not be written ({error.strerror})"
            raise StoreError(
                f"the session could not be written: {error.strerror}",
                "Nothing more was done. Free space or make the disk writable, then go on with --continue.",
            ) from error

    def _check(self) -> None:
        """What is written has to land in the file that a resume will read. Raises StoreError."""
        try:
            found = os.stat(TRANSCRIPT, dir_fd=self._folder, follow_symlinks=False)
            wrong = "was replaced" if (found.st_dev, found.st_ino) != self._identity else ""
            wrong = wrong or ("got a second name (a hard link)" if found.st_nlink != 1 else "")
        except OSError:
            wrong = "was removed"
        if wrong:
            self._broken = f"its transcript {wrong}"
            raise StoreError(
                f"the transcript of this session {wrong} while it was open",
                "Nothing more was done. Put it back as it was, then start again; see what else writes there.",
            )

    def sync(self) -> None:
        """Bring what was written to the disk. Costs nothing when nothing was written since the last time."""
        if self._unsynced:
            os.fsync(self._file)
            self._unsynced = False

    def read(self) -> bytes:
        try:
            pieces, at = list[bytes](), 0
            while piece := os.pread(self._file, 8 << 20, at):
                pieces.append(piece)
                at += len(piece)
        except OSError as error:
            raise StoreError(f"the session cannot be read: {error.strerror}", "Start a new session.") from error
        return b"".join(pieces)

    def close(self) -> None:
        os.close(self._file)
        os.close(self._lock)
        os.close(self._folder)


def take_lock(folder: int, directory: str, *, deleting: bool = False) -> int:
    """The locked descriptor for the session in `folder`; `directory` is its path. Close it to release the lock.

    Raises OSError, and SessionLocked when another process has it or AgenyxError when the session is being deleted.
    """
    lock = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=folder)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        from agenyx.session.holder import holder  # only a session in use pays for it

        who = holder(os.pread(lock, 32, 0).decode("ascii", "replace").strip())
        os.close(lock)
        raise SessionLocked(
            f"this session is in use by {who}",
            "End that process; or add --fork-session to go on with a copy, or leave out --continue and --resume.",
        ) from None
    try:
        if not deleting and not _in_place(folder, directory):
            raise AgenyxError("this session is being deleted", "Finish that with: agenyx sessions prune --yes")
        # Also the first thing that a full disk refuses, while nothing depends on the session yet.
        os.ftruncate(lock, 0)
        os.pwrite(lock, str(os.getpid()).encode(), 0)
    except BaseException:
        os.close(lock)
        raise
    return lock


def _in_place(folder: int, directory: str) -> bool:
    """Whether no deletion has begun, nor moved the folder away between our opening and locking it."""
    try:
        os.stat(INTENT, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return os.path.isdir(directory) and os.path.samestat(os.fstat(folder), os.stat(directory))
    return False


def _sync_directory(directory: str) -> None:
    """A new file is only there after a crash if its folder was brought to the disk as well."""
    for path in (directory, os.path.dirname(directory)):
        folder = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

"""Folders of sessions that never came to be: copies that broke off, and sessions in which nothing was said.

A process that makes one holds its lock, so a free lock says that nobody is at it. What could be a session is never
touched: a copy without its marker is whole, and a transcript that is not empty holds something.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Literal

from agenyx.session.inventory import ID
from agenyx.session.store import INTENT, LOCK, TRANSCRIPT, UNFINISHED

Why = Literal["incomplete", "empty"]
_SETTLED = 3600.0  # seconds: a folder may be without a lock, or empty, for the moment in which it is made
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW


def leftovers(partition: str, *, remove: bool = False, only: Why | None = None) -> list[tuple[str, Why]]:
    """What of this kind is in the folder of a workspace, by name; with `remove`, what was removed. Raises OSError."""
    found = list[tuple[str, Why]]()
    store = os.open(partition, _FOLDER)
    try:
        for name in sorted(os.listdir(store)):
            if not ID.fullmatch(name) or not _looks_like_one(store, name, only):
                continue
            with suppress(OSError), _locked(store, name) as folder:
                why = _why(folder)
                if why is None or only not in (None, why):
                    continue
                if remove:
                    _remove(store, name, folder)
                found.append((name, why))
    finally:
        os.close(store)
    return found


def _looks_like_one(store: int, name: str, only: Why | None) -> bool:
    """A look at one or two files, without opening anything: most folders are sessions."""
    with suppress(OSError):
        os.stat(f"{name}/{UNFINISHED}", dir_fd=store, follow_symlinks=False)
        return True
    try:
        return only != "incomplete" and not os.stat(f"{name}/{TRANSCRIPT}", dir_fd=store).st_size
    except FileNotFoundError:
        return True
    except OSError:
        return False


@contextmanager
def _locked(store: int, name: str) -> Generator[int]:
    """The opened folder, its lock ours. Raises OSError when somebody has it, or there is none for us to take."""
    folder = os.open(name, _FOLDER, dir_fd=store)
    lock = -1
    try:
        with suppress(FileNotFoundError):
            lock = os.open(LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=folder)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if lock < 0 and time.time() - os.fstat(folder).st_mtime < _SETTLED:
            raise BlockingIOError(name)
        if not os.path.samestat(os.fstat(folder), os.stat(name, dir_fd=store, follow_symlinks=False)):
            raise FileNotFoundError(name)
        yield folder
    finally:
        if lock >= 0:
            os.close(lock)
        os.close(folder)


def _why(folder: int) -> Why | None:
    """Asked under the lock: whoever made it whole meanwhile has taken its marker away."""
    names = set(os.listdir(folder))
    if INTENT in names:
        return None  # a deletion, which knows its own way
    if UNFINISHED in names:
        return "incomplete"
    if names - {LOCK, TRANSCRIPT} or time.time() - os.fstat(folder).st_mtime < _SETTLED:
        return None
    return "empty" if TRANSCRIPT not in names or _empty(folder) else None


def _empty(folder: int) -> bool:
    found = os.stat(TRANSCRIPT, dir_fd=folder, follow_symlinks=False)
    return stat.S_ISREG(found.st_mode) and found.st_size == 0


def _remove(store: int, name: str, folder: int) -> None:
    """The marker goes last, so that what is left after a crash is still known for what it is."""
    first = sorted(os.listdir(folder), key=lambda entry: (entry != TRANSCRIPT, entry == UNFINISHED, entry == LOCK))
    for entry in first:
        if stat.S_ISDIR(os.stat(entry, dir_fd=folder, follow_symlinks=False).st_mode):
            shutil.rmtree(entry, dir_fd=folder)  # by descriptors, following no link
        else:
            os.unlink(entry, dir_fd=folder)
    os.rmdir(name, dir_fd=store)
    os.fsync(store)

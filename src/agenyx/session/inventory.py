"""Which sessions there are: found by looking at the folders, never by an index that could be stale.

Owns what counts as a session and their order. What one holds is read by `heads`.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator

from msgspec import Struct

from agenyx.core.errors import AgenyxError
from agenyx.session.load import sessions_of
from agenyx.session.store import INTENT, TRANSCRIPT, UNFINISHED

ID = re.compile(r"[A-Za-z0-9_-]{1,128}")


class Found(Struct, frozen=True):
    """A session as its folder shows it, unread. `updated_ns` is the time of its last record, in nanoseconds."""

    id: str
    directory: str
    updated_ns: int
    size: int
    inode: int

    @property
    def updated_at(self) -> float:
        return self.updated_ns / 1e9


class UnsafeStore(AgenyxError):
    """The folder of the sessions is a link, somebody else's, or open to others: what is in it proves nothing."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the stored sessions are not safe to use: {why}", "Make that folder yours alone: chmod 700")


def check_folder(path: str) -> bool:
    """Whether there is such a folder of ours. Raises UnsafeStore for anything else at that path."""
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise UnsafeStore(f"{path} cannot be looked at ({error.strerror})") from error
    if not stat.S_ISDIR(found.st_mode):
        raise UnsafeStore(f"{path} is not a directory")
    if found.st_uid != os.geteuid():
        raise UnsafeStore(f"{path} belongs to another user")
    if found.st_mode & 0o022:
        raise UnsafeStore(f"{path} can be written by other users")
    return True


def partitions(home: str) -> list[str]:
    """The folders of all workspaces. Raises UnsafeStore."""
    top = os.path.join(home, "sessions")
    if not check_folder(top):
        return []
    return sorted(entry.path for entry in _children(top) if entry.is_dir(follow_symlinks=False))


def sessions(home: str, workspace: str | None) -> list[Found]:
    """The sessions of a workspace, of all with None; the one written last first, by id where the time is the same.

    Left out are empty and incomplete ones, those being deleted, links, and what belongs to others. Raises UnsafeStore.
    """
    check_folder(os.path.join(home, "sessions"))
    folders = partitions(home) if workspace is None else [sessions_of(home, workspace)]
    found = [one for folder in folders if check_folder(folder) for one in _of(folder)]
    found.sort(key=lambda one: (-one.updated_ns, one.id))
    return found


def session_at(directory: str) -> Found | None:
    """The session in one folder, None where there is none that counts."""
    return None if os.path.islink(directory) else _session(os.path.basename(directory), directory, os.geteuid())


def _session(identity: str, directory: str, owner: int) -> Found | None:
    """For thousands of folders a list takes three looks each: at the transcript, and at the two files that hide it."""
    if not ID.fullmatch(identity):
        return None
    try:
        found = os.lstat(f"{directory}/{TRANSCRIPT}")
    except OSError:
        return None
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1 or found.st_uid != owner or not found.st_size:
        return None
    if os.access(f"{directory}/{INTENT}", os.F_OK) or os.access(f"{directory}/{UNFINISHED}", os.F_OK):
        return None
    return Found(identity, directory, found.st_mtime_ns, found.st_size, found.st_ino)


def _of(folder: str) -> Iterator[Found]:
    """Names that begin with a dot are ours: what deletion sets aside, and its receipts."""
    owner = os.geteuid()
    for entry in _children(folder):
        found = _session(entry.name, entry.path, owner) if entry.is_dir(follow_symlinks=False) else None
        if found is not None:
            yield found


def _children(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        raise UnsafeStore(f"{folder} cannot be listed ({error.strerror})") from error

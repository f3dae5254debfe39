"""Files by descriptor: every component is opened below its parent, links are not followed, the opened file is checked.

Owns the system calls of `Root`; knows neither workspace text nor policy. Paths are tuples of components below a root
folder. All failures are `FileProblem`: one sentence and what to do next.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress

from msgspec import Struct

from agenyx.core.errors import AgenyxError

# O_PATH also passes through folders that may be searched but not listed; elsewhere reading them is the nearest thing.
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
LISTED = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CHUNK = 1 << 20

Parts = tuple[bytes, ...]
Identity = tuple[int, int]


class Judged(Struct, frozen=True):
    """Which root folder and which file were judged, as (device, inode). None stands for any."""

    top: Identity | None = None
    file: Identity | None = None


_ANY = Judged()


class FileProblem(AgenyxError):
    """A file cannot be used as asked."""

    def __str__(self) -> str:
        return f"{self.message}. {self.fix}" if self.fix else f"{self.message}."


class Missing(FileProblem):
    """There is no such file."""


class FileContent(Struct, frozen=True):
    """A whole regular file. `mode` holds the permission bits, `links` the number of names, `mtime` nanoseconds."""

    data: bytes
    sha256: str
    mode: int
    links: int
    mtime: int


class Listed(Struct, frozen=True, order=True):
    """One name in a folder; a link counts as what it is, not as what it points to."""

    name: bytes
    folder: bool
    link: bool


def explain(shown: str, error: OSError, verb: str) -> FileProblem:
    """The sentence for an error of the system; `verb` is what was tried, as in "cannot be read"."""
    match error.errno:
        case errno.ENOENT:
            return Missing(f"{shown} does not exist", "Check the path, or find the file with Glob.")
        case errno.EACCES | errno.EPERM:
            return FileProblem(f"{shown} cannot be {verb}: permission denied", "Ask the user to permit it.")
        case errno.ENOTDIR:
            return FileProblem(f"A part of the path {shown} is not a directory", "Check the path with LS.")
        case errno.ELOOP:
            return FileProblem(f"{shown} became a symbolic link meanwhile", "Look at it again before using it.")
        case errno.EROFS:
            return FileProblem(f"{shown} lies on a read-only file system", "Write somewhere else.")
        case errno.ENOSPC | errno.EDQUOT | errno.EFBIG:
            return FileProblem(
                f"{shown} cannot be {verb}: the disk, quota or file size limit is used up",
                "Free some space, then try again.",
            )
        case errno.ENAMETOOLONG:
            return FileProblem(f"The name {shown[:80]}… is too long for the file system", "Use a shorter name.")
        case errno.EBUSY | errno.EXDEV:
            return FileProblem(
                f"{shown} is a mount point and cannot be replaced", "Change it where it is mounted from."
            )
        case _:
            return FileProblem(f"{shown} cannot be {verb}: {error.strerror or error}", "Check the file and its disk.")


def regular(shown: str, facts: os.stat_result) -> None:
    kind = stat.S_IFMT(facts.st_mode)
    if kind == stat.S_IFREG:
        return
    words = {
        stat.S_IFDIR: ("is a directory, not a file", "List it with LS, or name a file in it."),
        stat.S_IFLNK: ("is a symbolic link that changed meanwhile", "Look at it again before using it."),
        stat.S_IFIFO: ("is a FIFO: reading it could wait for ever", "Use a regular file."),
        stat.S_IFSOCK: ("is a socket, not a file", "Use a regular file."),
    }
    raise FileProblem(
        f"{shown} {words.get(kind, ('is a device, not a file', ''))[0]}",
        words.get(kind, ("", "Use a regular file."))[1],
    )


def same(shown: str, facts: os.stat_result, judged: Identity | None) -> None:
    """Raises FileProblem unless the opened file is the one that was judged."""
    if judged is not None and (facts.st_dev, facts.st_ino) != judged:
        raise FileProblem(f"{shown} was replaced meanwhile", "Look at it again before using it.")


@contextmanager
def parent(top: bytes, parts: Parts, make: bool = False, judged: Judged = _ANY) -> Generator[int]:
    """The descriptor of the folder that holds the last part. With `make`, folders it had to make go on failure."""
    held = [os.open(top, _FOLDER)]
    made: list[tuple[int, bytes]] = []
    try:
        same("The workspace folder", os.fstat(held[0]), judged.top)
        for part in parts[:-1]:
            try:
                held.append(os.open(part, _FOLDER, dir_fd=held[-1]))
            except FileNotFoundError:
                if not make:
                    raise
                with suppress(FileExistsError):
                    os.mkdir(part, dir_fd=held[-1])
                    made.append((held[-1], part))
                held.append(os.open(part, _FOLDER, dir_fd=held[-1]))
        yield held[-1]
    except BaseException:
        for folder, part in reversed(made):
            with suppress(OSError):
                os.rmdir(part, dir_fd=folder)
        raise
    finally:
        for descriptor in held:
            os.close(descriptor)


def open_regular(folder: int, name: bytes, shown: str) -> tuple[int, os.stat_result]:
    # Opening a device can already act, so the kind is looked at before and after.
    regular(shown, os.stat(name, dir_fd=folder, follow_symlinks=False))
    descriptor = os.open(name, _READ, dir_fd=folder)
    try:
        facts = os.fstat(descriptor)
        regular(shown, facts)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor, facts


@contextmanager
def opened(top: bytes, parts: Parts, shown: str, judged: Judged = _ANY) -> Generator[tuple[int, os.stat_result]]:
    """A regular file, open for reading. Raises FileProblem."""
    try:
        with parent(top, parts, judged=judged) as folder:
            descriptor, facts = open_regular(folder, parts[-1], shown) if parts else (-1, os.stat(top))
        regular(shown, facts)
    except OSError as error:
        raise explain(shown, error, "read") from None
    try:
        same(shown, facts, judged.file)
        yield descriptor, facts
    except OSError as error:
        raise explain(shown, error, "read") from None
    finally:
        os.close(descriptor)


def content(descriptor: int, facts: os.stat_result, cap: int, shown: str) -> FileContent:
    size, pieces = facts.st_size, list[bytes]()
    if size <= cap:
        size = 0
        while piece := os.read(descriptor, _CHUNK):
            pieces.append(piece)
            size += len(piece)
            if size > cap:
                break
    if size > cap:
        raise FileProblem(
            f"{shown} is too large to be taken whole: {max(size, facts.st_size):,} bytes, the limit is {cap:,}",
            "Read parts of it with offset and limit, or use the shell.",
        )
    data = b"".join(pieces)
    mode = stat.S_IMODE(facts.st_mode)
    return FileContent(data, hashlib.sha256(data).hexdigest(), mode, facts.st_nlink, facts.st_mtime_ns)


def read(top: bytes, parts: Parts, shown: str, cap: int, judged: Judged = _ANY) -> FileContent:
    """A whole regular file of at most `cap` bytes. Raises FileProblem."""
    with opened(top, parts, shown, judged) as (descriptor, facts):
        return content(descriptor, facts, cap, shown)


@contextmanager
def standing(top: bytes, parts: Parts, shown: str, judged: Judged = _ANY) -> Generator[int]:
    """The descriptor of a folder. Raises FileProblem."""
    try:
        with parent(top, (*parts, b""), judged=judged) as folder:
            same(shown, os.fstat(folder), judged.file)
            yield folder
    except NotADirectoryError:
        raise FileProblem(f"{shown} is not a directory", "Read it if it is a file, or list its folder.") from None
    except OSError as error:
        raise explain(shown, error, "listed") from None


def entries(top: bytes, parts: Parts, shown: str, cap: int, judged: Judged = _ANY) -> tuple[list[Listed], bool]:
    """The first `cap` names of a folder, unordered, and whether there are more. Raises FileProblem."""
    with standing(top, parts, shown, judged) as folder:
        listed = os.open(b".", LISTED, dir_fd=folder)
        try:
            found: list[Listed] = []
            with os.scandir(listed) as scan:
                for entry in scan:
                    if len(found) == cap:
                        return found, True
                    folder_too = entry.is_dir(follow_symlinks=False)
                    found.append(Listed(os.fsencode(entry.name), folder_too, entry.is_symlink()))
            return found, False
        finally:
            os.close(listed)

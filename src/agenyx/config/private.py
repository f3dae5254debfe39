"""Reads and replaces small private files of the home: no link, one name, ours alone, and the same before and after.

A credential file that another user can change, or that is really somebody else's file behind a link, is refused rather
than read.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from agenyx.config.home import private_directory
from agenyx.core.errors import ConfigError


def read_private(home: str, name: str, limit: int) -> bytes | None:
    """The content of `<home>/<name>`, None when there is no such file. Raises ConfigError, which names the path.

    The file has to be a regular one with a single name, owned by us, closed to group and others, of at most `limit`
    bytes, and has to stay the same one, with the same content, while it is read.
    """
    path = os.path.join(home, name)
    try:
        folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{home} cannot be opened: {error.strerror}", "Make it readable for yourself.") from error
    try:
        return _read(folder, name, path, limit)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", _REPAIR.format(path=path)) from error
    finally:
        os.close(folder)


_REPAIR = "Make it a plain file of yours: chmod 600 {path}"


def _read(folder: int, name: str, path: str, limit: int) -> bytes | None:
    try:
        before = os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return None
    _check(before, path, limit)
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    with open(descriptor, "rb", buffering=0) as file:
        opened = os.fstat(file.fileno())
        _check(opened, path, limit)
        data = file.read(limit + 1) or b""
        file.seek(0)
        again = file.read(limit + 1) or b""
        after = os.lstat(name, dir_fd=folder)
    if not (_identity(before) == _identity(opened) == _identity(after)) or data != again or len(data) != after.st_size:
        raise ConfigError(f"{path} changed while it was read", "Try again.")
    return data


def _identity(found: os.stat_result) -> tuple[int, ...]:
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _check(found: os.stat_result, path: str, limit: int) -> None:
    repair = _REPAIR.format(path=path)
    if stat.S_ISLNK(found.st_mode):
        raise ConfigError(f"{path} is a symbolic link", "Put the file itself there.")
    if not stat.S_ISREG(found.st_mode):
        raise ConfigError(f"{path} is not a regular file", "Put a plain file there.")
    if found.st_nlink != 1:
        raise ConfigError(f"{path} has {found.st_nlink} names (hard links)", "Keep one: copy it and remove the others.")
    if found.st_uid != os.geteuid():
        raise ConfigError(f"{path} belongs to another user", "Make it your own: chown and chmod 600.")
    if found.st_mode & 0o077:
        raise ConfigError(f"{path} is open to other users (mode {stat.S_IMODE(found.st_mode):04o})", repair)
    if found.st_size > limit:
        raise ConfigError(f"{path} is larger than {limit // 1024} KiB", "Remove what does not belong there.")


def replace_private(home: str, name: str, data: bytes) -> None:
    """Write `<home>/<name>` with mode 0600 so that a reader sees the old content or the new one. Raises ConfigError.

    The home is made with mode 0700 where it is missing.
    """
    path = os.path.join(home, name)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        private_directory(home)
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        folder = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise ConfigError(
            f"{path} cannot be written: {error.strerror}", "Free space or make it writable, or set AGENYX_HOME."
        ) from error

"""Putting a file's new content in place in one step: whoever looks sees the old or the new file, never a part.

Owns writing below a root folder. Knows neither text nor policy; a failure leaves the old file and no other trace.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import suppress

from agenyx.workspace.files import (
    LISTED,
    FileProblem,
    Judged,
    Parts,
    content,
    explain,
    open_regular,
    parent,
    regular,
)

_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS, errno.EMLINK, errno.EACCES)
_ANY = Judged()
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def _present(folder: int, name: bytes, shown: str, expected: str | None, cap: int) -> os.stat_result | None:
    """What the new content will replace, after making sure that it may be and is what the caller knows."""
    try:
        facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        if expected:
            raise FileProblem(f"{shown} was removed meanwhile", "Look for it again, then decide.") from None
        return None
    regular(shown, facts)
    if expected == "":
        raise FileProblem(f"{shown} appeared meanwhile", "Read it first, then decide.")
    # Renaming over a file needs no permission on the file itself, so its own read-only mark is honoured here.
    writable = facts.st_mode & 0o222 and os.access(name, os.W_OK, dir_fd=folder)
    if not writable:
        raise FileProblem(
            f"{shown} is marked read-only (mode {stat.S_IMODE(facts.st_mode):04o})",
            "Change its mode first if that is wanted.",
        )
    if expected:
        descriptor, opened_facts = open_regular(folder, name, shown)
        try:
            digest = content(descriptor, opened_facts, cap, shown).sha256
        finally:
            os.close(descriptor)
        if digest != expected:
            raise FileProblem(
                f"{shown} changed meanwhile; it was left as it is", "Read it again, then repeat the change."
            )
    return facts


def _fill(descriptor: int, data: bytes, old: os.stat_result | None) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
    if old is not None:
        own = os.fstat(descriptor)
        if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid):
            with suppress(OSError):
                os.fchown(descriptor, old.st_uid, old.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & 0o1777)
    os.fsync(descriptor)


def _publish(folder: int, temporary: bytes, name: bytes, fresh: bool) -> None:
    if fresh:
        try:  # unlike a rename, a link never overwrites a file that somebody else made meanwhile
            os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.unlink(temporary, dir_fd=folder)
            return
        except FileExistsError:
            raise
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
    os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def replace(
    top: bytes, parts: Parts, shown: str, data: bytes, expected: str | None, cap: int, judged: Judged = _ANY
) -> str:
    """Put `data` in place of a file in one step and return its SHA-256. Raises FileProblem; then nothing has changed.

    Of `judged` only the root folder counts: what the file holds is told by `expected`.

    `expected` is the SHA-256 of the present content, "" for a file that must not exist yet, None for either. The new
    file takes over mode and, where permitted, owner; another hard link of the old one keeps the old content. Set-user
    and set-group bits go, as they do on any write. A new file gets 0644 and missing folders, both under the umask.
    """
    if not parts:
        raise FileProblem(f"{shown} is a directory, not a file", "Name a file in it.")
    try:
        with parent(top, parts, expected in (None, ""), judged) as folder:
            old = _present(folder, parts[-1], shown, expected, cap)
            temporary = b".agenyx-%s.tmp" % os.urandom(8).hex().encode()
            descriptor = os.open(temporary, _NEW, 0o600 if old else 0o644, dir_fd=folder)
            try:
                try:
                    _fill(descriptor, data, old)
                finally:
                    os.close(descriptor)
                _publish(folder, temporary, parts[-1], old is None)
            except BaseException:
                with suppress(OSError):
                    os.unlink(temporary, dir_fd=folder)
                raise
            _settle(folder)
    except FileExistsError:
        raise FileProblem(f"{shown} appeared meanwhile", "Read it first, then decide.") from None
    except OSError as error:
        raise explain(shown, error, "written") from None
    return hashlib.sha256(data).hexdigest()


def _settle(folder: int) -> None:
    """Make the new name durable. The content already is; a file system that cannot do this is no failure."""
    with suppress(OSError):
        listed = os.open(b".", LISTED, dir_fd=folder)
        try:
            os.fsync(listed)
        finally:
            os.close(listed)

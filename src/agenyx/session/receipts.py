"""What deletion writes down beside the sessions of a workspace: intents, receipts, and the names of what is set aside.

Every file is there whole or not at all, also after a crash. Owns names and limits; the order of steps is `deletion`'s.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager

from msgspec import Struct

from agenyx.core import json
from agenyx.session.store import INTENT

REGISTRY = ".agenyx-delete-lock"
RECEIPTS = ".agenyx-delete-receipts-v1"
STAGE = ".agenyx-delete-v1-"
MOST = 512  # stages, and receipts
RETAINED = 256  # receipts of what is wholly deleted
_INTENT_BYTES = 2048
_RECEIPT_BYTES = 4096
_REVISION = 46  # characters

Name = tuple[str, str]
"""Session id and revision."""


class Intent(Struct, frozen=True, forbid_unknown_fields=True):
    """The deletion of exactly this content was decided on: from here on the session is hidden, its id taken."""

    version: int
    session_id: str
    revision: str


class Receipt(Struct, frozen=True, forbid_unknown_fields=True):
    """`complete`: nothing of the session is left."""

    version: int
    session_id: str
    revision: str
    complete: bool


class Damaged(Exception):
    """Something stands in the place of an intent or a receipt that we did not write."""


@contextmanager
def registry(store: int) -> Generator[None]:
    """The lock on everything of this module in one folder of sessions; waits for it."""
    import fcntl

    lock = os.open(REGISTRY, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=store)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def read_intent(folder: int) -> Name | None:
    """Whose deletion was begun in a session's folder, None where none was. Raises OSError, Damaged."""
    data = _read(folder, INTENT, _INTENT_BYTES)
    if data is None:
        return None
    try:
        intent = json.strict(data, Intent)
    except json.JsonError as error:
        raise Damaged(INTENT) from error
    return (intent.session_id, intent.revision)


def write_intent(folder: int, name: Name) -> None:
    """Raises OSError."""
    _put(folder, INTENT, json.encode(Intent(1, *name)))


def read_receipt(store: int, name: Name) -> Receipt | None:
    """Raises OSError, Damaged."""
    with _receipts(store, make=False) as folder:
        data = None if folder is None else _read(folder, _receipt_name(name), _RECEIPT_BYTES)
    if data is None:
        return None
    try:
        receipt = json.strict(data, Receipt)
    except json.JsonError as error:
        raise Damaged(_receipt_name(name)) from error
    if (receipt.session_id, receipt.revision) != name:
        raise Damaged(_receipt_name(name))
    return receipt


def write_receipt(store: int, name: Name, *, complete: bool) -> None:
    """Raises OSError."""
    with _receipts(store, make=True) as folder:
        assert folder is not None
        _put(folder, _receipt_name(name), json.encode(Receipt(1, *name, complete)))


def room(store: int) -> bool:
    """Whether one more deletion may begin; old receipts make way. Raises OSError."""
    with _receipts(store, make=False) as folder:
        names = [] if folder is None else [one for one in os.listdir(folder) if _receipt_of(one)]
        if folder is not None and len(names) > RETAINED:
            pending = set(stages(store))
            done = [one for one in names if _receipt_of(one) not in pending]
            done.sort(key=lambda one: os.stat(one, dir_fd=folder, follow_symlinks=False).st_mtime_ns)
            for one in done[: len(names) - RETAINED]:
                os.unlink(one, dir_fd=folder)
                names.remove(one)
    return len(names) < MOST and len(stages(store)) < MOST


def of_session(store: int, session: str) -> bool:
    """Whether a session of this id was deleted, or its deletion begun, at any revision. Raises OSError."""
    with _receipts(store, make=False) as folder:
        found = [] if folder is None else [_receipt_of(one) for one in os.listdir(folder)]
    return any(one is not None and one[0] == session for one in [*found, *stages(store)])


def stage_name(name: Name) -> str:
    """Under which a session waits for being removed. It says all that a retry needs."""
    session, revision = name
    return f"{STAGE}{len(session):03}-{session}-{revision}"


def stages(store: int) -> list[Name]:
    """What waits for being removed. Raises OSError."""
    found: list[Name] = []
    for name in os.listdir(store):
        size, rest = name.removeprefix(STAGE)[:3], name.removeprefix(STAGE)[4:]
        if name.startswith(STAGE) and size.isascii() and size.isdigit():
            one = (rest[: int(size)], rest[int(size) + 1 :])
            if stage_name(one) == name:
                found.append(one)
    return found


def _receipt_name(name: Name) -> str:
    return f"d1_{name[0]}_{name[1]}.json"


def _receipt_of(file: str) -> Name | None:
    body = file.removeprefix("d1_").removesuffix(".json")
    name = (body[: -_REVISION - 1], body[-_REVISION:])
    return name if name[0] and _receipt_name(name) == file else None


@contextmanager
def _receipts(store: int, *, make: bool) -> Generator[int | None]:
    if make:
        try:
            os.mkdir(RECEIPTS, 0o700, dir_fd=store)
        except FileExistsError:
            pass
        else:
            os.fsync(store)
    try:
        folder = os.open(RECEIPTS, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=store)
    except FileNotFoundError:
        yield None
        return
    try:
        yield folder
    finally:
        os.close(folder)


def _read(folder: int, name: str, limit: int) -> bytes | None:
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        return None
    with open(descriptor, "rb", buffering=0) as file:
        found = os.fstat(descriptor)
        data = file.read(limit + 1) or b""
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1 or found.st_uid != os.geteuid() or len(data) > limit:
        raise Damaged(name)
    return data


def _put(folder: int, name: str, data: bytes) -> None:
    """Write a file so that it is there whole, on the disk, once this returns."""
    temporary = f".tmp-{name}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(temporary, flags, 0o600, dir_fd=folder)
    try:
        if os.write(descriptor, data) != len(data):
            raise OSError(28, os.strerror(28))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    os.fsync(folder)

"""Deletes a session for good, in steps each of which may be the last one before a crash (reference: AgentX §8.7).

The same id and revision finish what was begun, whenever they are given again. In order: the revision is compared, the
session locked, the intent written into its folder (from here on it is hidden), a receipt opened, the folder renamed to
a name that says whose it was, removed, and the receipt closed.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Literal

from agenyx.core.errors import AgenyxError
from agenyx.session import receipts
from agenyx.session.inventory import ID, UnsafeStore, check_folder
from agenyx.session.receipts import Damaged, Name
from agenyx.session.revision import REVISION, Moved, revision_of
from agenyx.session.store import SessionLocked, take_lock

Status = Literal["deleted", "not_found", "stale", "session_locked", "delete_incomplete", "store_unsafe"]


def delete(partition: str, session: str, revision: str) -> Status:
    """Delete a session of the folder `partition`, as it was when it had this revision. Never raises for its state."""
    if not (ID.fullmatch(session) and REVISION.fullmatch(revision)):
        return "not_found"
    try:
        if not check_folder(os.path.dirname(partition)) or not check_folder(partition):
            return "not_found"
        store = os.open(partition, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except (OSError, UnsafeStore):
        return "store_unsafe"
    try:
        return _delete(store, partition, (session, revision))
    except SessionLocked:
        return "session_locked"
    except (Damaged, AgenyxError, OSError):
        # Whether the deletion was decided on, only what is on the disk can tell.
        return "delete_incomplete" if _begun(store, (session, revision)) else "store_unsafe"
    finally:
        os.close(store)


def unfinished(partition: str) -> list[Name]:
    """Deletions that were begun here and not finished. Raises OSError."""
    if not os.path.isdir(partition):
        return []
    store = os.open(partition, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        found = receipts.stages(store)
        for name in os.listdir(store):
            if ID.fullmatch(name):
                with suppress(OSError, Damaged):
                    intent = _intent(store, name)
                    found += [intent] if intent is not None and intent[0] == name else []
        return found
    finally:
        os.close(store)


def _delete(store: int, partition: str, name: Name) -> Status:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        folder = os.open(name[0], flags, dir_fd=store)
    except FileNotFoundError:
        return _later(store, name)
    try:
        if _differs(folder, name):
            return "stale"
        lock = take_lock(folder, os.path.join(partition, name[0]), deleting=True)
        try:
            with receipts.registry(store):
                refused = _decide(store, folder, name)
        finally:
            os.close(lock)
    finally:
        os.close(folder)
    return refused or _later(store, name)


def _decide(store: int, folder: int, name: Name) -> Status | None:
    """Under both locks: compare once more, write down that it is decided, set aside. The status where it is not."""
    try:
        if not os.path.samestat(os.fstat(folder), os.stat(name[0], dir_fd=store, follow_symlinks=False)):
            return "stale"
    except FileNotFoundError:  # another process was faster
        return None
    if _differs(folder, name):
        return "stale"
    if receipts.read_intent(folder) is None:
        if not receipts.room(store):
            return "store_unsafe"
        receipts.write_intent(folder, name)
    receipts.write_receipt(store, name, complete=False)
    _set_aside(store, name)
    return None


def _differs(folder: int, name: Name) -> bool:
    """Whether the folder holds something else than what is to be deleted. An intent says that it was compared."""
    intent = receipts.read_intent(folder)
    if intent is not None:
        return intent != name
    try:
        return revision_of(folder) != name[1]
    except (Moved, FileNotFoundError):
        return True


def _set_aside(store: int, name: Name) -> None:
    stage = receipts.stage_name(name)
    with suppress(FileNotFoundError):
        os.stat(stage, dir_fd=store, follow_symlinks=False)
        raise Damaged(stage)
    os.rename(name[0], stage, src_dir_fd=store, dst_dir_fd=store)
    os.fsync(store)


def _later(store: int, name: Name) -> Status:
    """The folder is not there: it was set aside, or is wholly gone, or never was."""
    receipt = receipts.read_receipt(store, name)
    if name in receipts.stages(store) or (receipt is not None and not receipt.complete):
        return _finish(store, name)
    if receipt is not None:
        return "deleted"
    return "stale" if receipts.of_session(store, name[0]) else "not_found"


def _finish(store: int, name: Name) -> Status:
    import shutil

    with receipts.registry(store):
        with suppress(FileNotFoundError):  # by descriptors, following no link
            shutil.rmtree(receipts.stage_name(name), dir_fd=store)
        os.fsync(store)
        receipts.write_receipt(store, name, complete=True)
    return "deleted"


def _begun(store: int, name: Name) -> bool:
    with suppress(OSError, Damaged):
        return name in receipts.stages(store) or _intent(store, name[0]) == name
    return False


def _intent(store: int, session: str) -> Name | None:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
    folder = os.open(session, flags, dir_fd=store)
    try:
        return receipts.read_intent(folder)
    finally:
        os.close(folder)

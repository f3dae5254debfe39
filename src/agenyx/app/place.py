"""How a workspace is known again after it was moved. Looks at a few files, starts no program."""

from __future__ import annotations

import os

from agenyx.core.json import JsonError
from agenyx.session.records import Opened, Reader
from agenyx.session.store import TRANSCRIPT
from agenyx.workspace import git

_LOG = 4 << 20  # bytes of the newest entries of git's log of HEAD
_LOOKED_AT = 500  # sessions, the latest first
_FIRST = 64 << 10  # bytes of the first record of a session


def place_of(workspace: str) -> str:
    """What a session remembers of its workspace, a real path: the folder's identity, its commit, its place in git.

    "" where nothing is known. The form is `DEVICE:INODE`, then, in a git tree, ` COMMIT PATH`.
    """
    try:
        found = os.stat(workspace)
    except OSError:
        return ""
    place = f"{found.st_dev}:{found.st_ino}"
    facts, top = git.facts(workspace), git.top(os.fsencode(workspace))
    if facts is not None and facts.head and top is not None:
        return f"{place} {facts.head} {os.path.relpath(workspace, os.fsdecode(top))}"
    return place


def is_same(place: str, workspace: str) -> bool:
    """Whether `workspace` is the folder that `place` remembers, or a copy of its git tree.

    A git tree is known by the commit: it has to be in the log of HEAD there, which moves along with the tree.
    """
    here = place_of(workspace)
    if not place or not here:
        return False
    identity, _, rest = place.partition(" ")
    other, _, present = here.partition(" ")
    if not rest:
        return identity == other
    commit, _, inside = rest.partition(" ")
    head, _, now_inside = present.partition(" ")
    return inside == now_inside and (commit == head or commit in _log(workspace))


def _log(workspace: str) -> set[str]:
    top = git.top(os.fsencode(workspace))
    if top is None:
        return set()
    try:
        path = os.path.join(top, b".git", b"logs", b"HEAD")
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            file.seek(max(0, os.fstat(descriptor).st_size - _LOG))
            rows = file.read(_LOG).split(b"\n")
    except OSError:
        return set()
    # git-log(5) of references: old and new commit, then who, when and why
    return {word.decode("ascii", "replace") for row in rows for word in row.split(b" ", 2)[:2]}


def moved_here(home: str, workspace: str) -> str:
    """The folder of the latest session whose workspace is gone and was what `workspace` is now; "" for none."""
    from agenyx.session.inventory import sessions  # most starts look for nothing

    for found in sessions(home, None)[:_LOOKED_AT]:
        opened = _opened(os.path.join(found.directory, TRANSCRIPT))
        if opened is None or os.path.lexists(opened.workspace):
            continue
        if " " in opened.place and is_same(opened.place, workspace):  # the number of a folder alone may come again
            return found.directory
    return ""


def _opened(path: str) -> Opened | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            record = Reader().decode(file.readline(_FIRST))
    except (OSError, JsonError):
        return None
    return record.body if isinstance(record.body, Opened) else None

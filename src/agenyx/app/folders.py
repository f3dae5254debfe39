"""Folders that the person adds to a workspace: which may be, and what of an earlier session's there is still.

They are roots like the workspace, with the same wall, guards and protected paths. Nothing in them acts: instructions,
skills, hooks and settings come from the workspace and the home alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

from agenyx.core.errors import UsageError
from agenyx.core.events import Notice
from agenyx.core.tools import PathRef
from agenyx.policy.paths import known_files, protection
from agenyx.workspace.guards import within
from agenyx.workspace.names import parse, show
from agenyx.workspace.root import Root

MOST = 32
_KERNEL = (b"/dev", b"/proc", b"/sys")


def take(
    root: Root,
    given: Sequence[str],
    before: Sequence[str],
    env: Mapping[str, str],
    home: str,
    base: str,
    tell: Callable[[Notice], None],
) -> None:
    """Add what was named at the start, relative to `base`, and what a resumed session had. Raises UsageError for the
    former; of the latter it is told what is missing."""
    for path in given:
        add(root, path, env, home, base, tell)
    for path in before:
        try:
            add(root, os.fsdecode(parse(path)), env, home, base, tell)
        except UsageError as error:
            tell(Notice("warning", f"This session goes on without a folder that it had: {error.message}.", error.fix))


def add(
    root: Root, path: str, env: Mapping[str, str], home: str, base: str, tell: Callable[[Notice], None]
) -> tuple[str, bool]:
    """Add one folder; its real path, and False where it is part of the workspace already. Raises UsageError."""
    person = os.path.realpath(env["HOME"]) if env.get("HOME") else ""
    text = os.path.join(person, path[2:]) if path.startswith("~/") and person else person if path == "~" else path
    if not path.strip() or "\0" in path:
        raise UsageError("the path of a folder to add is empty, or holds a NUL character", "Name an existing folder.")
    real = os.path.realpath(os.fsencode(os.path.join(base, text)))
    shown = show(real)
    if not os.path.isdir(real):
        raise UsageError(f"{shown} cannot be added: it is no folder", "Name an existing folder.")
    if why := _refusal(root, real):
        raise UsageError(f"{shown} cannot be added: {why}", "Name a folder below it that holds just what is needed.")
    if len(root.beside) >= MOST:
        raise UsageError(f"{shown} cannot be added: there are {MOST} folders already", "Name one that holds several.")
    if not root.join(_open(real, root.path, home, person)):
        return os.fsdecode(real), False
    if person and within(os.fsencode(person), real):
        tell(
            Notice(
                "warning",
                f"{shown} was added to the workspace, and with it the whole home directory.",
                "Name only the folders that are needed.",
            )
        )
    return os.fsdecode(real), True


def _refusal(root: Root, real: bytes) -> str:
    """Why a folder may not be added, or ""."""
    if real == b"/":
        return "it is the whole file system"
    if any(within(real, place) for place in _KERNEL):
        return "it holds devices or files of the kernel"
    if root.owns(real) or root.word(os.fsdecode(real)).problem:  # by its name, or as the same folder
        return "it belongs to Agenyx itself"
    if root.keeps_home(PathRef(show(real), real, None)):
        return "Agenyx's own folder, with its keys and sessions, lies in it"
    return ""


def _open(real: bytes, workspace: str, home: str, person: str) -> Root:
    """The root of a folder. What is protected is told by its whole path, so that no folder sheds what it lies in."""
    path = os.fsdecode(real)
    return Root(
        path,
        lambda found: protection(found, workspace, home),
        changing=lambda found: protection(found, workspace, home, "write"),
        below=lambda found: protection(found, workspace, home, "tree"),
        home=home,
        known=known_files(path, home, person),
    )

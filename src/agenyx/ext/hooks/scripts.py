"""Scripts in the workspace that hooks run: whether they are still what they were when the session began.

Trust speaks of content. A script that the agent could change would be a way to run anything unasked.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from agenyx.ext.hooks.command import scripts
from agenyx.ext.hooks.environment import PROJECT, filled
from agenyx.ext.hooks.model import Entry

if TYPE_CHECKING:
    from agenyx.ext.acting import Item

_MOST = 8 << 20
_BREAKS = re.compile(r"[\s`;|&()<>=,{}]+")
_ENDS = (".sh", ".bash", ".zsh", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php")


def named(entry: Entry, workspace: str) -> list[str]:
    """The scripts that an entry runs, absolute, and what else in its words is the name of a script that is there."""
    if entry.kind != "command":
        return []
    text = re.sub("[\"'\x01]", "", " ".join((entry.command, *(entry.args or ()))))
    words = _BREAKS.split(filled(text, lambda name: "\x01" if name in PROJECT else None))
    paths = (os.path.join(workspace, word.replace("\x01", workspace)) for word in words if word)
    more = (path for path in paths if os.path.isfile(path) and (path.endswith(_ENDS) or os.access(path, os.X_OK)))
    return list(dict.fromkeys((*scripts(entry, workspace), *more)))


def in_workspace(item: Item, workspace: str) -> list[str]:
    """What the hooks of a file would run of the workspace, a real path, as paths below it: it acts with them."""
    from agenyx.ext.acting import load
    from agenyx.ext.hooks.config import read
    from agenyx.ext.sources import of_workspace
    from agenyx.workspace.files import FileProblem

    try:
        entries, _ = read([of_workspace(item, load(item))])
    except FileProblem:
        return []  # it changes just now, and is not used then
    found = (os.path.normpath(path) for entry in entries for path in named(entry, workspace))
    wall = os.path.join(workspace, "")
    return list(dict.fromkeys(path[len(wall) :] for path in found if path.startswith(wall) and os.path.lexists(path)))


def inside(entry: Entry, workspace: str) -> list[str]:
    """The scripts of an entry that lie in the workspace, absolute."""
    wall = os.path.join(os.path.realpath(workspace), "")
    return [path for path in named(entry, workspace) if os.path.join(os.path.realpath(path), "").startswith(wall)]


def foreign(entry: Entry, workspace: str) -> str:
    """Why a person's own hook may not run where the workspace is not trusted: it would run what lies there. Or ""."""
    found = inside(entry, workspace) if entry.origin == "user" else []
    return f"{found[0]} lies in the workspace, which is not trusted" if found else ""


def unchanged(entry: Entry, workspace: str) -> Callable[[], str]:
    """Remembers the scripts of an entry that lie in the workspace; then tells which has changed since, or ""."""
    before = {path: _digest(path) for path in inside(entry, workspace)}

    def check() -> str:
        for path, digest in before.items():
            if _digest(path) != digest:
                return f"{path} has changed since this session began, so it is not run before a new start"
        return ""

    return check


def _digest(path: str) -> str:
    """ "" where there is no such file."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return hashlib.sha256(file.read(_MOST)).hexdigest()
    except OSError:
        return ""

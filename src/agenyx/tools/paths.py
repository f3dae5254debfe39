"""What the file tools share: the path that was judged, and how they tell what was left out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from agenyx.core.tools import PathRef
from agenyx.tools.spec import Context
from agenyx.workspace.files import FileProblem
from agenyx.workspace.root import Root

_NAMED = 5


def judged(ctx: Context, role: Literal["read", "write"]) -> PathRef:
    """The path of this call as it was judged. It is not resolved again, so nothing else is opened.

    Raises FileProblem where it must not be used, or where nothing was judged.
    """
    refs = ctx.effects.reads if role == "read" else ctx.effects.writes
    if not refs:
        raise FileProblem("The path of this call was not judged", "Nothing was done; call the tool again.")
    if refs[0].problem:
        raise FileProblem(refs[0].problem)
    return refs[0]


def left_out(names: list[str], what: str = "file") -> str:
    """The note about protected files that a tool came across and does not show, "" for none. Sorts the names."""
    if not names:
        return ""
    many = len(names) != 1
    shown = ", ".join(sorted(names)[:_NAMED]) + (", …" if len(names) > _NAMED else "")
    were = f"{len(names):,} protected {what}{'s were' if many else ' was'} left out"
    return f"{were}: {shown}; Read asks the user for {'them' if many else 'it'}"


def visible(root: Root, asked: PathRef, paths: Iterable[bytes]) -> tuple[list[bytes], list[str]]:
    """Of absolute paths met below a folder those that may be listed, and the shown names of the protected others.

    All are listed where the folder itself is protected: the user was asked for it. Agenyx's own are never listed.
    """
    open_all = bool(root.hides(asked.real))
    kept, hidden = list[bytes](), list[str]()
    for path in paths:
        if not root.hides(path) or (open_all and not root.owns(path)):
            kept.append(path)
        elif not root.owns(path):
            hidden.append(root.found(path).shown)
    return kept, hidden

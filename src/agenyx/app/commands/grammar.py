"""What an input is: words for the model, a command, or a mistake (grammar: AgentX §1.9). Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection

from msgspec import Struct

_NAME = re.compile(r"[A-Za-z0-9_:-]{1,256}")


class Words(Struct, frozen=True):
    """For the model, as it was typed."""

    text: str


class Call(Struct, frozen=True):
    """A command, by its name or an alias in small letters, with what follows it."""

    name: str
    args: str


class Mistake(Struct, frozen=True):
    """No model is asked about it. `fix` says what to do instead."""

    message: str
    fix: str


def read(text: str, known: Collection[str], exists: Callable[[str], bool]) -> Words | Call | Mistake:
    """`known` holds the names and aliases of all commands; `exists` tells whether an absolute path does."""
    trimmed = text.strip()
    if not trimmed.startswith("/"):
        return Words(text)
    name, *rest = trimmed[1:].split(maxsplit=1)[:2] if trimmed[1:2].strip() else [""]
    if "/" in name or "\\" in name:
        return Words(text)
    if name.lower() in known:
        return Call(name.lower(), rest[0].strip() if rest else "")
    if name and exists(trimmed):
        return Words(text)
    if not _NAME.fullmatch(name):
        return Mistake("a command is / and a name", "/help lists them all.")
    return Mistake(f"there is no command /{name}", f"{_nearest(name.lower(), known)}/help lists them all.")


def _nearest(name: str, known: Collection[str]) -> str:
    begun = sorted(other for other in known if other.startswith(name))
    if begun:
        return f"Did you mean /{begun[0]}? "
    # Of two that are as near, the one as long: letters change places more often than they are left out.
    near = min(((_distance(name, other), abs(len(name) - len(other)), other) for other in known), default=None)
    return f"Did you mean /{near[2]}? " if near and near[0] <= max(1, len(near[2]) // 3) else ""


def _distance(one: str, other: str) -> int:
    """Letters to insert, leave out, change, or swap with the next (Damerau, optimal string alignment)."""
    before, above = list[int](), list(range(len(other) + 1))
    for y, a in enumerate(one, 1):
        row = [y]
        for x, b in enumerate(other, 1):
            best = min(above[x] + 1, row[x - 1] + 1, above[x - 1] + (a != b))
            if y > 1 and x > 1 and a == other[x - 2] and one[y - 2] == b:
                best = min(best, before[x - 2] + 1)
            row.append(best)
        before, above = above, row
    return above[-1]

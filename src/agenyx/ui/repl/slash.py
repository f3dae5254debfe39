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
    """A command of the table, with what follows its name."""

    name: str
    args: str


class Mistake(Struct, frozen=True):
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
    import difflib

    begun = sorted(other for other in known if other.startswith(name))
    best = begun[:1] or difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"Did you mean /{best[0]}? " if best else ""

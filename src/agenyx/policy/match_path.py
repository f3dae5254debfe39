"""Patterns of paths, as gitignore reads them. Pure: compares names, looks at no file.

`*.py` is at any depth, `src/*.py` and `/x` start at the workspace, `~/x` at the person's home, `//x` at the root of the
file system. `*`, `?` and `[a-z]` stay within a name, `**` crosses folders, `{a,b}` are alternatives. What matches a
folder matches everything below it.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.tools import PathRef
from agenyx.workspace.globs import Glob

Anchor = Literal["any", "workspace", "home", "root"]
Names = tuple[tuple[tuple[Anchor, ...], str], ...]
_MAGIC = re.compile(r"[*?\[\]{}\\]")


class Place(Struct, frozen=True):
    """A compiled pattern: relative to `anchor`, matched by any of `globs`. `plain` where it holds no wildcard."""

    anchor: Anchor
    globs: tuple[Glob, ...]
    plain: bool

    def matches(self, path: str) -> bool:
        return any(glob.matches(path) for glob in self.globs)


class Bases(Struct, frozen=True):
    """Where patterns start: the real paths of the workspace and of the person's home, "" where there is none.

    `folders` are those added to the workspace. A pattern without a folder in it means them as well, and so does any
    pattern of a rule that denies or asks.
    """

    workspace: str
    home: str
    folders: tuple[str, ...] = ()


@lru_cache(maxsize=8192)
def place(pattern: str) -> Place:
    """Raises UsageError or GlobError."""
    anchor, rest = _anchored(pattern)
    names = rest.split("/")
    if ".." in names:
        raise UsageError(f"The path pattern {pattern[:80]!r} holds ..", "Write the path without it.")
    rest = "/".join(name for name in names if name not in ("", "."))
    if not rest:  # the anchor itself, and all below it
        return Place(anchor, (Glob("**"),), True)
    if anchor == "any":
        rest = f"**/{rest}"
    globs = (Glob(rest),) if rest.endswith("/**") or rest == "**" else (Glob(rest), Glob(f"{rest}/**"))
    return Place(anchor, globs, not _MAGIC.search(pattern))


def _anchored(pattern: str) -> tuple[Anchor, str]:
    if pattern.startswith("!"):
        raise UsageError("A path pattern cannot begin with !", "Write a deny rule for what is excepted.")
    if pattern.startswith("//"):
        return "root", pattern[2:]
    if pattern == "~" or pattern.startswith("~/"):
        return "home", pattern[2:]
    if pattern.startswith("~"):
        raise UsageError(f"{pattern[:80]!r} names another person's home", "Write ~/name, //path or ./~name.")
    if pattern.startswith(("/", "./")):
        return "workspace", pattern.partition("/")[2]
    return ("workspace" if "/" in pattern.rstrip("/") else "any"), pattern


@lru_cache(maxsize=8192)
def fold(text: str) -> str:
    """The form in which two names that some file system takes for one are equal: no case, one Unicode form."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())


def covers(pattern: str, ref: PathRef, bases: Bases) -> bool:
    """Whether an allow rule with this pattern covers the path: exactly as spelled, by its real path alone.

    A pattern without an anchor outside the workspace never reaches beyond it and the folders added to it.
    """
    real = os.fsdecode(ref.real)
    if not real:
        return False
    try:
        one = place(pattern)
    except AgenyxError:
        return False
    if one.anchor == "any" or one.anchor == "workspace":
        path = _below(real, bases.workspace or ref.root or "")
        if path is None and one.anchor == "any":
            path = next((below for folder in bases.folders if (below := _below(real, folder)) is not None), None)
    else:
        path = _below(real, bases.home if one.anchor == "home" else "/")
    return path is not None and _compare(pattern, path)


def touches(pattern: str, names: Names) -> bool:
    """Whether a deny or ask rule speaks about a path with these names; a pattern that is not valid always does."""
    try:
        anchor = place(pattern).anchor
        return any(_compare(form, path) for form in _forms(pattern) for kinds, path in names if anchor in kinds)
    except AgenyxError:
        return True


@lru_cache(maxsize=1024)
def candidates(ref: PathRef, bases: Bases) -> Names:
    """The names of a path for deny and ask rules, each with the anchors that it is relative to.

    They are the real and the shown path, as spelled and folded.
    """
    found: dict[tuple[tuple[Anchor, ...], str], None] = {}
    for spell in (str, fold):
        workspace, home = spell(bases.workspace or ref.root or ""), spell(bases.home)
        for path in (spell(os.fsdecode(ref.real)), spell(ref.shown)):
            for named in _names(path, workspace, home):
                found[named] = None
            for folder in bases.folders:
                if (below := _below(path, spell(folder))) is not None:
                    found[("any", "workspace"), below] = None
    return tuple(found)


def _names(path: str, workspace: str, home: str) -> Iterator[tuple[tuple[Anchor, ...], str]]:
    if not path:
        return
    if not path.startswith("/"):
        yield ("any", "workspace"), path.removeprefix("./")
        return
    if (below := _below(path, workspace)) is not None:
        yield ("any", "workspace"), below
    else:
        yield ("any",), path[1:]
    if (below := _below(path, home)) is not None:
        yield ("home",), below
    yield ("root",), path[1:]


@lru_cache(maxsize=8192)
def _forms(pattern: str) -> tuple[str, ...]:
    folded = fold(pattern)
    if folded == pattern:
        return (pattern,)
    try:
        place(folded)
    except AgenyxError:  # such as [Z-a], which is no range in lower case
        return (pattern,)
    return pattern, folded


@lru_cache(maxsize=1 << 15)
def _compare(pattern: str, path: str) -> bool:
    return place(pattern).matches(path)


def _below(path: str, folder: str) -> str | None:
    """The path relative to a folder that holds it ("" is the folder itself), or None."""
    if not folder:
        return None
    if path == folder:
        return ""
    top = folder.rstrip("/") + "/"
    return path[len(top) :] if path.startswith(top) else None

"""Files by which a person or a trusted workspace extends the agent: where they lie, whose they are, what they hold.

The person's own need no trust: they lie in the application home and in the home directory. What a workspace brings
comes from `app.trust`, which asks. Knows what the files are for only by their kind.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from agenyx.workspace.acting import PLACES, Kind, Place
from agenyx.workspace.names import show

if TYPE_CHECKING:
    from agenyx.ext.acting import Item

FILE_BYTES = 256 << 10
MOST_FILES = 1000
_DEPTH = 8
_PASSED = {".git", "node_modules"}

HOME = (
    Place("AGENTS.md", "instructions"),
    Place("rules", "rules", True, ".md"),
    Place("commands", "commands", True, ".md"),
    Place("skills", "skills", True, "/SKILL.md"),
    Place("agents", "agents", True, ".md"),
    Place("hooks.json", "hooks"),
    Place("mcp.json", "mcp"),
    Place("styles", "styles", True, ".md"),
)
"""Below the application home."""

PERSON = (
    Place(".claude/commands", "commands", True, ".md"),
    Place(".agents/skills", "skills", True, "/SKILL.md"),
    Place(".codex/skills", "skills", True, "/SKILL.md"),
    Place(".claude/skills", "skills", True, "/SKILL.md"),
    Place(".claude/agents", "agents", True, ".md"),
    Place(".claude/output-styles", "styles", True, ".md"),
)
"""Below the home directory of the person: what other agents keep there and has the same form. Weaker than HOME."""


class Source(Struct, frozen=True):
    """One file. `place` is the folder that its kind is kept in (or that of the file itself), absolute as it is shown;
    `path` lies below it; `shown` is the whole absolute path."""

    kind: Kind
    origin: Literal["user", "workspace"]
    place: str
    path: str
    shown: str
    data: bytes
    by: str = ""
    """The file that takes this one in by `@path`, "" for one that acts by itself. It stands before this one."""


def of_workspace(item: Item, data: bytes) -> Source:
    """From the inventory of a trusted workspace."""
    for place in PLACES:
        if place.tree and item.path.startswith(place.path + "/"):
            below = item.path[len(place.path) + 1 :]
            return Source(item.kind, "workspace", item.shown[: -len(below) - 1], below, item.shown, data, item.by)
    folder, name = os.path.split(item.shown)
    return Source(item.kind, "workspace", folder, name, item.shown, data, item.by)


def of_person(kind: Kind, home: str, person: str) -> tuple[tuple[Source, ...], tuple[str, ...]]:
    """The person's own files of one kind, the weakest first, and a sentence for each that was left out.

    `home` is the application home, `person` the home directory, real paths, "" where there is none. Links are followed:
    people keep such files elsewhere and link them here.
    """
    found, problems = list[Source](), list[str]()
    for top, places in ((person, PERSON), (home, HOME)):
        for place in places:
            if place.kind == kind and top:
                _gather(os.path.join(top, place.path), place, found, problems)
    if kind in ("instructions", "rules") and any(b"@" in source.data for source in found):
        from agenyx.ext.own_imports import with_imports

        found = with_imports(found, person, problems)
    return tuple(found), tuple(problems)


def _gather(where: str, place: Place, found: list[Source], problems: list[str]) -> None:
    paths = _below(where, place.only) if place.tree else iter([where] if os.path.isfile(where) else [])
    for path in paths:
        shown = show(os.fsencode(path))
        if len(found) >= MOST_FILES:
            problems.append(f"{shown} was left out: there are more than {MOST_FILES} such files")
            return
        try:
            with open(path, "rb") as file:
                data = file.read(FILE_BYTES + 1)
        except OSError as error:
            problems.append(f"{shown} was left out: it cannot be read: {error.strerror}")
            continue
        if len(data) > FILE_BYTES:
            problems.append(f"{shown} was left out: it has more than {FILE_BYTES >> 10} KiB")
        elif data.strip():
            base = where if place.tree else os.path.dirname(where)
            below = show(os.fsencode(os.path.relpath(path, base)))
            found.append(Source(place.kind, "user", show(os.fsencode(base)), below, shown, data))


def _below(top: str, only: str) -> Generator[str]:
    """The files below a folder whose paths end in `only`, in a fixed order, each folder once."""
    waiting, known = [(top, 0)], set[tuple[int, int]]()
    while waiting:
        folder, depth = waiting.pop()
        try:
            facts = os.stat(folder)
            names = sorted(os.listdir(folder))
        except OSError:
            continue  # it is not there
        if (facts.st_dev, facts.st_ino) in known:
            continue
        known.add((facts.st_dev, facts.st_ino))
        folders: list[str] = []
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isdir(path):
                if depth < _DEPTH and name not in _PASSED:
                    folders.append(path)
            elif path.endswith(only) and os.path.isfile(path):
                yield path
        waiting += [(path, depth + 1) for path in reversed(folders)]

"""Where a workspace keeps what can act on the agent: instructions, settings, hooks and the like. Names only.

One table; everything that asks for trust, protects such files or keeps trust up to date reads it. Owns no content.
Only the root of the workspace counts, and for instructions the folders above it: nested repositories, `node_modules`
and whatever else lies below are not searched.
"""

from __future__ import annotations

import os
import stat
from typing import Literal

from msgspec import Struct

Kind = Literal["instructions", "settings", "commands", "skills", "hooks", "rules", "agents", "mcp", "styles"]

CODE = frozenset[Kind]({"settings", "hooks", "mcp"})
"""What acts as it stands, without a model that reads it."""

LIVE = frozenset[Kind]({"instructions", "settings", "commands", "skills", "hooks", "rules", "agents", "mcp", "styles"})
"""What acts in this version. Only this is asked about; a kind that joins is asked about like a changed file."""

INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md")


class Place(Struct, frozen=True):
    """`path` below the root; `tree` is a folder, of which the files count whose names end in `only`."""

    path: str
    kind: Kind
    tree: bool = False
    only: str = ""


PLACES = (
    Place(".agenyx/settings.toml", "settings"),
    Place(".agenyx/commands", "commands", True, ".md"),
    Place(".agenyx/skills", "skills", True, "/SKILL.md"),
    Place(".agenyx/hooks", "hooks", True),
    Place(".agenyx/rules", "rules", True, ".md"),
    Place(".agenyx/agents", "agents", True, ".md"),
    Place(".agenyx/mcp.json", "mcp"),
    Place(".agenyx/styles", "styles", True, ".md"),
    Place(".claude/CLAUDE.md", "instructions"),
    Place("CLAUDE.local.md", "instructions"),
    Place(".claude/settings.json", "hooks"),
    Place(".claude/settings.local.json", "hooks"),
    Place(".claude/commands", "commands", True, ".md"),
    Place(".claude/skills", "skills", True, "/SKILL.md"),
    Place(".claude/rules", "rules", True, ".md"),
    Place(".claude/agents", "agents", True, ".md"),
    Place(".claude/hooks", "hooks", True),
    Place(".claude/output-styles", "styles", True, ".md"),
    Place(".codex/skills", "skills", True, "/SKILL.md"),
    Place(".agents/skills", "skills", True, "/SKILL.md"),
    Place(".mcp.json", "mcp"),
)


class Candidate(Struct, frozen=True):
    """Something that is there: `top` is the absolute folder that `path` is relative to."""

    top: str
    path: str
    kind: Kind
    tree: bool = False
    only: str = ""


def candidates(workspace: str, kinds: frozenset[Kind] = LIVE) -> list[Candidate]:
    """What is there of a real path, outermost first. A few looks, no read; `kind_of` names the same files."""
    found: list[Candidate] = []
    if "instructions" in kinds:
        folders = [workspace]
        while (above := os.path.dirname(folders[-1])) != folders[-1]:
            folders.append(above)
        found += [
            Candidate(folder, name, "instructions")
            for folder in reversed(folders)
            for name in INSTRUCTIONS
            if _mode(os.path.join(folder, name))
        ]
    there: dict[str, int] = {}
    for place in PLACES:
        if place.kind not in kinds:
            continue
        folder = os.path.join(workspace, os.path.dirname(place.path))
        if folder not in there:
            there[folder] = _mode(folder)
        if there[folder] and _mode(os.path.join(workspace, place.path)):
            found.append(Candidate(workspace, place.path, place.kind, place.tree, place.only))
    return found


def kind_of(path: str, workspace: str, kinds: frozenset[Kind] = LIVE) -> Kind | None:
    """What a file at a real path is to a workspace, None when it does not act. Letter case counts for nothing."""
    folder, name = os.path.split(path.casefold())
    top = workspace.casefold()
    if name in {item.casefold() for item in INSTRUCTIONS} and f"{top}/".startswith(f"{folder.rstrip('/')}/"):
        return "instructions" if "instructions" in kinds else None
    prefix = top.rstrip("/") + "/"
    inside = path.casefold().removeprefix(prefix)
    if inside == path.casefold():
        return None
    for place in PLACES:
        where = place.path.casefold()
        if place.kind not in kinds or not f"{inside}/".startswith(where + "/"):
            continue
        if inside == where or inside.endswith(place.only.casefold()):
            return place.kind
    return None


def _mode(path: str) -> int:
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return 0

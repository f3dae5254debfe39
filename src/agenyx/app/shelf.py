"""Every skill there is for a workspace and a person, used or not, and why not: for people who look for one."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from agenyx.app.commands.table import BY_NAME
from agenyx.core.tty import safe
from agenyx.ext.acting import take
from agenyx.ext.skills.reading import Missing, Skill, read
from agenyx.ext.sources import HOME, PERSON, Source, of_person
from agenyx.workspace.acting import PLACES, Kind, Place
from agenyx.workspace.names import show

_KINDS: frozenset[Kind] = frozenset({"skills"})
_MOST = 1000  # folders of one place that are looked at


class Shelf(Struct, frozen=True):
    """`problems` are sentences without a full stop about files that could not even be read."""

    skills: tuple[Skill, ...]
    missing: tuple[Missing, ...]
    problems: tuple[str, ...]

    @property
    def wrong(self) -> bool:
        """Whether something has to be put right: a skill that cannot be used."""
        return bool(self.problems) or any(one.wrong for one in self.missing)


def shelf(
    sources: Sequence[Source], home: str, workspace: str, person: str, aliases: Mapping[str, str], *, bare: bool = False
) -> Shelf:
    """`sources` are the files that are used. Others are looked for in `workspace`, a real path."""
    skills = read(sources, aliases)
    used = {source.shown for source in sources}
    inventory = take(workspace, home, {}, _KINDS)
    own, problems = of_person("skills", home, person)
    others = [Missing(_name(item.shown), "workspace", item.shown, _untrusted(bare), False) for item in inventory.items]
    others += [Missing(_name(source.shown), "user", source.shown, _untrusted(bare), False) for source in own if bare]
    out = [other for other in others if other.path not in used]
    known = [*used, *(other.path for other in out), *problems, *inventory.problems]
    out += _empty(workspace, "workspace", PLACES, known)
    out += [
        one for top, places in ((person, PERSON), (home, HOME)) if top for one in _empty(top, "user", places, known)
    ]
    missing = sorted((*skills.missing, *out), key=lambda one: (one.name, one.path))
    return Shelf(tuple(skills.found.values()), tuple(missing), (*problems, *inventory.problems))


def _empty(
    top: str, origin: Literal["user", "workspace"], places: Iterable[Place], known: Sequence[str]
) -> list[Missing]:
    """The folders beside skills that hold none, so that a misspelt file is found."""
    found: list[Missing] = []
    for place in places:
        folder = os.path.join(top, place.path)
        try:
            names = sorted(os.listdir(folder))[:_MOST] if place.kind == "skills" else []
        except OSError:
            continue
        for name in names:
            path = os.path.join(folder, name)
            shown = show(os.fsencode(path))
            if not os.path.isdir(path) or any(f"{shown}/" in one for one in known):
                continue
            if origin == "workspace" and os.path.islink(path):
                why, wrong = "it is a symbolic link, and none is followed in a workspace", True
            else:
                why, wrong = _no_file(path)
            found.append(Missing(safe(name), origin, shown, why, wrong))
    return found


def _no_file(folder: str) -> tuple[str, bool]:
    try:
        near = next((name for name in os.listdir(folder) if name.casefold() == "skill.md"), "")
    except OSError as error:
        return f"its folder cannot be read: {error.strerror}", True
    if near == "SKILL.md":
        return "its SKILL.md is empty or cannot be read", True
    return (
        (f"its file is called {near} and has to be called SKILL.md", True)
        if near
        else ("there is no SKILL.md in it", False)
    )


def _untrusted(bare: bool) -> str:
    return "--bare leaves it out" if bare else "the workspace is not trusted: agenyx trust add"


def _name(path: str) -> str:
    return safe(os.path.basename(os.path.dirname(path)))


def rows(found: Shelf) -> list[str]:
    """The shelf in lines, for people."""
    lines: list[str] = []
    for skill in found.skills:
        lines.append(f"{skill.name}  {_cut(skill.description)}")
        lines.append(f"  {_owner(skill.origin)}, {skill.path}{_calls(skill)}")
        lines += [f"  note: {warning}" for warning in remarks(skill)]
    if found.missing or found.problems:
        lines += ["", "Not used:"]
    for one in found.missing:
        lines += [f"{one.name}  {one.why}", f"  {_owner(one.origin)}, {one.path}"]
    lines += found.problems
    return lines or ["There are no skills. A skill is a folder with a SKILL.md, in .agenyx/skills or ~/.agenyx/skills."]


def remarks(skill: Skill) -> list[str]:
    """What is odd about a skill that can be used."""
    found = list(skill.warnings)
    if skill.typed and skill.name.lower() in BY_NAME:
        found.append(f"/{skill.name} is a command of Agenyx itself, so this one is for the model only")
    if not (skill.typed or skill.listed):
        found.append("neither the model nor a person may call it")
    return found


def data(found: Shelf) -> dict[str, object]:
    """The same for programs, in JSON values."""
    usable = [
        {
            "name": skill.name,
            "description": skill.description,
            "origin": skill.origin,
            "path": skill.path,
            "usable": True,
            "model": skill.listed,
            "command": skill.typed and skill.name.lower() not in BY_NAME,
            "allowed_tools": [rule.text for rule in skill.scope.rules] if skill.scope.by else None,
            "subagent": skill.fork,
            "warnings": remarks(skill),
        }
        for skill in found.skills
    ]
    missing = [
        {"name": one.name, "origin": one.origin, "path": one.path, "usable": False, "why": one.why, "wrong": one.wrong}
        for one in found.missing
    ]
    return {"skills": [*usable, *missing], "problems": list(found.problems)}


def _owner(origin: str) -> str:
    return "yours" if origin == "user" else "of the workspace"


def _calls(skill: Skill) -> str:
    said = [] if skill.listed else ["only you can call it"]
    said += ["runs as a subagent"] if skill.fork else []
    said += [] if skill.typed else ["only the model calls it"]
    if skill.scope.by:
        said.append(f"keeps a turn to {_cut(', '.join(rule.text for rule in skill.scope.rules) or 'nothing')}")
    return f" ({'; '.join(said)})" if said else ""


def _cut(text: str, most: int = 200) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"

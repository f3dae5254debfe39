"""What the SKILL.md files say, read leniently, and which of two skills with one name counts (protocols.md §5.1).

A skill is known by the name of its folder. What is wrong but does no harm is a warning; without a description or with
an unreadable head it is left out with a reason. Pure: reads no file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from agenyx.core.tty import safe
from agenyx.core.verdict import Scope
from agenyx.ext import frontmatter
from agenyx.ext.frontmatter import Front
from agenyx.ext.instructions import visible
from agenyx.ext.sources import Source
from agenyx.policy.scope import scope_of

NAME_CHARS, DESCRIPTION_CHARS, HINT_CHARS = 64, 1024, 100
_PLAIN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_WEAKER = ("/.claude/skills", "/.codex/skills", "/.agents/skills")  # of two places of one owner the first counts
_STANDARD = {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
_KNOWN = _STANDARD | {
    "agent",
    "argument-hint",
    "author",
    "context",
    "disable-model-invocation",
    "effort",
    "model",
    "tags",
    "user-invocable",
    "version",
    "when-to-use",
    "when_to_use",
}
_UNUSED = {
    "disallowed-tools": "the rules of this skill's disallowed-tools are not used",
    "hooks": "hooks of a skill are not used",
    "paths": "paths is not used: the skill is listed for all files",
}


class Skill(Struct, frozen=True):
    """One that can be used. `name` is that of its folder; `title` what its head calls it, where that differs.

    `folder` and `path` (its SKILL.md) are absolute, as they are shown. `scope` is what allowed-tools keeps a turn to.
    `listed`: the model may call it; `typed`: a person may, by /name. `fork`: it is to run as a subagent, `agent` as
    which one. `warnings` are phrases without a full stop.
    """

    name: str
    title: str
    description: str
    origin: Literal["user", "workspace"]
    folder: str
    path: str
    body: str
    hint: str = ""
    scope: Scope = Scope()
    listed: bool = True
    typed: bool = True
    fork: bool = False
    agent: str = ""
    model: str = ""
    effort: str = ""
    warnings: tuple[str, ...] = ()


class Missing(Struct, frozen=True):
    """A SKILL.md that is not used, and why, as a phrase. `wrong`: there is something to put right in it."""

    name: str
    origin: Literal["user", "workspace"]
    path: str
    why: str
    wrong: bool = True


class Skills(Struct, frozen=True):
    """`found` by name, in the order of names."""

    found: Mapping[str, Skill] = {}
    missing: tuple[Missing, ...] = ()

    def find(self, name: str) -> Skill | None:
        """By its name, else in any letter case or by its title, where only one is meant."""
        name = name.strip().removeprefix("/")
        if name in self.found:
            return self.found[name]
        folded = name.casefold()
        near = [one for one in self.found.values() if folded in (one.name.casefold(), one.title.casefold())]
        return near[0] if len(near) == 1 else None


def read(sources: Iterable[Source], aliases: Mapping[str, str] | None = None) -> Skills:
    """Every skill of the files. `aliases` maps case-folded names of tools to their names."""
    skills, missing = list[Skill](), list[Missing]()
    ordered = sorted(sources, key=_rank)
    tops: dict[str, str] = {}
    for source in ordered:
        folder = os.path.dirname(source.shown)
        name = os.path.basename(folder)
        above = next((tops[top] for top in _above(folder) if top in tops), "")
        if above:
            why = f"it lies in the folder of the skill {above} and belongs to that"
            missing.append(Missing(name, source.origin, source.shown, why, wrong=False))
            continue
        match _one(source, name, aliases):
            case str(why):
                missing.append(Missing(safe(name), source.origin, source.shown, why))
            case skill:
                tops[folder] = name
                skills.append(skill)
    found: dict[str, Skill] = {}
    for skill in skills:
        if (stronger := found.get(skill.name)) is not None:
            why = f"{stronger.path} has the same name and counts before it"
            missing.append(Missing(skill.name, skill.origin, skill.path, why, wrong=False))
        else:
            found[skill.name] = skill
    return Skills(dict(sorted(found.items())), tuple(missing))


def _above(folder: str) -> Iterator[str]:
    while (above := os.path.dirname(folder)) != folder:
        yield above
        folder = above


def _rank(source: Source) -> tuple[bool, int, int, str]:
    """The strongest first: the workspace before the person, .agenyx before what other agents use too, then by path."""
    weak = next((at for at, place in enumerate(_WEAKER, 1) if source.place.endswith(place)), 0)
    return source.origin == "user", weak, source.path.count("/"), source.path


def _one(source: Source, name: str, aliases: Mapping[str, str] | None) -> Skill | str:
    """The skill, or why it is none."""
    if "/" not in source.path:
        return "it lies in no folder of its own: a skill is a folder with a SKILL.md in it"
    if safe(name) != name or name.strip() != name:
        return "the name of its folder holds characters that cannot be shown"
    text, hidden = visible(source.data)
    front = frontmatter.read(text)
    if not front.values:
        said = front.problems[0] if front.problems else "it has no head between --- lines with name and description"
        return said
    description = _flat(front.text("description"))
    if not description:
        more = f" ({'; '.join(front.problems)})" if front.problems else ""
        return f"it has no description{more}"
    warnings = [*front.problems, *_warnings(front, name, description)]
    if hidden:
        warnings.append(f"it holds what cannot be seen, shown as escapes: {hidden}")
    scope, problems = scope_of(f"the skill {name}", front.items("allowed-tools"), aliases)
    if more := _flat(front.text("when_to_use") or front.text("when-to-use")):
        description = f"{description} {more}"
    agent = _flat(front.text("agent"))
    return Skill(
        name,
        title if (title := _flat(front.text("name"))) != name else "",
        _cut(description, DESCRIPTION_CHARS),
        source.origin,
        os.path.dirname(source.shown),
        source.shown,
        front.body.strip("\n"),
        _cut(_flat(front.text("argument-hint")), HINT_CHARS),
        scope,
        not front.flag("disable-model-invocation", False),
        front.flag("user-invocable", True),
        front.text("context").strip().lower() == "fork" or bool(agent),
        agent,
        _flat(front.text("model")),
        _flat(front.text("effort")),
        tuple(safe(warning) for warning in (*warnings, *problems)),
    )


def _warnings(front: Front, name: str, description: str) -> list[str]:
    """What the standard asks for and this one does otherwise."""
    found: list[str] = []
    title = front.text("name").strip()
    if not title:
        found.append("it has no name; the name of its folder counts")
    elif title != name:
        found.append(f"its name {_cut(title, NAME_CHARS)!r} is not that of its folder, which counts")
    if len(name) > NAME_CHARS or not _PLAIN.fullmatch(name):
        found.append(f"the name of a skill has at most {NAME_CHARS} small letters, digits and single hyphens")
    if len(description) > DESCRIPTION_CHARS:
        found.append(f"its description has more than {DESCRIPTION_CHARS:,} characters")
    if len(front.text("compatibility")) > 500:
        found.append("its compatibility has more than 500 characters")
    if "allowed-tools" in front.values and not front.items("allowed-tools"):
        found.append("its allowed-tools is empty and keeps it to nothing in particular")
    if not front.body.strip():
        found.append("it has no text below its head")
    unknown = [key for key in front.values if key not in _KNOWN and key not in _UNUSED]
    if unknown:
        found.append(f"its head has keys that mean nothing here: {_cut(', '.join(unknown), 200)}")
    return found + [text for key, text in _UNUSED.items() if key in front.values]


def _flat(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"

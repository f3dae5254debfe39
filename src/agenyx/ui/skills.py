"""`agenyx skills`: the skills there are here, why one is missing, and what the model gets of one."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence

from agenyx.app.extensions import Extensions
from agenyx.app.settings import Settings
from agenyx.app.shelf import Shelf, data, rows, shelf
from agenyx.app.trust import Gate
from agenyx.config.home import home_path
from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.core.tty import safe
from agenyx.ext.skills.reading import Skill
from agenyx.ext.skills.text import resources
from agenyx.tools.builtin import builtin_tools
from agenyx.tools.registry import Registry
from agenyx.ui.arguments import Arguments, arguments
from agenyx.ui.exits import FAILED, OK
from agenyx.ui.standard import show

HELP = """\
Usage: agenyx skills list [--json]
       agenyx skills check [--json]
       agenyx skills show NAME [--json]

A skill is a folder with a SKILL.md: a head between --- lines with name and description, then instructions. The model
sees the descriptions and loads a skill when a task fits it; /NAME loads it for you. They are read from .agenyx/skills,
.claude/skills, .codex/skills and .agents/skills of a trusted workspace, from skills in the home of Agenyx, and from
~/.claude/skills, ~/.codex/skills and ~/.agents/skills. Of two with one name the workspace's counts, then .agenyx.

  list      every skill with its origin and path; for one that is not used, why
  check     only what is not used or odd; exit code 1 when a skill cannot be used because of what stands in it
  show      what the model would get, the files beside it, and what it is kept to

  --cwd DIR             for this workspace instead of the current directory
  --trust-workspace     as if the workspace were trusted
  --json                one JSON object, for programs

Examples:
  agenyx skills list
  agenyx skills check --trust-workspace
  agenyx skills show pdf
"""


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. Raises UsageError, ConfigError."""
    given = arguments("skills", argv, switches=("--json", "--trust-workspace"), values=("--cwd",), words=(0, 2))
    if given.help:
        show(HELP)
        return OK
    match given.words:
        case ["list"]:
            found = _shelf(given, env)
            _print(given, data(found), rows(found))
            return OK
        case ["check"]:
            return _check(given, _shelf(given, env))
        case ["show", name]:
            return _show(given, _shelf(given, env), name)
        case []:
            raise UsageError("agenyx skills needs a command", "See: agenyx skills --help")
        case _:
            raise UsageError(f"agenyx skills does not understand: {' '.join(given.words)}", "See: agenyx skills --help")


def _shelf(given: Arguments, env: Mapping[str, str]) -> Shelf:
    home, workspace = home_path(env), os.path.realpath(given.value("--cwd") or os.curdir)
    if not os.path.isdir(workspace):
        raise UsageError(f"{workspace} is not a directory", "Name an existing one with --cwd.")
    person = os.path.realpath(env["HOME"]) if env.get("HOME") else ""
    settings = Settings(workspace, trust=given.on("--trust-workspace"))
    # What could not be read is told with the shelf, and nobody is asked.
    gate = Gate(settings, env, home, workspace, None, lambda _: None)
    asyncio.run(gate.open())
    sources = Extensions(gate, home, person, lambda _: None).sources("skills")
    return shelf(sources, home, workspace, person, Registry(builtin_tools()).aliases())


def _check(given: Arguments, found: Shelf) -> int:
    odd = Shelf(tuple(skill for skill in found.skills if skill.warnings), found.missing, found.problems)
    count = len(found.skills)
    lines = rows(odd) if odd.skills or odd.missing or odd.problems else []
    lines.append(f"{count} skill{'s' * (count != 1)} can be used.")
    _print(given, {**data(found), "ok": not found.wrong}, lines)
    return FAILED if found.wrong else OK


def _show(given: Arguments, found: Shelf, name: str) -> int:
    wanted = name.removeprefix("/").casefold()
    skill = next((one for one in found.skills if one.name.casefold() == wanted), None)
    if skill is None:
        why = next((f"{one.why} ({one.path})" for one in found.missing if one.name.casefold() == wanted), "")
        raise UsageError(f"there is no skill {name} that can be used{f': {why}' if why else ''}", "agenyx skills list")
    one = Shelf((skill,), (), ())
    files, more = resources(skill)
    lines = [*rows(one), *(f"  file: {file}" for file in files), *(["  and more files"] if more else []), ""]
    _print(given, {**_whole(skill), "files": files}, [*lines, skill.body])
    return OK


def _whole(skill: Skill) -> dict[str, object]:
    described = data(Shelf((skill,), (), ()))["skills"]
    return {**(described[0] if isinstance(described, list) else {}), "text": skill.body}


def _print(given: Arguments, value: dict[str, object], lines: Sequence[str]) -> None:
    show(json.encode(value).decode() + "\n" if given.on("--json") else safe("\n".join(lines)) + "\n")

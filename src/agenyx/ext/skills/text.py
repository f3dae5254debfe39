"""What the model gets of a skill: its text with arguments and places put in, and what lies in its folder.

`$ARGUMENTS` and `$1` … `$N` stand for what was given, `${…_SKILL_DIR}` and `${…_SESSION_ID}` for the folder and the
session, `` !`command` `` for what a command prints; what is put in is not looked at again. Of `$1` only as many are
replaced as were given: skills hold shell and awk. Runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from agenyx.core.tty import safe
from agenyx.ext.expansion import Shell, in_shell, split
from agenyx.ext.skills.reading import Skill
from agenyx.workspace.files import FileProblem, entries
from agenyx.workspace.names import parse, show

RESULT_CHARS = 100_000  # AgentX §9.1
_MOST_FILES, _DEPTH, _MOST_NAMES = 100, 4, 2000
_PASSED = {b".git", b"node_modules", b"__pycache__"}
_MARK = re.compile(
    r"(?<![\w`\\$])!`(?P<command>[^`\n]+)`"
    r"|\$(?:(?P<all>ARGUMENTS\b)|(?P<one>[1-9]\d*)(?!\d)|\{(?P<place>[A-Z]{0,20}_?(?:SKILL_DIR|SESSION_ID))\})"
)


def pieces(skill: Skill, arguments: str | Sequence[str], session: str) -> list[str | Shell]:
    """The text in pieces, and the commands whose output is to stand between them. Raises UsageError for a command
    into which the arguments cannot be put safely."""
    given, words = _given(arguments)
    out, at, used = list[str | Shell](), 0, not given
    for mark in _MARK.finditer(skill.body):
        out.append(skill.body[at : mark.start()])
        at = mark.end()
        if mark["command"]:
            used = used or "$" in mark["command"]
            out.append(Shell(in_shell(mark["command"], given, words)))
        elif mark["place"]:
            out.append(session if mark["place"].endswith("SESSION_ID") else skill.folder)
        elif mark["all"]:
            used = True
            out.append(given)
        else:
            number = int(mark["one"][:6])
            used = used or number <= len(words)
            out.append(words[number - 1] if number <= len(words) else mark[0])
    out.append(skill.body[at:])
    if not used:
        out.append(f"\n\nArguments: {given}")
    return [piece for piece in out if piece]


def _given(arguments: str | Sequence[str]) -> tuple[str, list[str]]:
    if isinstance(arguments, str):
        return arguments.strip(), split(arguments)
    return " ".join(arguments), list(arguments)


def told(skill: Skill, body: str, notes: Sequence[str] = ()) -> str:
    """The whole that the model gets of a skill whose text is `body`, at most RESULT_CHARS."""
    files, more = resources(skill)
    lines = [f"The skill {skill.name}, in {skill.folder}. Names of files in it are relative to that folder."]
    if files:
        listed = ", ".join(files) + (", and more" if more else "")
        lines.append(f"Files beside it: {listed}\n(to read one: Skill with skill {skill.name} and file)")
    lines += notes
    head = "\n".join(lines)
    room = RESULT_CHARS - len(head) - len(skill.path) - 100
    if len(body) > room:
        body = f"{body[:room]}\n[the skill is longer; the rest is in {skill.path}]"
    return f"{head}\n\n{body}"


def resources(skill: Skill) -> tuple[list[str], bool]:
    """The files below the folder of a skill but its SKILL.md, and whether there are more. Links are passed over."""
    found, waiting, seen = list[str](), [()], 0
    top = parse(skill.folder)
    while waiting:
        parts: tuple[bytes, ...] = waiting.pop(0)
        try:
            names, more = entries(top, parts, skill.folder, _MOST_NAMES)
        except (FileProblem, OSError):
            continue
        seen += len(names)
        for entry in sorted(names):
            inner = (*parts, entry.name)
            if entry.link or entry.name in _PASSED:
                continue
            if entry.folder:
                waiting += [inner] if len(inner) < _DEPTH else []
            elif inner != (b"SKILL.md",):
                found.append(safe(show(b"/".join(inner))))
        if more or len(found) > _MOST_FILES or seen > _MOST_NAMES:
            return found[:_MOST_FILES], True
    return found, False


def parts_of(file: str) -> tuple[bytes, ...] | None:
    """The components of a path below the folder of a skill; None for one that could lead anywhere else."""
    raw = parse(file.strip())
    names = tuple(name for name in raw.split(b"/") if name not in (b"", b"."))
    if not names or raw.startswith((b"/", b"~")) or b".." in names or b"\0" in raw or len(raw) > 4096:
        return None
    return names

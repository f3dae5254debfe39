"""A whole script, judged in parts: every simple command with what it does, the commands and scripts inside them too.

Parsing is handed in; programs are judged by the table. Knows no path policy and no rule.
"""

from __future__ import annotations

import posixpath
from collections.abc import Awaitable, Callable
from typing import Protocol

from msgspec import Struct, structs

from agenyx.core.tools import Command
from agenyx.policy.assessment import Assessment
from agenyx.policy.programs import assess
from agenyx.policy.table import table

MAX_DEPTH = 16  # commands or scripts inside each other
MAX_SCRIPTS = 64  # each is one run of the parser
MAX_COMMANDS = 512

_NETWORK = ("/dev/tcp/", "/dev/udp/")
MOVES = frozenset(("cd", "pushd", "popd"))


class Script(Protocol):
    """One script as its parser gives it: commands in order, why they may not be all, the functions it defines."""

    @property
    def commands(self) -> tuple[Command, ...]: ...
    @property
    def opaque(self) -> str: ...
    @property
    def functions(self) -> frozenset[str]: ...


class Analysis(Struct, frozen=True):
    """Every command with its assessment, outer before inner; `opaque` says why there may be others, or is empty."""

    parts: tuple[tuple[Command, Assessment], ...]
    opaque: str = ""


async def analyse(
    parse: Callable[[str], Awaitable[Script]], text: str, cwd: str = "", shadowed: frozenset[str] = frozenset()
) -> Analysis:
    """Judge a script that starts in `cwd`. `shadowed` are functions and aliases that the shell already has.

    The commands carry kinds, why, concerns, hosts and prefix; the assessments carry the operands, whose paths are
    relative to the cwd of their command.
    """
    walk = _Walk(parse, shadowed)
    await walk.script(text, cwd, 0, None)
    return Analysis(tuple(walk.parts), walk.opaque)


class _Walk:
    def __init__(self, parse: Callable[[str], Awaitable[Script]], shadowed: frozenset[str]) -> None:
        self.parse, self.shadowed = parse, shadowed
        self.parts: list[tuple[Command, Assessment]] = []
        self.opaque = ""
        self.scripts = 0

    async def script(self, text: str, cwd: str | None, depth: int, outer: Assessment | None) -> None:
        if self.scripts >= MAX_SCRIPTS:
            self.opaque = self.opaque or "it holds too many scripts within scripts"
            return
        self.scripts += 1
        parsed = await self.parse(text)
        self.opaque = self.opaque or parsed.opaque
        self.shadowed |= parsed.functions
        if outer and outer.here and _turns(parsed):
            self.opaque = self.opaque or f"{outer.prefix[0]} changes the directory or the functions of what follows"
        for command in parsed.commands:
            moved = structs.replace(command, cwd=_join(cwd, command.cwd), inside=command.inside or outer is not None)
            await self.command(moved, depth)

    async def command(self, command: Command, depth: int) -> None:
        if depth > MAX_DEPTH or len(self.parts) >= MAX_COMMANDS:
            limit = "it is nested too deeply" if depth > MAX_DEPTH else f"it has more than {MAX_COMMANDS} commands"
            self.opaque = self.opaque or limit
            return
        assessment = assess(command.argv, command.globs) if command.argv else Assessment((), offer="none")
        if assessment.sets and command.assigns:  # the parser knows the names, also where it does not know the values
            assessment = assess(tuple(word for word in command.argv if word is not None))
        exported = assessment.sets == "export" if assessment.sets else bool(command.argv)
        whys = [assessment.why]
        kinds = assessment.kinds
        name = command.argv[0] if command.argv else None
        if name in self.shadowed:
            kinds = ("unknown",)
            assessment = structs.replace(assessment, offer="none")
            whys.append(f"{name} is a function of this shell")
        whys += [table().assigns(text, exported, assessment.local) for text in command.assigns]
        if any((redirect.target or "").startswith(_NETWORK) for redirect in command.redirects):
            kinds = (*kinds, "network")
            whys.append("a redirection of it opens a connection")
        judged = structs.replace(
            command,
            kinds=kinds,
            hosts=assessment.hosts,
            why="; ".join(dict.fromkeys(why for why in whys if why)),
            concerns=assessment.concerns,
            prefix=_prefix(assessment, seen=not any(whys)),
        )
        self.parts.append((judged, assessment))
        for inner in assessment.inner:
            start = _join(command.cwd, inner.chdir)
            if assessment.here and inner.argv[0] in MOVES:
                self.opaque = self.opaque or f"{name} {inner.argv[0]} changes the directory of what follows"
            await self.command(Command(inner.argv, inner.assigns, cwd=start, inside=True, globs=inner.globs), depth + 1)
        for text in assessment.scripts:
            await self.script(text, command.cwd, depth + 1, assessment)


def _prefix(assessment: Assessment, seen: bool) -> str:
    """What a rule for all its kind may begin with, as Command.prefix has it."""
    if assessment.offer == "none":
        return "-"
    return " ".join(assessment.prefix) if assessment.offer == "prefix" and seen else ""


def _turns(parsed: Script) -> bool:
    """Whether the script changes what the commands after it mean."""
    return bool(parsed.functions) or any(command.argv and command.argv[0] in MOVES for command in parsed.commands)


def _join(base: str | None, below: str | None) -> str | None:
    return None if base is None or below is None else posixpath.join(base, below) if below else base

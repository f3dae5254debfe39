"""Skill: hands the model the text of a skill, or a file from the folder of one.

It opens nothing but the folders of skills, without following links. What the text runs and where it runs as a subagent
is done by ports: those calls are judged on their own.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Annotated, ClassVar

from msgspec import Meta, Struct
from msgspec.structs import replace

from agenyx.core.errors import AgenyxError
from agenyx.core.tools import Effects, PathRef, ToolSet
from agenyx.core.verdict import Scope
from agenyx.ext.expansion import Shell
from agenyx.ext.skills.reading import Skill as Known
from agenyx.ext.skills.reading import Skills
from agenyx.ext.skills.text import parts_of, pieces, told
from agenyx.policy.paths import protection
from agenyx.tools.spec import Context, Look, Outcome
from agenyx.workspace import files
from agenyx.workspace.files import FileProblem
from agenyx.workspace.guards import within
from agenyx.workspace.names import parse
from agenyx.workspace.root import Root
from agenyx.workspace.text import decode, printable

FILE_BYTES = 256 << 10
MOST_COMMANDS = 20
_NOWHERE = "/dev/null/nowhere"


class Ports(Struct, frozen=True):
    """`skills` gives those there are now. `printed` runs a command and gives what it printed; it raises AgenyxError
    where that was refused. `fork` hands a text to a subagent: call, text, scope, agent; None where there can be none.
    `model` gives model and effort of the session; `home` is the application home, a real path."""

    skills: Callable[[], Skills]
    printed: Callable[[str], Awaitable[str]]
    fork: Callable[[str, str, Scope, str], Awaitable[Outcome]] | None
    session: str
    model: Callable[[], tuple[str, str]]
    home: str


async def _nothing(command: str) -> str:
    return ""


async def _refused(command: str) -> str:
    raise AgenyxError("a subagent runs it by itself, if it may")


IDLE = Ports(Skills, _nothing, None, "", lambda: ("", ""), "")
"""Where calls are only judged."""


class SkillArgs(Struct, frozen=True, forbid_unknown_fields=True):
    skill: Annotated[str, Meta(min_length=1)]
    arguments: list[str] | str = ""
    file: str = ""


class Skill:
    name: ClassVar[str] = "Skill"
    aliases: ClassVar[tuple[str, ...]] = ("load_skill",)
    sets: ClassVar[tuple[ToolSet, ...]] = ("full", "core")
    args: ClassVar[type[SkillArgs]] = SkillArgs

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    def alone(self) -> Skill:
        """For a subagent: what the text runs would run with the leave of its parent, so it runs nothing."""
        return Skill(replace(self._ports, printed=_refused, fork=None))

    def subject(self, args: SkillArgs) -> str:
        found = self._ports.skills().find(args.skill)
        return found.name if found else args.skill.strip()

    async def project(self, args: SkillArgs, look: Look) -> Effects:
        found = self._ports.skills().find(args.skill)
        if found is None:
            return Effects()
        if args.file:
            parts = parts_of(args.file)
            return (
                Effects(reads=(_ref(found, parts, look.root, self._ports.home),), parallel=True) if parts else Effects()
            )
        # Alone: what stands behind it in a response is judged by what it brings. A subagent tells itself what it began.
        return Effects(parallel=self._forks(found), preview=f"{found.name}: {found.description}")

    async def run(self, args: SkillArgs, ctx: Context) -> Outcome:
        skills = self._ports.skills()
        found = skills.find(args.skill)
        if found is None:
            known = ", ".join(one.name for one in skills.found.values() if one.listed)
            return Outcome.error(f"There is no skill {args.skill!r}. The skills are: {known or 'none'}.")
        if not found.listed:
            return Outcome.error(f"The skill {found.name} is for the user to call: /{found.name}.", "denied")
        if args.file:
            return await asyncio.to_thread(_file, found, args.file, ctx)
        text, notes = await prepared(found, args.arguments, self._ports)
        if self._forks(found) and self._ports.fork is not None:
            return await self._ports.fork(ctx.call, told(found, text, notes), found.scope, found.agent)
        if found.fork:
            notes.append("(It asks for a subagent of its own, and there can be none here: follow it yourself.)")
        return replace(Outcome.ok(await asyncio.to_thread(told, found, text, notes)), scope=found.scope)

    def _forks(self, found: Known) -> bool:
        return found.fork and self._ports.fork is not None


async def prepared(skill: Known, arguments: list[str] | str, ports: Ports) -> tuple[str, list[str]]:
    """The text of a skill with everything put in, and what the model has to be told beside it."""
    model, effort = ports.model()
    notes = [
        f"(It asks for the {what} {wanted}; the session goes on with {have or 'its own'}.)"
        for what, wanted, have in (("model", skill.model, model), ("effort", skill.effort, effort))
        if wanted and wanted not in ("inherit", have)
    ]
    out, run = list[str](), 0
    try:
        found = pieces(skill, arguments, ports.session)
    except AgenyxError as error:
        notes.append(f"({error.message}. The text stands here as it is in the file.)")
        return skill.body, notes
    for piece in found:
        if isinstance(piece, str):
            out.append(piece)
            continue
        run += 1
        out.append(await _printed(piece, ports) if run <= MOST_COMMANDS else f"[not run: {piece.command}]")
    return "".join(out), notes


async def _printed(piece: Shell, ports: Ports) -> str:
    try:
        return await ports.printed(piece.command)
    except AgenyxError as error:
        return f"[{piece.command} was not run: {error.fix or error.message}]"


def _ref(skill: Known, parts: tuple[bytes, ...], root: Root, home: str) -> PathRef:
    """A file below the folder of a skill, which counts as one that may be read; secrets in it stay protected."""
    folder = _folder(skill)
    real = os.path.join(folder, *parts)
    ref = root.found(real)
    if within(real, root.real):
        return ref
    # Of the home of Agenyx only the folder of skills is opened: no part of the path below is followed.
    ours = root.owns(real) and not within(real, os.path.join(os.fsencode(home), b"skills"))
    protected = protection(real, os.fsdecode(folder), _NOWHERE, "tree")
    return replace(ref, root=skill.folder, protected=protected, problem=ref.problem if ours else "")


def _folder(skill: Known) -> bytes:
    return os.path.realpath(parse(skill.folder))  # a person may keep it elsewhere and link it


def _file(skill: Known, file: str, ctx: Context) -> Outcome:
    parts = parts_of(file)
    if parts is None:
        return Outcome.error(f"{file!r} is no path below the folder of the skill {skill.name}.")
    try:
        content = files.read(_folder(skill), parts, f"{skill.name}/{printable(file)}", FILE_BYTES)
    except FileProblem as problem:
        return Outcome.error(str(problem))
    except OSError as error:
        return Outcome.error(f"{file} cannot be read: {error.strerror}.")
    document = decode(content.data)
    if document is None:
        return Outcome.error(f"{skill.name}/{printable(file)} is not text. It is {skill.folder}/{printable(file)}.")
    return Outcome.ok(printable(document.text))

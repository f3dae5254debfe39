"""What a shell command would do to the world: its parse, the table of programs and the paths of the workspace, joined.

Looks at files, never acts. Decides nothing: what it finds stands in the Effects, and what it cannot see in `opaque`,
`why` and the concerns.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from msgspec.structs import replace

from agenyx.core.errors import AgenyxError
from agenyx.core.tools import Command, Concern, Effects, PathRef
from agenyx.policy.assessment import Assessment, Operand, Role
from agenyx.policy.removals import concern_of, concern_of_pattern, concern_of_unknown, concern_of_words
from agenyx.policy.scripts import MOVES, Analysis, analyse
from agenyx.shell.parse import Parsed, parse
from agenyx.shell.system import Shell
from agenyx.tools.spec import Look
from agenyx.workspace.egress import carried
from agenyx.workspace.root import Root

_KEPT = 256  # analyses; each is one run of the parser
_MATCHES = 500  # paths that a pattern may stand for before its whole folder counts
_WRITING = (">", ">>", ">|", "&>", "&>>", "<>", ">&")
_READING = ("<", "<>")
_UNSEEN = "known only when it runs"


class Analyses:
    """The analyses of the commands seen last: a command that comes again costs no run of the parser."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], Analysis] = {}

    async def of(self, text: str, look: Look) -> Analysis:
        shell = look.shell
        altered = shell.altered()
        env = shell.next_env
        key = (text, shell.where(), shell.dialect, altered, env.get("PATH", ""), env.get("HOME", ""))
        if (known := self._known.get(key)) is not None:
            return known

        where = shell.where()
        # The first one starts there; scripts inside of it may start anywhere.
        starts = iter([where] if os.path.realpath(where) == where else [])

        async def parsed(script: str) -> Parsed:
            given = env | {"PWD": next(starts, "")}
            return await parse(shell.processes, script, given, outside=shell.root, dialect=shell.dialect)

        found = await analyse(parsed, text, where)
        parts = tuple((_elsewhere(command, shell, altered), assessment) for command, assessment in found.parts)
        found = replace(found, parts=parts)
        if len(self._known) >= _KEPT:
            del self._known[next(iter(self._known))]
        self._known[key] = found
        return found


async def effects_of(text: str, look: Look, analyses: Analyses) -> Effects:
    """Everything that the command may touch, as far as its words say so."""
    analysis = await analyses.of(text, look)
    home = look.shell.next_env.get("HOME", "/")
    commands: list[Command] = []
    concerns: list[Concern] = []
    for command, assessment in analysis.parts:
        found = _Paths(look.root, home, command)
        for operand in assessment.operands:
            found.operand(operand)
        for redirect in command.redirects:
            found.redirect(redirect.op, redirect.target)
        found.place(assessment.chdir)
        if command.argv and command.argv[0] in MOVES:
            found.enter(command.argv[1:])
        kept = [*command.concerns, *found.concerns]
        if concern := concern_of_words(command.argv):
            kept.append(concern)
        if "network" in command.kinds and (why := carried((*command.argv, *(glob for _, glob in command.globs)))):
            kept.append(Concern("always", f"its words may carry data away: {why}", command.argv[0] or ""))
        if assessment.discards and (lost := await _uncommitted(look, command, assessment)):
            kept.append(Concern("danger", lost, _words(assessment)))
        commands.append(
            replace(
                command,
                reads=tuple(dict.fromkeys(found.reads)),
                writes=tuple(dict.fromkeys(found.writes)),
                removes=tuple(dict.fromkeys(found.removes)),
                why=command.why or found.why,
                concerns=tuple(kept),
            )
        )
    if analysis.opaque and not commands:
        # Nothing of it was seen: neither a rule nor the refusals could speak about it.
        concerns.append(Concern("always", f"the command cannot be looked through: {analysis.opaque}"))
    return Effects(
        reads=_all(command.reads for command in commands),
        writes=_all(command.writes for command in commands),
        removes=_all(command.removes for command in commands),
        hosts=tuple(dict.fromkeys(host for command in commands for host in command.hosts)),
        commands=tuple(commands),
        opaque=analysis.opaque,
        concerns=tuple(concerns),
        script=text,
    )


def _elsewhere(command: Command, shell: Shell, altered: str) -> Command:
    """The command, not understood if earlier commands changed what its name means.

    A program that runs the project's code may come from the project, such as python of a virtual environment.
    """
    why = altered
    name = command.argv[0] if command.argv else None
    if name and not why and set(command.kinds) - {"runs", "unknown"} and (place := shell.moved(name)):
        why = f"an earlier command changed PATH, and {name} is {place} now"
    return replace(command, why=command.why or why) if why else command


class _Paths:
    """Collects what one command reads, writes and removes."""

    def __init__(self, root: Root, home: str, command: Command) -> None:
        self._root, self._home, self._cwd = root, home, command.cwd
        self.reads: list[PathRef] = []
        self.writes: list[PathRef] = []
        self.removes: list[PathRef] = []
        self.concerns: list[Concern] = []
        self.why = ""

    def operand(self, operand: Operand) -> None:
        if operand.glob and self._pattern(operand):
            return
        if operand.word is None:
            if operand.role == "remove" and (concern := concern_of_unknown(operand.tree)):
                self.concerns.append(concern)
            self._unseen(f"a path of it is {_UNSEEN}")
            return
        if (ref := self._ref(operand.word, operand.role)) is not None:
            self._take(operand, ref)
        elif operand.role == "remove" and (concern := concern_of_unknown(operand.tree)):
            self.concerns.append(concern)

    def redirect(self, op: str, target: str | None) -> None:
        if op == ">&" and target is not None and (target.isdigit() or target == "-"):
            return
        if op not in (*_WRITING, *_READING):
            return
        if target is None:
            self._unseen(f"the file behind {op} is {_UNSEEN}")
            return
        if target.startswith(("/dev/tcp/", "/dev/udp/")):
            return
        if op in _WRITING and (ref := self._ref(target, "write")) is not None:
            self.writes.append(ref)
        if op in _READING and (ref := self._ref(target, "read")) is not None:
            self.reads.append(ref)

    def place(self, chdir: str) -> None:
        """See where the command acts: a name inside the workspace may be a link that leads out of it."""
        folder = os.path.join(self._cwd or "", chdir)
        if folder and folder != self._root.path and self._root.word(folder).root is None:
            self.why = self.why or "the directory it runs in is outside the workspace"

    def enter(self, words: tuple[str | None, ...]) -> None:
        """See which directory the shell goes to: where nothing may be used, what follows might not be seen."""
        for word in words:
            if word and not word.startswith("-") and (self._cwd is not None or word.startswith("/")):
                ref = self._root.word(word, self._cwd or self._root.path)
                if ref.problem:
                    self.reads.append(ref)

    def _pattern(self, operand: Operand) -> bool:
        """Take what the pattern stands for now; False where its whole folder has to count instead."""
        if operand.role == "remove":
            base = self._cwd or ""
            if concern := concern_of_pattern(
                operand.glob, base, operand.tree, self._root.path, os.path.realpath(self._home), self._root.folders()
            ):
                self.concerns.append(concern)
        matches = None if self._cwd is None else _matches(operand.glob, self._cwd)
        if matches is None:
            return False
        for path in matches:
            if (ref := self._ref(path, operand.role)) is not None:
                self._take(operand, ref)
        return True

    def _take(self, operand: Operand, ref: PathRef) -> None:
        if operand.role == "remove":
            home = os.path.realpath(self._home)
            if concern := concern_of(ref, operand.tree, self._root.path, home, self._root.folders()):
                self.concerns.append(concern)
            self.removes.append(self._tree(operand, ref, True))
        elif operand.role == "write":
            self.writes.append(self._tree(operand, ref, True))
        else:
            self.reads.append(self._tree(operand, ref, False))

    def _tree(self, operand: Operand, ref: PathRef, writing: bool) -> PathRef:
        """The reference, protected if it is a folder that is taken as a whole and holds something protected."""
        if operand.tree and self._root.keeps_home(ref):
            text = "it would go through the folder of Agenyx itself; name the folders in it"
            self.concerns.append(Concern("refuse", text, ref.shown))
        if not operand.tree or operand.names or ref.protected or ref.problem:
            return ref
        held = self._root.holds(ref, writing=writing, hidden=operand.hidden)
        return replace(ref, protected=held) if held else ref

    def _ref(self, word: str, role: Role) -> PathRef | None:
        if self._cwd is None and not word.startswith("/"):
            self._unseen(f"the directory it runs in is {_UNSEEN}")
            return None
        # What is removed is the link itself, not what it leads to.
        return self._root.word(word, self._cwd or self._root.path, role != "read", removing=role == "remove")

    def _unseen(self, why: str) -> None:
        self.why = self.why or why


def _matches(pattern: str, cwd: str) -> list[str] | None:
    """The paths that bash would put in place of the pattern; None where they are too many, or it is not that simple."""
    import fnmatch
    import glob

    if "{" in pattern or "\\" in pattern:
        return None
    parts = pattern.split("/")
    if any(part.startswith(".") and part != ".." and fnmatch.fnmatchcase("..", part) for part in parts):
        return None  # an older bash, and dash, put `..` there too
    found: list[str] = []
    for path in glob.iglob(pattern.replace("**", "*"), root_dir=cwd):  # bash's default: no globstar
        found.append(path)
        if len(found) > _MATCHES:
            return None
    return found or [pattern]  # bash hands over a pattern that matches nothing as it is


def _words(assessment: Assessment) -> str:
    return " ".join(assessment.prefix)


def _all(groups: Iterator[tuple[PathRef, ...]]) -> tuple[PathRef, ...]:
    return tuple(dict.fromkeys(ref for group in groups for ref in group))


async def _uncommitted(look: Look, command: Command, assessment: Assessment) -> str:
    """What would be lost, in words; "" where the git tree is clean."""
    from agenyx.workspace import gitview
    from agenyx.workspace.git import top
    from agenyx.workspace.gitrun import open_repository

    if command.cwd is None:
        return "it discards changes in a directory that is not known"
    folder = os.fsencode(os.path.realpath(os.path.join(command.cwd, assessment.chdir)))
    try:
        repository = await open_repository(look.shell.processes, look.shell.env, top(folder) or folder)
        lines = [line for line in await gitview.status(repository) if not line.startswith("##")]
    except AgenyxError as problem:
        return f"it discards changes, and git cannot tell which: {problem.message}"
    return f"it discards uncommitted work ({len(lines)} changed or new files)" if lines else ""

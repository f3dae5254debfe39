"""Hooks that are programs: the payload on standard input, the answer on standard output, exit codes.

With a list of arguments no shell is involved; a line runs in the shell that the Bash tool uses. Each runs in a group of
its own, from the workspace, in a closed environment. Knows no event.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping

from agenyx.core.errors import AgenyxError
from agenyx.ext.hooks.environment import PROJECT, filled
from agenyx.ext.hooks.model import OUTPUT_BYTES, Entry, HookResult
from agenyx.proc import programs
from agenyx.proc.environment import utf8_locale
from agenyx.proc.spawn import Processes, Spawn
from agenyx.shell import program
from agenyx.shell.program import Choice, quote

_INTERPRETERS = frozenset(["sh", "bash", "dash", "zsh", "ksh", "python", "node", "ruby", "perl", "php"])
_LINE = frozenset("|&;<>()`\n")  # what makes a line more than one command with its words


class CommandHook:
    """`shell` is the setting shell.program; `check` says why the programs of the entry may not run now, or ""."""

    def __init__(
        self,
        entry: Entry,
        processes: Processes,
        workspace: str,
        env: Mapping[str, str],
        shell: Choice = "auto",
        check: Callable[[], str] = lambda: "",
    ) -> None:
        self._entry, self._processes, self._workspace = entry, processes, workspace
        self._choice: Choice = entry.shell or shell
        self._env, self._check = env, check

    async def run(self, payload: bytes) -> HookResult:
        entry = self._entry
        if why := self._check() or missing(entry, self._workspace, self._env):
            return HookResult(failure=why)
        try:
            ended = await self._processes.run(self._spawn(payload))
        except AgenyxError as error:
            return HookResult(failure=f"{error.message}. {error.fix}".strip().rstrip("."))
        output, errors = _text(ended.output.head), _text(ended.errors)
        if ended.timed_out:
            return HookResult(-9, output, errors, f"it gave no answer within {entry.timeout:g} seconds", ended.seconds)
        if ended.capped or ended.output.total > OUTPUT_BYTES:
            return HookResult(-9, output, errors, f"it printed more than {OUTPUT_BYTES >> 10} KiB", ended.seconds)
        return HookResult(ended.code, output, errors, "", ended.seconds)

    def _spawn(self, payload: bytes) -> Spawn:
        """Raises ShellError."""
        env = dict(self._env)
        if self._entry.args is None:
            shell = program.find(self._choice, env, self._workspace)
            argv = shell.argv(":")
            env |= {program.TEXT: self._entry.command, **utf8_locale(env)}
        else:
            argv = words(self._entry, self._workspace)
        return Spawn(
            argv,
            self._workspace,
            env,
            stdin=payload,
            stderr="separate",
            timeout=self._entry.timeout,
            head=OUTPUT_BYTES,
            tail=0,
            stop_after=OUTPUT_BYTES + 1,
            tracked=True,
        )


def words(entry: Entry, workspace: str) -> tuple[str, ...]:
    """Program and arguments of an entry with a list, with the project's folder filled in."""
    place: dict[str, str] = dict.fromkeys(PROJECT, workspace)
    return tuple(filled(word, place.get) for word in (entry.command, *(entry.args or ())))


def simple(entry: Entry, workspace: str) -> tuple[str, ...]:
    """The words of an entry as far as they are plain to see: () for a line that is more than one simple command."""
    if entry.kind != "command":
        return ()
    if entry.args is not None:
        return words(entry, workspace)
    place = dict.fromkeys(PROJECT, workspace)
    line = filled(entry.command, lambda name: quote(place[name])[1:-1] if name in place else None)
    if "$" in line or _LINE & set(line):
        return ()
    try:
        return tuple(shlex.split(line))
    except ValueError:
        return ()


def scripts(entry: Entry, workspace: str) -> tuple[str, ...]:
    """The paths, absolute, of the program and of the script that the words name, whether they are there or not."""
    found = list[str]()
    argv = simple(entry, workspace)
    if argv and "/" in argv[0]:
        found.append(argv[0])
    if argv and os.path.basename(argv[0]).rstrip("0123456789.") in _INTERPRETERS:
        script = next(iter(argv[1:]), "")
        if script and not script.startswith("-"):
            found.append(script)
    return tuple(os.path.join(workspace, path) for path in found if not path.startswith("~"))


def missing(entry: Entry, workspace: str, env: Mapping[str, str]) -> str:
    """Why the entry cannot run at all, as far as that is plain to see; "" otherwise.

    An interpreter that does not find its script ends with a code of its own, which may be the one that blocks.
    """
    for path in scripts(entry, workspace):
        if not os.path.isfile(path):
            return f"the script {path} is not there"
    argv = simple(entry, workspace)
    if argv and "/" in argv[0] and not os.access(os.path.join(workspace, argv[0]), os.X_OK):
        return f"{argv[0]} may not be executed (chmod +x)"
    if argv and entry.args is not None and "/" not in argv[0] and not programs.on_path(argv[0], env):
        return f"the program {argv[0]!r} was not found"
    return ""


def _text(data: bytes) -> str:
    return data[:OUTPUT_BYTES].decode("utf-8", "replace")

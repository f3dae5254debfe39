"""Runs commands with the system's bash or sh: one process per command, so that no command can break the next one.

Between commands the working directory and the exported variables are kept, also when the command leaves by `exit` or
`set -e`. Not kept: functions, aliases, unexported variables, shell options, limits, so that a name means the same in
every command; and nothing of a command that replaces the shell by `exec`, is killed, or sets an EXIT trap of its own
and then leaves by `exit`. Knows no policy.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct

from agenyx.core.limits import SHELL_CHARS
from agenyx.core.redact import Masker
from agenyx.proc import programs
from agenyx.proc.environment import utf8_locale
from agenyx.proc.spawn import Capture, Processes, Spawn
from agenyx.shell import program, state
from agenyx.shell.program import Choice, Dialect, Program, ShellError, quote

MAX_COMMAND = 100_000  # bytes; Linux refuses a single string above 128 KiB
MAX_OUTPUT = 1 << 30  # bytes; a command that prints more is ended, such as `yes`


class ShellResult(Struct, frozen=True):
    """What a command came to. `code` is the exit code or a negative signal number; `note` is for the model."""

    code: int
    timed_out: bool
    output: Capture
    seconds: float
    survivors: tuple[int, ...]
    note: str


def _none() -> Sequence[str]:
    return ()


class Shell:
    """The shell of one session. `root` is the workspace; `state_dir` a private directory that outlives the process.

    `env` is the whole environment that commands start from (see proc.environment.child_env). `choice` is the setting
    shell.program: auto is bash where there is one, else sh. `masker` takes credentials out of what is kept of outputs.
    `folders` are real paths of further folders in which commands may start.
    """

    def __init__(
        self,
        processes: Processes,
        root: str,
        state_dir: str,
        env: Mapping[str, str],
        choice: Choice = "auto",
        masker: Masker | None = None,
        folders: Callable[[], Sequence[str]] = _none,
    ) -> None:
        self.processes = processes
        self._masker = masker
        self.root = os.path.realpath(root)
        self._folders = folders
        self.env = state.harmless(env) | utf8_locale(env)
        self._dir = state_dir
        self._file = os.path.join(state_dir, "shell")
        self._choice: Choice = choice
        self._program: Program | None = None
        self._state = state.load(self._file)
        if not self._state.cwd or not self._inside(self._state.cwd):
            self._state = state.State(self.root, self._state.set, self._state.unset)

    @property
    def cwd(self) -> str:
        """Where the last command ended, an absolute real path that was inside the root then."""
        return self._state.cwd

    @property
    def dialect(self) -> Dialect:
        """What commands are written in. Where no shell is found, which `run` tells, what was asked for."""
        try:
            return self._find().dialect
        except ShellError:
            return "posix" if self._choice == "sh" else "bash"

    def where(self) -> str:
        """Where the next command starts: `cwd`, or the root where that has vanished or leads out of the root now."""
        return self.cwd if os.path.isdir(self.cwd) and self._inside(self.cwd) else self.root

    def altered(self) -> str:
        """Why a program's name or `~` may mean something else than at first, for people; "" where nothing changed.

        Functions, aliases and options are not among the reasons: none of them outlives its command.
        """
        return state.altered(self._state)

    @property
    def next_env(self) -> dict[str, str]:
        """The environment that the next command starts with: the first one and what earlier commands exported."""
        return self._state.env(self.env)

    def moved(self, name: str) -> str:
        """Where a plain program name leads now, if a changed PATH makes it lead elsewhere than at first; else ""."""
        path = self.next_env.get("PATH", "")
        if "/" in name or path == self.env.get("PATH", ""):
            return ""
        now = programs.on_path(name, {"PATH": path}) or "nowhere"
        if any(not part.startswith("/") for part in path.split(":")):
            return "a place that depends on the directory"
        return "" if now == (programs.on_path(name, self.env) or "nowhere") else now

    async def run(
        self,
        command: str,
        timeout: float,
        on_output: Callable[[bytes], None] | None = None,
        spill: str | None = None,
        keep: int = SHELL_CHARS,
    ) -> ShellResult:
        """Run one command. `timeout` in seconds; `keep` bytes of output stay in memory, two fifths of them its head.

        Raises ShellError or ProcessError when it cannot start. A command's own failure is a result.
        """
        shell = self._shell_for(command)
        notes: list[str] = []
        if (where := self.where()) != self.cwd:
            notes.append(f"The directory {self.cwd} no longer exists; the command ran in {where}.")
            self._state = state.State(where, self._state.set, self._state.unset)
        dump = self._make_dump()
        head = keep * 2 // 5
        spawn = Spawn(
            argv=shell.argv(_save(dump, shell.builtin) if dump else ":"),
            cwd=where,
            env=self.next_env | {program.TEXT: command},
            timeout=timeout,
            head=head,
            tail=keep - head,
            spill=spill,
            stop_after=MAX_OUTPUT,
            tracked=True,
            masker=self._masker,
        )
        try:
            ended = await self.processes.run(spawn, on_output)
            notes.append(_FLOOD if ended.capped else "")
            notes.append(self._take(state.read(dump)) if dump else _NOT_KEPT)
        finally:
            if dump:
                with suppress(OSError):
                    os.unlink(dump)
        note = " ".join(filter(None, notes))
        return ShellResult(ended.code, ended.timed_out, ended.output, ended.seconds, ended.survivors, note)

    def detached(self, command: str) -> Spawn:
        """What starts a command from the present directory and variables, and keeps nothing of what it changes.

        It ends when what it put into the background has ended too. Raises ShellError.
        """
        shell = self._shell_for(command)
        return Spawn(
            argv=shell.argv(f"{{ {shell.builtin} wait; }} 2>/dev/null"),
            cwd=self.where(),
            env=self.next_env | {program.TEXT: command},
            head=0,
            tail=0,
            tracked=True,
        )

    def _make_dump(self) -> str:
        """A private file for what the shell leaves behind; "" when there can be none (full or read-only disk)."""
        path = os.path.join(self._dir, f"dump.{os.urandom(6).hex()}")
        try:
            os.makedirs(self._dir, mode=0o700, exist_ok=True)
            state.create(path)
        except OSError:
            return ""
        return path

    def _take(self, data: bytes) -> str:
        """Adopt what the command left behind. Returns what the model should know about it."""
        before = self._state
        after = state.parse_dump(data, self.env, before)
        if after is None:
            return ""
        cwd, note = after.cwd, ""
        if not cwd or not os.path.isdir(cwd):
            cwd = self.root
            note = f"The working directory no longer exists; the next command starts in {cwd}."
        elif not self._inside(cwd):
            back = before.cwd if os.path.isdir(before.cwd) else self.root
            note = f"{cwd} is outside the workspace, so that cd was undone; the next command starts in {back}."
            cwd = back
        self._state = state.State(cwd, after.set, after.unset)
        if self._state != before:
            try:
                state.save(self._file, self._state)
            except OSError:
                note = f"{note} {_NOT_KEPT}".strip()
        return note

    def _inside(self, path: str) -> bool:
        real = os.path.join(os.path.realpath(path), "")
        return any(real.startswith(os.path.join(top, "")) for top in (self.root, *self._folders()))

    def _shell_for(self, command: str) -> Program:
        """The program that runs a command. Raises ShellError."""
        if len(os.fsencode(command)) > MAX_COMMAND:
            raise ShellError(
                f"the command is longer than {MAX_COMMAND} bytes", "Write it to a file and run that with the shell."
            )
        return self._find()

    def _find(self) -> Program:
        if self._program is None:
            self._program = program.find(self._choice, self.env, self.root)
        return self._program


_NOT_KEPT = "The directory and variables of this command could not be saved for the next one."
_FLOOD = f"It printed more than {MAX_OUTPUT >> 20} MiB and was ended: write so much to a file, or print less."


def _save(dump: str, builtin: str) -> str:
    """Writes the state, once. Tracing is off then, and noclobber and errexit do not matter."""
    return (
        '{ set +exv; if [ -z "${__agenyx_saved-}" ]; then __agenyx_saved=1; '
        f"{{ /usr/bin/env -0 && {builtin} printf 'ok\\0'; {builtin} pwd -P; }} >|{quote(dump)}; fi; }} 2>/dev/null"
    )

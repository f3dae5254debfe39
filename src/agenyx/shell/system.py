"""Runs commands with the system's bash: one process per command, so that no command can break the next one.

Between commands the working directory and the exported variables are kept, also when the command leaves by `exit` or
`set -e`. Not kept: functions, aliases, unexported variables, shell options, limits; and nothing of a command that
replaces bash by `exec`, is killed, or sets an EXIT trap of its own and then leaves by `exit`. Knows no policy.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress

from msgspec import Struct

from agenyx.core.errors import AgenyxError
from agenyx.core.limits import SHELL_CHARS
from agenyx.proc import programs
from agenyx.proc.environment import utf8_locale
from agenyx.proc.spawn import Capture, Processes, Spawn
from agenyx.shell import state

MAX_COMMAND = 100_000  # bytes; Linux refuses a single string above 128 KiB
_TEXT = "__AGENYX_COMMAND"
_BASH = "/bin/bash"


class ShellError(AgenyxError):
    """A command could not be run at all."""


class ShellResult(Struct, frozen=True):
    """What a command came to. `code` is the exit code or a negative signal number; `note` is for the model."""

    code: int
    timed_out: bool
    output: Capture
    seconds: float
    survivors: tuple[int, ...]
    note: str


class Shell:
    """The shell of one session. `root` is the workspace; `state_dir` a private directory that outlives the process.

    `env` is the whole environment that commands start from (see proc.environment.child_env).
    """

    def __init__(self, processes: Processes, root: str, state_dir: str, env: Mapping[str, str]) -> None:
        self.processes = processes
        self.root = os.path.realpath(root)
        self.env = state.harmless(env) | utf8_locale(env)
        self._dir = state_dir
        self._file = os.path.join(state_dir, "shell")
        self._bash: str | None = None
        self._state = state.load(self._file)
        if not self._state.cwd or not self._inside(self._state.cwd):
            self._state = state.State(self.root, self._state.set, self._state.unset)

    @property
    def cwd(self) -> str:
        """Where the next command starts, an absolute real path inside the root."""
        return self._state.cwd

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
        bash = self._bash_for(command)
        notes: list[str] = []
        if not os.path.isdir(self.cwd):
            notes.append(f"The directory {self.cwd} no longer exists; the command ran in {self.root}.")
            self._state = state.State(self.root, self._state.set, self._state.unset)
        dump = self._make_dump()
        head = keep * 2 // 5
        spawn = Spawn(
            argv=(bash, "--noprofile", "--norc", "-c", _prelude(_save(dump) if dump else ":")),
            cwd=self.cwd,
            env=self._state.env(self.env) | {_TEXT: command},
            timeout=timeout,
            head=head,
            tail=keep - head,
            spill=spill,
        )
        try:
            ended = await self.processes.run(spawn, on_output)
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
        bash = self._bash_for(command)
        return Spawn(
            argv=(bash, "--noprofile", "--norc", "-c", _prelude("{ builtin wait; } 2>/dev/null")),
            cwd=self.cwd if os.path.isdir(self.cwd) else self.root,
            env=self._state.env(self.env) | {_TEXT: command},
            head=0,
            tail=0,
        )

    def _make_dump(self) -> str:
        """A private file for what bash leaves behind; "" when there can be none (full or read-only disk)."""
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
        return os.path.join(os.path.realpath(path), "").startswith(os.path.join(self.root, ""))

    def _bash_for(self, command: str) -> str:
        """The program that runs a command. Raises ShellError."""
        if len(os.fsencode(command)) > MAX_COMMAND:
            raise ShellError(
                f"the command is longer than {MAX_COMMAND} bytes", "Write it to a file and run that with bash."
            )
        if self._bash is None:
            usual = _BASH if os.access(_BASH, os.X_OK) else None
            self._bash = usual or programs.on_path("bash", self.env, outside=self.root)
            if self._bash is None:
                raise ShellError("bash was not found", "Install bash (version 3.2 or later) and put it on the PATH.")
        return self._bash


_NOT_KEPT = "The directory and variables of this command could not be saved for the next one."


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _save(dump: str) -> str:
    """Writes the state, once. Tracing is off then, and noclobber and errexit do not matter."""
    return (
        '{ set +exv; if [ -z "${__agenyx_saved-}" ]; then __agenyx_saved=1; '
        f"{{ /usr/bin/env -0 && builtin printf 'ok\\0'; builtin pwd -P; }} >|{_quote(dump)}; fi; }} 2>/dev/null"
    )


def _prelude(last: str) -> str:
    """The program of every bash. One line, so that line numbers in messages are those of the command.

    The command comes by the environment and goes to `eval` as one word: no text can end the word early, and
    `pkill -f` does not find it in our own command line. `last` is done at the end and, unless the command has set a
    trap itself, at every other exit.
    """
    return (
        f"__agenyx_command=${_TEXT}; unset -v {_TEXT}; trap {_quote(last)} EXIT; "
        'eval -- "$__agenyx_command"; { __agenyx_code=$?; } 2>/dev/null; '
        f'{last}; exit "$__agenyx_code"'
    )

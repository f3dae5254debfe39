"""Which shell runs the commands, what its dialect is called to the model, and the program text around a command.

Works with bash from version 3.2 on and with any POSIX sh. Never the person's own login shell. Knows no session.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from agenyx.core.errors import AgenyxError
from agenyx.proc import programs

Choice = Literal["auto", "bash", "sh"]
Dialect = Literal["bash", "posix"]

TEXT = "__AGENYX_COMMAND"  # the environment variable that brings the command
_BASH = "/bin/bash"
_SH = "/bin/sh"

POSIX_NOTE = (
    "The shell is POSIX sh, not bash: no arrays, no `[[ ]]`, `(( ))`, `<<<`, `<(...)`, `{1..9}`, `$'...'`, `&>`, "
    "`${x//a/b}`, `pipefail`, `mapfile` or `source`. Write `[ ]`, `$((...))`, here-documents and `.` instead."
)


class ShellError(AgenyxError):
    """A command could not be run at all."""


class Program(Struct, frozen=True):
    """A shell: its absolute path and what it speaks."""

    path: str
    dialect: Dialect

    def argv(self, last: str) -> tuple[str, ...]:
        """What runs the command in TEXT. `last` is done at its end, and at every other exit unless the command has
        set an EXIT trap itself.
        """
        flags = ("--noprofile", "--norc") if self.dialect == "bash" else ()
        return (self.path, *flags, "-c", _wrap(last))

    @property
    def builtin(self) -> str:
        """The word before a builtin that passes over a function of the same name."""
        return "builtin" if self.dialect == "bash" else "command"


def find(choice: Choice, env: Mapping[str, str], outside: str) -> Program:
    """The shell for a choice; one inside `outside`, the workspace, is never taken. Raises ShellError."""
    if choice != "sh" and (path := _executable("bash", _BASH, env, outside)):
        return Program(path, "bash")
    if choice != "bash" and (path := _executable("sh", _SH, env, outside)):
        return Program(path, "posix")
    match choice:
        case "bash":
            raise ShellError("bash was not found", "Install bash (version 3.2 or later), or set shell.program to sh.")
        case "sh":
            raise ShellError("sh was not found", "Put a POSIX sh on the PATH, or set shell.program to bash.")
        case "auto":
            raise ShellError(
                "no shell was found, neither bash nor sh", "Install bash (version 3.2 or later) and put it on the PATH."
            )


def quote(text: str) -> str:
    """One word that stands for the text, for any shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def _executable(name: str, usual: str, env: Mapping[str, str], outside: str) -> str | None:
    return usual if os.access(usual, os.X_OK) else programs.on_path(name, env, outside=outside)


def _wrap(last: str) -> str:
    """One line, so that line numbers in messages are those of the command.

    The command comes by the environment and goes to `eval` as one word: no text can end the word early, and
    `pkill -f` does not find it in our own command line. The space before it keeps a leading dash from being an option.
    No core files: the limit is the soft one, a command may raise it.
    """
    return (
        f"__agenyx_command=${TEXT}; unset -v {TEXT}; {{ ulimit -S -c 0; }} 2>/dev/null; trap {quote(last)} EXIT; "
        'eval " $__agenyx_command"; { __agenyx_code=$?; } 2>/dev/null; '
        f'{last}; exit "$__agenyx_code"'
    )

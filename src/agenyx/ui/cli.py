"""The command line: which command is meant, and what has to hold before anything heavy is imported."""

from __future__ import annotations

import os

from agenyx.core.errors import AgenyxError, UsageError
from agenyx.ui.exits import OK, code_of, complaint, explain, write_error
from agenyx.ui.parse import parse, wants_json
from agenyx.ui.standard import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from agenyx.ui.flags import Options


def run(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Run the program with the arguments after its name; returns the exit code."""
    try:
        return _run(list(argv), env)
    except Exception as error:
        if wants_json(argv):
            _record(error)
        if not isinstance(error, AgenyxError):
            raise
        write_error(complaint(*explain(error)))
        return code_of(error)


def _run(argv: list[str], env: Mapping[str, str]) -> int:
    match argv:
        case ["local", *rest]:
            from agenyx.ui.local import main

            return main(rest, env)
        case ["completion", *rest]:
            from agenyx.ui.completion import completion

            return _show(completion(rest))
        case ["help"]:
            argv = ["--help"]
        case _:
            pass
    options = parse(argv)
    if options.help:
        from agenyx.ui.help import help_text

        return _show(help_text())
    if options.version:
        from agenyx.ui.version import version_text

        return _show(version_text())
    return _task(options, env)


def _task(options: Options, env: Mapping[str, str]) -> int:
    if options.cwd and not os.path.isdir(options.cwd):
        raise UsageError(f"--cwd {options.cwd} is not a directory", "Name the directory to work in.")
    try:
        os.getcwd()
    except OSError:
        raise UsageError("the current directory no longer exists", "Change to another directory first.") from None
    resumes = options.continue_ or options.resume
    if not options.prompt and not options.stdin and not resumes and os.isatty(0):
        raise UsageError(
            "there is nothing to do: no prompt was given",
            'For example: agenyx -p "explain this project". All flags: agenyx --help',
        )
    from agenyx.ui.signals import Signals
    from agenyx.ui.stdin import Stdin

    signals, stdin = Signals(), Stdin()
    signals.install()
    if not stdin.terminal:
        stdin.start()  # now, so that the text is there when the slow imports below are done
    from agenyx.ui.once import run_once

    return run_once(options, env, stdin, signals)


def _show(text: str) -> int:
    show(text)
    return OK


def _record(error: Exception) -> None:
    """A program that reads the one record gets it also when nothing could be started."""
    from agenyx.core.ids import session_id
    from agenyx.ui.result import record
    from agenyx.ui.view import View

    show(record(View(), error, 0.0, session_id()).decode())

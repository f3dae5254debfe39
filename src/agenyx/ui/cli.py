"""The command line: which command is meant, and what has to hold before anything heavy is imported."""

from __future__ import annotations

import os

from agenyx.core.errors import AgenyxError, UsageError
from agenyx.ui.exits import OK, code_of, complaint, explain, write_error
from agenyx.ui.parse import parse, wants_json, wants_list
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
        if wants_json(argv) and not wants_list(argv):
            _record(error, env)
        if not isinstance(error, AgenyxError):
            raise
        from agenyx.config.secrets import masker

        write_error(masker(env).text(complaint(*explain(error))))
        return code_of(error)


def _run(argv: list[str], env: Mapping[str, str]) -> int:
    match argv:
        case ["local", *rest]:
            from agenyx.ui.local import main

            return main(rest, env)
        case ["login", *rest]:
            from agenyx.ui.login import login

            return login(rest, env)
        case ["logout", *rest]:
            from agenyx.ui.login import logout

            return logout(rest, env)
        case ["doctor", *rest]:
            from agenyx.ui.doctor import main as doctor

            return doctor(rest, env)
        case ["config", *rest]:
            from agenyx.ui.config import main as config

            return config(rest, env)
        case ["permissions", *rest]:
            from agenyx.ui.permissions import main as permissions

            return permissions(rest, env)
        case ["approvals", *rest]:
            from agenyx.ui.approvals import main as approvals

            return approvals(rest, env)
        case ["hooks", *rest]:
            from agenyx.ui.hooks import main as hooks

            return hooks(rest, env)
        case ["sessions", *rest]:
            from agenyx.ui.sessions import main as sessions

            return sessions(rest, env)
        case ["skills", *rest]:
            from agenyx.ui.skills import main as skills

            return skills(rest, env)
        case ["trust", *rest]:
            from agenyx.ui.trust import main as trust

            return trust(rest, env)
        case ["memory", *rest]:
            from agenyx.ui.memory import main as memory

            return memory(rest, env)
        case ["mcp", *rest]:
            from agenyx.ui.mcp import main as mcp

            return mcp(rest, env)
        case ["agents", *rest]:
            from agenyx.ui.agents import main as agents

            return agents(rest, env)
        case ["chat", *rest]:
            chat = parse(rest)
            if not (chat.help or chat.version or chat.list_providers or chat.list_sessions or chat.delete_session):
                return _chat(chat, env)
            argv = rest
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
    if options.list_providers:
        from agenyx.ui.providers import main as providers

        return providers(argv, env)
    if options.list_sessions or options.delete_session:
        from agenyx.ui.session_list import main as session_list

        return session_list(argv, env)
    return _task(options, env)


def _prepare(options: Options, env: Mapping[str, str]) -> None:
    """What has to hold for every run. Raises UsageError."""
    if options.cwd and not os.path.isdir(options.cwd):
        raise UsageError(f"--cwd {options.cwd} is not a directory", "Name the directory to work in.")
    try:
        os.getcwd()
    except OSError:
        raise UsageError("the current directory no longer exists", "Change to another directory first.") from None
    if options.settings:
        from agenyx.ui.host_settings import apply

        apply(options, env)
    apply_settings(options, env)


def _chat(options: Options, env: Mapping[str, str], *, full: bool = False) -> int:
    """A conversation until the person leaves it: on the full screen where it may be one, else in lines."""
    if options.print_ or options.stdin or options.image or options.output_format in ("json", "stream-json"):
        raise UsageError(
            "agenyx chat is a conversation: -p, -, --image and --output-format do not go with it",
            "Leave them out, or leave out chat.",
        )
    if options.approvals == "defer":
        raise UsageError(
            "--approvals defer is for a single task: in a conversation you are there to answer",
            "Leave it out, or use -p.",
        )
    _prepare(options, env)
    from agenyx.ui.signals import Signals

    signals = Signals()
    signals.install()
    if full and not _plain(options, env):
        from agenyx.ui.tui import main as tui

        return tui(options, env, signals)
    from agenyx.ui.repl import main

    return main(options, env, signals)


def _plain(options: Options, env: Mapping[str, str]) -> bool:
    """Whether lines are wanted, or all that the terminal can do."""
    if options.plain or env.get("TERM", "") in ("", "dumb", "unknown"):
        return True
    said = env.get("AGENYX_PLAIN", "").strip().lower()
    return said not in ("0", "off", "no", "false", "full") if said else options.screen == "plain"


def _task(options: Options, env: Mapping[str, str]) -> int:
    plain = not (options.print_ or options.prompt or options.stdin) and options.output_format in ("", "text")
    if plain and os.isatty(0) and os.isatty(1):
        return _chat(options, env, full=True)
    _prepare(options, env)
    if options.input_format == "stream-json":
        from agenyx.ui.signals import Signals
        from agenyx.ui.wire.main import stream

        signals = Signals()
        signals.install()
        return stream(options, env, None, signals)
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
    if options.output_format == "stream-json":
        from agenyx.ui.wire.main import stream

        return stream(options, env, stdin, signals)
    from agenyx.ui.once import run_once

    return run_once(options, env, stdin, signals)


def apply_settings(options: Options, env: Mapping[str, str]) -> None:
    """Let the home's settings.toml decide what neither a flag nor a variable did. One look where there is no file.

    A workspace's settings wait for the question of trust, which the conversation asks.
    """
    from agenyx.config.home import home_path

    home = home_path(env)
    if "sources" in options.given and "user" not in options.sources.split(","):
        return  # the person's settings do not count; the rules in them do
    if os.path.lexists(os.path.join(home, "settings.toml")):
        from agenyx.ui.defaults import apply

        apply(options, env, home)


def _show(text: str) -> int:
    show(text)
    return OK


def _record(error: Exception, env: Mapping[str, str]) -> None:
    """A program that reads the one record gets it also when nothing could be started."""
    from agenyx.config.secrets import masker
    from agenyx.core.ids import session_id
    from agenyx.ui.result import record
    from agenyx.ui.view import View

    show(masker(env).text(record(View(), error, 0.0, session_id()).decode()))

"""The one table of built-in slash commands, for every surface: dispatch, completion and /help are read from it.

To add one: a line here, a module `app/commands/NAME.py` (`_` for `-`) with `async def run(desk, args) -> Reply`, and a
row in docs/commands.md. The module is imported when the command runs, not before.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from importlib import import_module
from typing import get_args

from agenyx.app.commands.spec import Command, Desk, Reply
from agenyx.config.settings_table import THEMES
from agenyx.core.errors import UsageError
from agenyx.core.verdict import Mode

MODES: tuple[str, ...] = get_args(Mode)


def _row(
    name: str,
    text: str,
    args: str = "",
    aliases: tuple[str, ...] = (),
    *,
    instant: bool = False,
    choices: tuple[str, ...] = (),
) -> Command:
    module = f"agenyx.app.commands.{name.replace('-', '_')}"

    async def run(desk: Desk, args: str) -> Reply:
        answer: Callable[[Desk, str], Coroutine[None, None, Reply]] = import_module(module).run
        return await answer(desk, args)

    return Command(name, text, run, args, aliases, instant, choices)


def _seated(
    name: str,
    text: str,
    args: str = "",
    aliases: tuple[str, ...] = (),
    *,
    instead: str,
    instant: bool = False,
    choices: tuple[str, ...] = (),
) -> Command:
    """A command that is about the conversation at a terminal, and is done there; elsewhere it says what to use."""

    async def run(desk: Desk, args: str) -> Reply:
        raise UsageError(f"/{name} works in a conversation at the terminal only", instead)

    return Command(name, text, run, args, aliases, instant, choices)


BUILTIN: tuple[Command, ...] = (
    _row("help", "list commands and keys, or explain one", "[COMMAND]", ("?",), instant=True),
    _row("status", "session, model, mode and tokens", instant=True),
    _row("model", "show the model, or go on with another one", "[NAME]"),
    _row("effort", "show the reasoning effort, or set it", "[LEVEL]", ("thinking",), instant=True),
    _row("mode", "show the permission mode, or change it", "[MODE]", instant=True, choices=MODES),
    _row("permissions", "the permission rules that hold now", "", ("permission",), instant=True),
    _row("cost", "tokens and money spent", "", ("usage",), instant=True),
    _row("context", "how full the model's window is", instant=True),
    _row("compact", "summarise the conversation to make room", "[FOCUS]"),
    _row("add-dir", "the folders beside the workspace, or one more", "[PATH]"),
    _row("diff", "what changed since the last commit", "[PATH]", instant=True),
    _row("rename", "show what the session is called, or give it a title", "[TITLE]", instant=True),
    _row("branch", "begin another branch here, with a name", "[NAME]", ("fork",)),
    _row("tree", "the turns on all branches, or go on after one", "[N|BRANCH]"),
    _row("plan", "only look and make a plan, or no more", "[on|off|show]", instant=True, choices=("on", "off", "show")),
    _row("tasks", "the tasks of the session, and what runs in the background", "", ("task",), instant=True),
    _row("skills", "the skills there are, and why one is missing", "[NAME]", ("skill",), instant=True),
    _row("review", "have a change looked through: the working tree, or what is named", "[BRANCH|PR|PATH]"),
    _row("export", "the conversation as Markdown or JSON, to a new file", "[md|json] [FILE]", choices=("md", "json")),
    _row("login", "whose key is in use, and how to store one", "[ID]", instant=True),
    _row("logout", "whose key is in use, and how to remove one", "[ID]", instant=True),
    _row("hooks", "what hangs on events, where it stands, and what is wrong with it", instant=True),
    _row("agents", "the subagents there are, and what each may do", "", ("agent",), instant=True),
    _row("instructions", "which instructions hold, and what was left out", instant=True),
    _row("output-style", "the output styles, or another one from now on", "[NAME]", ("style",), instant=True),
    _row("memory", "what this project keeps from session to session", "[list|remember|recall|forget]", instant=True),
    _row("init", "have AGENTS.md written or improved for this project", "[WISHES]"),
    _row("mcp", "the MCP servers, and where each is", "[status|reload|reconnect NAME]"),
    _row("doctor", "check provider, model, programs and home", "", ("diagnostics",)),
    _seated(
        "clear",
        "begin a new session",
        "",
        ("reset", "new"),
        instead="Each run begins a new session when --continue and --resume are left out.",
    ),
    _seated(
        "resume",
        "list earlier sessions, or go on with one",
        "[ID|TITLE]",
        ("continue",),
        instead="agenyx sessions list shows them, and --resume ID goes on with one.",
    ),
    _seated(
        "rewind",
        "go back before a turn, with its files, or both",
        "[files|both] [N] [yes]",
        instead="agenyx sessions rewind ID shows and puts back what it did to files.",
    ),
    _seated(
        "steer",
        "say something to the running turn",
        "TEXT",
        instead="Say it in the next prompt, with --continue.",
        instant=True,
    ),
    _seated(
        "theme",
        "the colours of the conversation at the terminal",
        "[NAME]",
        instead="agenyx config set theme NAME keeps one for conversations.",
        instant=True,
        choices=THEMES,
    ),
    _seated("exit", "leave", "", ("quit",), instead="This run ends by itself.", instant=True),
)

BY_NAME: dict[str, Command] = {name: row for row in BUILTIN for name in (row.name, *row.aliases)}

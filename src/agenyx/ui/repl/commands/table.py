"""The one table of slash commands: grammar, completion and /help are read from it."""

from __future__ import annotations

from agenyx.ui.flags import MODES
from agenyx.ui.repl.commands import (
    branch,
    choices,
    compact,
    diff,
    doctor,
    figures,
    permissions,
    rewind,
    sessions,
    tree,
    turn,
)
from agenyx.ui.repl.commands.help import help_of
from agenyx.ui.repl.commands.spec import Command

_OTHERS = (
    Command("status", "session, model, mode and tokens", figures.status, instant=True),
    Command("model", "show the model, or go on with another one", choices.model, "[NAME]"),
    Command("effort", "show the reasoning effort", choices.effort, "[LEVEL]", ("thinking",), instant=True),
    Command("mode", "show the permission mode, or change it", choices.mode, "[MODE]", instant=True, choices=MODES),
    Command("permissions", "the permission rules that hold now", permissions.permissions, instant=True),
    Command("cost", "tokens and money spent", figures.cost, aliases=("usage",), instant=True),
    Command("context", "how full the model's window is", figures.context, instant=True),
    Command("compact", "summarise the conversation to make room", compact.compact, "[FOCUS]"),
    Command("diff", "what changed since the last commit", diff.diff, "[PATH...]", instant=True),
    Command("clear", "begin a new session", sessions.clear, aliases=("reset", "new")),
    Command("resume", "list earlier sessions, or go on with one", sessions.resume, "[ID|TITLE]", ("continue",)),
    Command("tree", "the turns on all branches, or go on after one", tree.tree, "[N|BRANCH]"),
    Command("branch", "begin another branch here, with a name", branch.branch, "[NAME]"),
    Command("rewind", "go back before a turn, with its files, or both", rewind.rewind, "[files|both] [N] [yes]"),
    Command("steer", "say something to the running turn", turn.steer, "TEXT", instant=True),
    Command("doctor", "check provider, model, programs and home", doctor.doctor, aliases=("diagnostics",)),
    Command("exit", "leave", turn.leave, aliases=("quit",), instant=True),
)

COMMANDS = (help_of(_OTHERS), *_OTHERS)

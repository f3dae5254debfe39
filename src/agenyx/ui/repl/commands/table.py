"""The one table of slash commands: grammar, completion and /help are read from it."""

from __future__ import annotations

from agenyx.ui.flags import MODES
from agenyx.ui.repl.commands import choices, diff, doctor, figures, permissions, sessions, turn
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
    Command("diff", "what changed since the last commit", diff.diff, "[PATH...]", instant=True),
    Command("clear", "begin a new session", sessions.clear, aliases=("reset", "new")),
    Command("resume", "list earlier sessions, or go on with one", sessions.resume, "[ID]", ("continue",)),
    Command("steer", "say something to the running turn", turn.steer, "TEXT", instant=True),
    Command("doctor", "check provider, model, programs and home", doctor.doctor, aliases=("diagnostics",)),
    Command("exit", "leave", turn.leave, aliases=("quit",), instant=True),
)

COMMANDS = (help_of(_OTHERS), *_OTHERS)

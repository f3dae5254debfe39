"""/help: commands and keys."""

from __future__ import annotations

from agenyx.ui.repl.commands.context import Context
from agenyx.ui.repl.commands.spec import Command

KEYS = (
    ("Enter", "send; while a turn runs: send when it is over"),
    ("Alt+Enter, Ctrl+J", "a new line"),
    ("Ctrl+S", "while a turn runs: give it what you typed, at its next step"),
    ("Ctrl+C", "clear the input, else stop the turn; twice leaves"),
    ("Ctrl+D", "leave, when nothing is typed"),
    ("Up, Ctrl+R", "earlier inputs, and search in them"),
    ("@, Tab", "complete the name of a file, or a command"),
    ("Ctrl+X Ctrl+E", "write in $EDITOR"),
)


def help_of(commands: tuple[Command, ...]) -> Command:
    """The command that lists `commands` and itself."""

    async def run(ctx: Context, args: str) -> None:
        rows = [*((_usage(one), one.text) for one in (own, *commands)), ("", ""), *KEYS]
        ctx.out.say("\n".join(f"  {left:<20} {right}".rstrip() for left, right in rows))

    own = Command("help", "show this", run, aliases=("?",), instant=True)
    return own


def _usage(command: Command) -> str:
    return f"/{command.name} {command.args}".rstrip()

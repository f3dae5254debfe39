"""/help at the keyboard: the commands, and the keys below them."""

from __future__ import annotations

from agenyx.app.commands import help as commands
from agenyx.ui.chat.commands.context import Context

KEYS = (
    ("Enter", "send; while a turn runs: send when it is over"),
    ("Alt+Enter, Ctrl+J", "a new line"),
    ("Ctrl+S", "while a turn runs: give it what you typed, at its next step"),
    ("Ctrl+C", "clear the input, else stop the turn; twice leaves"),
    ("Ctrl+D", "leave, when nothing is typed"),
    ("Up, Ctrl+R", "earlier inputs, and search in them"),
    ("@, Tab", "complete the name of a file, or a command"),
    ("!command", "run a command of the shell yourself"),
    ("Ctrl+X Ctrl+E", "write in $EDITOR"),
)


async def help_(ctx: Context, args: str) -> None:
    reply = await commands.run(ctx.desk, args)
    keys = "" if args else "\n\n" + "\n".join(f"  {left:<24} {right}" for left, right in KEYS)
    ctx.out.say(reply.text + keys)

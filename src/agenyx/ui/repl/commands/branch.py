"""/branch: another way on from here, beside the one that is there."""

from __future__ import annotations

from agenyx.core.errors import AgenyxError
from agenyx.ui.repl.commands.context import Context


async def branch(ctx: Context, args: str) -> None:
    found = ctx.talk.tree()
    if not found.head:
        raise AgenyxError("there is nothing to branch from yet", "Say something first.")
    if args and any(turn.branch == args for turn in found.turns):
        raise AgenyxError(f"there is a branch {args} already", f"/tree {args} goes on with it.")
    ctx.talk.branch(args)
    name = f" {args}" if args else ""
    ctx.out.say(f"the next turn begins the branch{name}. /tree {found.head} comes back to where it begins.")

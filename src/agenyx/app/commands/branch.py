"""/branch: another way on from here, beside the one that is there."""

from __future__ import annotations

from agenyx.app.commands.spec import Desk, Reply
from agenyx.core.errors import UsageError


async def run(desk: Desk, args: str) -> Reply:
    found = desk.conversation.tree()
    if not found.head:
        raise UsageError("there is nothing to branch from yet", "Say something first.")
    if args and any(turn.branch == args for turn in found.turns):
        raise UsageError(f"there is a branch {args} already", f"/tree {args} goes on with it.")
    desk.conversation.branch(args)
    name = f" {args}" if args else ""
    text = f"the next turn begins the branch{name}. /tree {found.head} comes back to where it begins."
    return Reply(text, {"branch": args, "after_turn": found.head})

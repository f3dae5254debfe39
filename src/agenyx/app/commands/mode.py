"""/mode: show the permission mode, or change it."""

from __future__ import annotations

from typing import cast

from agenyx.app.commands.spec import Desk, Reply
from agenyx.app.commands.table import MODES
from agenyx.core.errors import UsageError
from agenyx.core.verdict import Mode

MEANING = {
    "default": "looks unasked, asks before anything else",
    "acceptEdits": "also edits files of the workspace unasked",
    "plan": "only looks, and makes a plan",
    "dontAsk": "refuses what it would have to ask about",
    "bypassPermissions": "asks for almost nothing",
}


async def run(desk: Desk, args: str) -> Reply:
    if args:
        chosen = next((name for name in MODES if name.lower() == args.lower()), "")
        if not chosen:
            raise UsageError(f"there is no mode {args}", f"Choose one of: {', '.join(MODES)}.")
        desk.lasting("another mode", f"Give it with the prompt: --permission-mode {chosen}")
        desk.conversation.set_mode(cast("Mode", chosen))
    return told(desk)


def told(desk: Desk) -> Reply:
    """The mode as it is now."""
    now = desk.conversation.status().mode
    return Reply(f"mode {now}: {MEANING[now]}", {"mode": now})

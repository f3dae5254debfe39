"""/rename: what the session is called, and another title for it."""

from __future__ import annotations

from agenyx.app.commands.spec import Desk, Reply


async def run(desk: Desk, args: str) -> Reply:
    if args:
        title = desk.conversation.rename(args)
        return Reply(f"the session is now called: {title}", {"title": title})
    title = desk.conversation.title()
    text = f"the session is called: {title}" if title else "the session has no title yet"
    return Reply(text, {"title": title or None})

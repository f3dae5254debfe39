"""/model: show the model, or go on with another one of the same server."""

from __future__ import annotations

from agenyx.app.commands.spec import Desk, Reply


async def run(desk: Desk, args: str) -> Reply:
    if args:
        desk.lasting("another model", f"Give it with the prompt: --model {args}")
        desk.conversation.set_model(args)
    now = desk.conversation.status()
    text = f"model {now.model} ({now.profile})" + (", from the next turn on" if args else "")
    return Reply(text, {"model": now.model, "provider": now.profile})

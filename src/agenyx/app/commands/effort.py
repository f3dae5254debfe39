"""/effort: show the reasoning effort, or set it."""

from __future__ import annotations

from agenyx.app.commands.spec import Desk, Reply


async def run(desk: Desk, args: str) -> Reply:
    if args:
        desk.lasting("another effort", f"Give it with the prompt: --effort {args}")
        desk.conversation.set_effort(args)
    level = desk.conversation.status().effort
    said = f"reasoning effort {level}" if level else "reasoning effort: the model's own default"
    return Reply(said + (", from the next turn on" if args else ""), {"reasoning_effort": level or None})

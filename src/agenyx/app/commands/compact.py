"""/compact: have the model summarise the conversation now, so that there is room again."""

from __future__ import annotations

from agenyx.app.commands.spec import Desk, Reply
from agenyx.app.commands.wording import tokens


async def run(desk: Desk, args: str) -> Reply:
    """`args` is what the summary should keep above all, or ""."""
    made = await desk.conversation.compact(args)
    if made is None:
        return Reply("there is nothing to summarise yet", {"compacted": False})
    how = "" if made.written else " The model wrote no summary, so an excerpt stands in its place."
    text = f"about {tokens(made.before)} tokens became about {tokens(made.tokens)}.{how}"
    data = {"compacted": True, "before_tokens": made.before, "tokens": made.tokens, "written_by_model": made.written}
    return Reply(text, data)

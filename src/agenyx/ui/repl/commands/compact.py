"""/compact: have the model summarise the conversation now, so that there is room again."""

from __future__ import annotations

from agenyx.ui.repl.commands.context import Context
from agenyx.ui.repl.status import tokens


async def compact(ctx: Context, args: str) -> None:
    """`args` is what the summary should keep above all, or ""."""
    made = await ctx.talk.compact(args)
    if made is None:
        ctx.out.say("there is nothing to summarise yet")
        return
    how = "" if made.written else " The model wrote no summary, so an excerpt stands in its place."
    ctx.out.say(f"about {tokens(made.before)} tokens became about {tokens(made.tokens)}.{how}")

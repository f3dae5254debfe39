"""/theme: other colours, at once and for the conversations to come."""

from __future__ import annotations

from agenyx.core.errors import AgenyxError, UsageError
from agenyx.ui.chat.commands.context import Context
from agenyx.ui.themes import THEMES, chosen


async def theme(ctx: Context, args: str) -> None:
    if not args:
        ctx.out.say(f"theme {chosen(ctx.home)}; there are: {', '.join(THEMES)}")
        return
    name = args.lower()
    if name not in THEMES:
        raise UsageError(f"there is no theme {args}", f"Choose one of: {', '.join(THEMES)}.")
    coloured = ctx.host.paint(name)
    ctx.out.say(f"theme {name}" + ("" if coloured else "; there are no colours here, so nothing changes"))
    from agenyx.config.settings import store  # which writes files
    from agenyx.config.settings_table import BY_NAME

    try:
        store(ctx.home, BY_NAME["theme"], name)
    except (AgenyxError, OSError) as error:
        why = error.message if isinstance(error, AgenyxError) else error.strerror
        ctx.out.complain(f"it holds for this conversation, but was not kept: {why}")

"""/model, /effort and /mode: show what is chosen, or choose anew."""

from __future__ import annotations

from typing import cast

from agenyx.core.errors import AgenyxError
from agenyx.core.verdict import Mode
from agenyx.ui.flags import MODES
from agenyx.ui.repl.commands.context import Context

_MEANING = {
    "default": "looks unasked, asks before anything else",
    "acceptEdits": "also edits files of the workspace unasked",
    "plan": "only looks, and makes a plan",
    "dontAsk": "refuses what it would have to ask about",
    "bypassPermissions": "asks for almost nothing",
}


async def model(ctx: Context, args: str) -> None:
    if args:
        ctx.talk.set_model(args)
    now = ctx.talk.status()
    ctx.out.say(f"model {now.model} ({now.profile})" + (", from the next turn on" if args else ""))


async def effort(ctx: Context, args: str) -> None:
    if args:
        ctx.talk.set_effort(args)
    level = ctx.talk.status().effort
    said = f"reasoning effort {level}" if level else "reasoning effort: the model's own default"
    ctx.out.say(said + (", from the next turn on" if args else ""))


async def mode(ctx: Context, args: str) -> None:
    if args:
        chosen = next((name for name in MODES if name.lower() == args.lower()), "")
        if not chosen:
            raise AgenyxError(f"there is no mode {args}", f"Choose one of: {', '.join(MODES)}.")
        ctx.talk.set_mode(cast("Mode", chosen))
    now = ctx.talk.status().mode
    ctx.out.say(f"mode {now}: {_MEANING[now]}")

"""/steer and /exit: a word to the running turn, and the way out."""

from __future__ import annotations

from agenyx.core.errors import AgenyxError
from agenyx.ui.chat.commands.context import Context


async def steer(ctx: Context, args: str) -> None:
    if not args:
        raise AgenyxError("there is nothing to say to the model", "For example: /steer leave the tests alone")
    if not ctx.host.steer(args):
        raise AgenyxError("no turn is running", "Just send it.")


async def leave(ctx: Context, args: str) -> None:
    ctx.host.leave()

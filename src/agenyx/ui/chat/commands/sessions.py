"""/clear and /resume: go on with another session."""

from __future__ import annotations

import os
import time

from agenyx.core.errors import AgenyxError
from agenyx.ui.chat.commands.context import Context

_LISTED = 15


async def clear(ctx: Context, args: str) -> None:
    before = ctx.talk.status()
    await ctx.host.replace(await ctx.talk.clear(), close=False)
    kept = f" The one before: /resume {before.session_id}" if before.persistent and before.context is not None else ""
    ctx.out.say(f"a new session: {ctx.talk.session_id}.{kept}")


async def resume(ctx: Context, args: str) -> None:
    if not args:
        ctx.out.say(_listing(ctx))
    elif ctx.talk.session_id in (args, _meant(ctx, args)):
        raise AgenyxError("this is the session that is open", "/resume alone lists the others.")
    else:
        await ctx.host.reopen(args)
        now = ctx.talk.status()
        ctx.out.say(f"session {now.session_id} goes on with {now.model}")


def _meant(ctx: Context, text: str) -> str:
    """The id of the session that is called so, "" for none."""
    from agenyx.session.resolve import resolve  # which reads other sessions

    try:
        return os.path.basename(resolve(ctx.home, ctx.workspace, text))
    except AgenyxError:  # told when it is opened
        return ""


def _listing(ctx: Context) -> str:
    from agenyx.app.sessions import row_of
    from agenyx.session.inventory import sessions

    found = [one for one in sessions(ctx.home, ctx.workspace) if one.id != ctx.talk.session_id]
    if not found:
        return "there is no other session of this directory"
    rows = list[str]()
    for one in found[:_LISTED]:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.updated_at))
        rows.append(f"{one.id}  {when}  {row_of(one).title}".rstrip())
    more = f"\nand {len(found) - _LISTED} older ones: agenyx sessions list" if len(found) > _LISTED else ""
    return "\n".join(rows) + more + "\n/resume ID goes on with one of them, and so does a title"

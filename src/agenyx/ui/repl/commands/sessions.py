"""/clear and /resume: go on with another session."""

from __future__ import annotations

import os
import time

from agenyx.core.errors import AgenyxError
from agenyx.session import load
from agenyx.session.records import Prompt
from agenyx.session.store import TRANSCRIPT
from agenyx.ui.activity import clip
from agenyx.ui.repl.commands.context import Context

_LISTED = 15
_HEAD = 256 << 10  # bytes of a transcript in which its first prompt is looked for


async def clear(ctx: Context, args: str) -> None:
    before = ctx.talk.status()
    await ctx.host.replace(await ctx.talk.clear(), close=False)
    kept = f" The one before: /resume {before.session_id}" if before.persistent and before.context is not None else ""
    ctx.out.say(f"a new session: {ctx.talk.session_id}.{kept}")


async def resume(ctx: Context, args: str) -> None:
    if not args:
        ctx.out.say(_listing(ctx))
    elif args == ctx.talk.session_id:
        raise AgenyxError("this is the session that is open", "/resume alone lists the others.")
    else:
        await ctx.host.reopen(args)
        now = ctx.talk.status()
        ctx.out.say(f"session {now.session_id} goes on with {now.model}")


def _listing(ctx: Context) -> str:
    top = load.sessions_of(ctx.home, ctx.workspace)
    found: list[tuple[float, str]] = []
    try:
        names = os.listdir(top)
    except OSError:
        names = []
    for name in names:
        try:
            status = os.stat(os.path.join(top, name, TRANSCRIPT))
        except OSError:
            continue
        if status.st_size and name != ctx.talk.session_id:
            found.append((status.st_mtime, name))
    if not found:
        return "there is no other session of this directory"
    rows = [_row(top, at, name) for at, name in sorted(found, reverse=True)[:_LISTED]]
    more = f"\nand {len(found) - _LISTED} older ones" if len(found) > _LISTED else ""
    return "\n".join(rows) + more + "\n/resume ID goes on with one of them"


def _row(top: str, at: float, name: str) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(at))
    return f"{name}  {when}  {_first_prompt(os.path.join(top, name, TRANSCRIPT))}".rstrip()


def _first_prompt(path: str) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            data = file.read(_HEAD)
    except OSError:
        return ""
    for record in load.decode_lines(data[: data.rfind(b"\n") + 1], []):
        if isinstance(record.body, Prompt) and record.body.user.origin == "typed":
            return clip(record.body.user.text, 60)
    return ""

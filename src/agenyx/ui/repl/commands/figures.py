"""/status, /cost and /context: what the conversation has come to, in figures."""

from __future__ import annotations

from agenyx.ui.repl.commands.context import Context
from agenyx.ui.repl.status import money, tokens, usage_text

_BAR = 30


async def status(ctx: Context, args: str) -> None:
    now = ctx.talk.status()
    rows = {
        "session": now.session_id + ("" if now.persistent else " (in memory only)"),
        "workspace": now.workspace,
        "branch": now.branch,
        "model": f"{now.model} ({now.profile})",
        "effort": now.effort,
        "mode": now.mode,
        "tokens": usage_text(now.usage) if now.usage else "",
    }
    ctx.out.say("\n".join(f"{name:<10} {text}" for name, text in rows.items() if text))


async def cost(ctx: Context, args: str) -> None:
    now = ctx.talk.status()
    if now.usage is None and now.context is None:
        ctx.out.say("no tokens were counted yet")
        return
    price = "unknown" if now.cost is None else money(now.cost)
    ctx.out.say(f"tokens     {usage_text(now.usage)}\ncost       {price}")


async def context(ctx: Context, args: str) -> None:
    now = ctx.talk.status()
    size = now.window
    window = f"{tokens(size)} tokens" if size else "unknown"
    if now.context is None:
        ctx.out.say(f"in use     nothing was sent yet\nwindow     {window}")
        return
    rows = [f"in use     {tokens(now.context)} tokens", f"window     {window}"]
    if size:
        full = min(now.context / size, 1.0)
        rows.append(f"[{'#' * round(full * _BAR):<{_BAR}}] {full:.0%}")
    ctx.out.say("\n".join(rows))

"""/status, /cost and /context: what the conversation has come to, in figures."""

from __future__ import annotations

from agenyx.ui.repl.commands.context import Context
from agenyx.ui.repl.status import money, tokens, usage_text
from agenyx.ui.result import hit_rate

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
    rows = [f"tokens     {usage_text(now.usage)}", f"cost       {price}"]
    if used := now.usage:
        fresh, cached, written, out = map(tokens, (used.fresh, used.cache_read, used.cache_write, used.out))
        rows.append(f"in detail  {fresh} fresh, {cached} cached, {written} written to the cache, {out} out")
        if (rate := hit_rate(used)) is not None:
            rows.append(f"cache      {rate:.0%} of the input came from it")
    causes = [f"{cause}{f' ({count} times)' if count > 1 else ''}" for cause, count in now.breaks.items()]
    rows += [f"{'anew' if not at else '':<10} {cause}" for at, cause in enumerate(causes)]
    ctx.out.say("\n".join(rows))


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
    if now.levels:
        rows.append(f"room       is made at {tokens(now.levels.auto)} tokens; /compact makes it now")
    shares = {
        "head": ("system text and tools", now.parts.head),
        "said": ("you and notices", now.parts.said),
        "answers": ("the model's answers and calls", now.parts.answers),
        "results": ("results of calls", now.parts.results),
        "summary": ("summary of what was before", now.parts.summary),
    }
    rows += [f"about      {tokens(count)} {what}" for what, count in shares.values() if count]
    ctx.out.say("\n".join(rows))

"""/context: how full the model's window is, and with what."""

from __future__ import annotations

from msgspec import to_builtins

from agenyx.app.commands.spec import Desk, Reply
from agenyx.app.commands.wording import tokens

_BAR = 30


async def run(desk: Desk, args: str) -> Reply:
    now = desk.conversation.status()
    size, parts = now.window, now.parts
    data = {
        "context_tokens": now.context,
        "window_tokens": size,
        "room_made_at_tokens": now.levels.auto if now.levels else None,
        "parts": to_builtins(parts),
    }
    window = f"{tokens(size)} tokens" if size else "unknown"
    if now.context is None:
        return Reply(f"in use     nothing was sent yet\nwindow     {window}", data)
    rows = [f"in use     {tokens(now.context)} tokens", f"window     {window}"]
    if size:
        full = min(now.context / size, 1.0)
        rows.append(f"[{'#' * round(full * _BAR):<{_BAR}}] {full:.0%}")
    if now.levels:
        rows.append(f"room       is made at {tokens(now.levels.auto)} tokens; /compact makes it now")
    shares = (
        ("system text and tools", parts.head),
        ("you and notices", parts.said),
        ("the model's answers and calls", parts.answers),
        ("results of calls", parts.results),
        ("summary of what was before", parts.summary),
    )
    rows += [f"about      {tokens(count)} {what}" for what, count in shares if count]
    return Reply("\n".join(rows), data)

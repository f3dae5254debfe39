"""/doctor: the checks of `agenyx doctor`, for the settings of this conversation."""

from __future__ import annotations

from agenyx.ui.repl.commands.context import Context

_SIGNS = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}


async def doctor(ctx: Context, args: str) -> None:
    from agenyx.app.doctor import examine  # brings much that a conversation does not need

    checks = await examine(ctx.settings, ctx.env, offline=False)
    width = max(len(check.name) for check in checks)
    rows = [f"{_SIGNS[check.state]}  {check.name:<{width}}  {check.text}" for check in checks]
    fixes = [f"{check.name}: {check.fix}" for check in checks if check.fix and check.state != "ok"]
    ctx.out.say("\n".join([*rows, *fixes]))

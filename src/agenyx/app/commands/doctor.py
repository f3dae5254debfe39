"""/doctor: the checks of `agenyx doctor`, for the settings of this conversation."""

from __future__ import annotations

from agenyx.app.commands.spec import Desk, Reply
from agenyx.app.commands.status import facts

_SIGNS = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}


async def run(desk: Desk, args: str) -> Reply:
    from agenyx.app.doctor import examine  # brings much that a conversation does not need

    settings = desk.conversation.parts.source.settings
    checks = await examine(settings, desk.env, offline=False)
    width = max(len(check.name) for check in checks)
    rows = [f"{_SIGNS[check.state]}  {check.name:<{width}}  {check.text}" for check in checks]
    fixes = [f"{check.name}: {check.fix}" for check in checks if check.fix and check.state != "ok"]
    now = facts(desk)
    data = {
        "product": "agenyx",
        "installation": checks[0].text,
        "platform": now["platform"],
        "provider": now["provider"],
        "model": now["model"],
        "authentication": "configured (redacted)" if desk.conversation.parts.source.model.secrets else "none",
        "policy": now["mode"],
        "sandbox": next((check.text for check in checks if check.name == "sandbox"), ""),
        "workspace_trust": now["workspace_trusted"],
        "ok": all(check.state != "fail" for check in checks),
        "checks": [
            {"name": check.name, "state": check.state, "text": check.text, "fix": check.fix} for check in checks
        ],
    }
    return Reply("\n".join([*rows, *fixes]), data)

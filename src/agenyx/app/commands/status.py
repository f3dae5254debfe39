"""/status: what session, model and workspace this is, and what it can do (fields: AgentX §1.9)."""

from __future__ import annotations

import os
from typing import Any

from agenyx.app.commands.spec import Desk, Reply
from agenyx.app.commands.wording import rows, usage_data, usage_text
from agenyx.app.facts import efforts_of
from agenyx.app.trust import is_trusted
from agenyx.core.errors import AgenyxError


async def run(desk: Desk, args: str) -> Reply:
    now, data = desk.conversation.status(), facts(desk)
    can = [name for name, there in data["features"].items() if there]
    text = rows(
        {
            "session": now.session_id + ("" if now.persistent else " (in memory only)"),
            "workspace": now.workspace + (" (trusted)" if data["workspace_trusted"] else ""),
            "branch": now.branch,
            "model": f"{now.model} ({now.profile})",
            "effort": now.effort,
            "mode": now.mode,
            "tools": f"{data['tool_count']}{': ' if can else ''}{', '.join(can)}",
            "tokens": usage_text(now.usage) if now.usage else "",
        }
    )
    return Reply(text, data)


def facts(desk: Desk) -> dict[str, Any]:
    """The report for programs."""
    now, parts = desk.conversation.status(), desk.conversation.parts
    source, system = parts.source, os.uname()
    profile, registry = source.model.profile, parts.registry
    return {
        "session_id": now.session_id,
        "persistent": now.persistent,
        "provider": profile.id,
        "provider_type": profile.type,
        "model": now.model,
        "reasoning_effort": now.effort or None,
        "supported_efforts": list(efforts_of(profile, now.model, desk.home)),
        "mode": now.mode,
        "projected_items": len(source.session.state.view.entries),
        "workspace": now.workspace,
        "workspace_trusted": _trusted(desk),
        "branch": now.branch or None,
        "tool_count": len(registry.names()),
        "platform": f"{system.sysname} {system.machine}",
        "usage": usage_data(now.usage),
        "features": {name: registry.find(tool) is not None for name, tool in _FEATURES.items()},
    }


_FEATURES = {
    "shell": "Bash",
    "background tasks": "TaskOutput",
    "web": "WebFetch",
    "subagents": "Task",
    "skills": "Skill",
    "memory": "Memory",
}
"""What a conversation can do, and the tool that it takes."""


def _trusted(desk: Desk) -> bool:
    source = desk.conversation.parts.source
    if source.settings.trust:
        return True
    try:
        return is_trusted(desk.home, source.root.path)
    except AgenyxError:
        return False

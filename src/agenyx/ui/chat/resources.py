"""The resources of MCP servers that a prompt can name as `@server:uri`."""

from __future__ import annotations

import re

from agenyx.core.errors import AgenyxError
from agenyx.ui.chat.commands.context import Context

_NAMED = re.compile(r"[A-Za-z0-9][\w.-]{0,127}:\S{1,2048}")  # what is found again in a prompt (`app/mcp_person`)


def resources_of(ctx: Context) -> list[tuple[str, str]]:
    """Each as it stands behind `@`, with a few words about it; [] where there are none, or no conversation yet."""
    try:
        servers = ctx.desk.conversation.mcp
    except AgenyxError:
        return []
    if servers is None:
        return []
    return [
        (f"{name}:{one.uri}", " ".join((one.description or one.name).split()))
        for name, found in servers.servers.resources.items()
        for one in found
        if not one.template and _NAMED.fullmatch(f"{name}:{one.uri}")
    ]

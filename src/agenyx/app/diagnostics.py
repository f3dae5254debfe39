"""What happens in a conversation beside its events, told for diagnostics: hooks, processes and MCP servers.

Only names of events and states, numbers and times: never a command, what goes in, or what comes out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agenyx.app.runtime import Conversation
    from agenyx.ext.hooks.model import Entry, HookResult

Tell = Callable[[str, dict[str, str | int]], None]
"""Takes the name of a stage and its fields."""


def attach(conversation: Conversation, tell: Tell) -> None:
    """Have `tell` hear of it from now on, beside who does already."""
    before, conversation.diagnosed = conversation.hooks.heard, tell

    def hook(number: int, entry: Entry, result: HookResult | None) -> None:
        if before is not None:
            before(number, entry, result)
        fields: dict[str, str | int] = {"hook": number, "event": entry.event, "kind": entry.kind}
        if result is None:
            tell("hook started", fields)
            return
        sizes = {"output_chars": len(result.output), "errors_chars": len(result.errors)}
        how = {"code": result.code, "failed": int(bool(result.failure)), "duration_ms": round(result.seconds * 1000)}
        tell("hook completed", {**fields, **sizes, **how})

    def server(name: str, state: str) -> None:
        tell("mcp server", {"server": name, "state": state})

    conversation.hooks.heard = hook
    conversation.parts.source.processes.heard = lambda stage, fields: tell(stage, {**fields})
    if conversation.mcp is not None:
        conversation.mcp.listen(server)

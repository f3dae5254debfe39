"""MCP servers that live in the host: their JSON-RPC goes through `mcp_message`, all else is as for a program's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from agenyx.app.mcp_inside import HandlerLine, Inside, Opener
from agenyx.app.runtime import Conversation
from agenyx.core import json
from agenyx.ui.wire.asks import Asks
from agenyx.ui.wire.outbound import JsonObject

_MOST = 128


def named(given: object, config: str) -> tuple[tuple[str, ...], str]:
    """The servers in the host, from `initialize` (a list or map of names) and from the JSON text of --mcp-config; and
    that text without them."""
    names = [str(name) for name in cast("list[Any]", given)] if isinstance(given, list | dict) else []
    if config.lstrip().startswith("{"):
        with suppress(json.JsonError):
            document = cast("JsonObject", json.decode(config))
            servers = cast("JsonObject", document.get("mcpServers") or {})
            inside = [name for name, one in servers.items() if _kind(one) == "sdk"]
            if inside:
                names += inside
                rest = {name: one for name, one in servers.items() if name not in inside}
                config = json.encode({**document, "mcpServers": rest}).decode() if rest else ""
    return tuple(dict.fromkeys(names))[:_MOST], config


def _kind(one: object) -> object:
    return cast("JsonObject", one).get("type") if isinstance(one, dict) else None


class HostServers(Inside):
    """The servers of the host in one conversation."""

    def __init__(self, names: Sequence[str], asks: Asks, conversation: Conversation, env: Mapping[str, str]) -> None:
        def opener(name: str) -> Opener:
            async def carry(message: JsonObject) -> JsonObject | None:
                request: JsonObject = {"subtype": "mcp_message", "server_name": name, "message": message}
                answer = (await asks.ask(request)).get("mcp_response")
                return cast("JsonObject", answer) if isinstance(answer, dict) else None

            return lambda feed: HandlerLine(carry, feed)

        super().__init__({name: opener(name) for name in names}, conversation, env)

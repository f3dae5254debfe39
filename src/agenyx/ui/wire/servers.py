"""MCP servers that live in the host: their JSON-RPC goes through `mcp_message`, all else is our usual client.

A connection looks like a child process to the client (`Duplex`); there is none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from agenyx.app.release import version
from agenyx.app.runtime import Conversation
from agenyx.core import json
from agenyx.core.errors import AgenyxError
from agenyx.ext.mcp.config import ServerConfig
from agenyx.ext.mcp.connection import Host
from agenyx.ext.mcp.names import PREFIX, tool_names
from agenyx.ext.mcp.server import Server
from agenyx.ext.mcp.tools import McpTool
from agenyx.proc.spawn import Processes, Spawn
from agenyx.ui.wire.asks import Asks, HostError
from agenyx.ui.wire.outbound import JsonObject

_MOST = 128
_INTERNAL = -32603


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


class _Line:
    """What the client takes for the child of one server."""

    def __init__(self, name: str, asks: Asks, feed: Callable[[bytes], None]) -> None:
        loop = asyncio.get_running_loop()
        self._name, self._asks, self._feed = name, asks, feed
        self.over: asyncio.Future[None] = loop.create_future()
        self.exited: asyncio.Future[int] = loop.create_future()
        self.errors = b""
        self._tasks: set[asyncio.Task[None]] = set()

    def write(self, data: bytes) -> None:
        for line in data.splitlines():
            if not self.over.done():
                task = asyncio.ensure_future(self._carry(cast("JsonObject", json.decode(line))))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _carry(self, message: JsonObject) -> None:
        request: JsonObject = {"subtype": "mcp_message", "server_name": self._name, "message": message}
        ident = message.get("id")
        try:
            answer = (await self._asks.ask(request)).get("mcp_response")
        except HostError as error:
            problem = {"code": _INTERNAL, "message": error.message}
            answer = {"jsonrpc": "2.0", "id": ident, "error": problem}
        if ident is not None and isinstance(answer, dict):
            self._feed(json.encode(cast("JsonObject", answer)) + b"\n")

    async def stop(self, grace: float = 0.0) -> None:
        for task in tuple(self._tasks):
            task.cancel()
        if not self.over.done():
            self.exited.set_result(0)
            self.over.set_result(None)


class _Lines:
    """In place of `Processes`: a connection in the place of a child."""

    def __init__(self, asks: Asks) -> None:
        self._asks = asks

    async def talk(self, spawn: Spawn, feed: Callable[[bytes], None]) -> _Line:
        return _Line(str(spawn.argv[0]), self._asks, feed)


class HostServers:
    """The servers of the host in one conversation; their tools stand in its registry like all others."""

    def __init__(self, names: Sequence[str], asks: Asks, conversation: Conversation, env: Mapping[str, str]) -> None:
        source = conversation.parts.source
        host = Host(cast("Processes", _Lines(asks)), source.root.path, env, source.model.secrets, version())
        self._conversation = conversation
        self.servers = [Server(ServerConfig(name, name, source="argv"), host, self._changed) for name in names]

    async def connect(self, tell: Callable[[str], None]) -> None:
        """Agree with each and take its tools on. One that fails is told and left out."""

        async def one(server: Server) -> None:
            try:
                await server.connect()
            except AgenyxError as error:
                tell(error.message)

        await asyncio.gather(*(one(server) for server in self.servers))
        registry = self._conversation.parts.registry
        for server in self.servers:
            names = tool_names(server.config.slug, (info.name for info in server.tools()))
            tools = [McpTool(names[info.name], server, info) for info in server.tools()]
            before = (*registry.names(), *registry.hidden())  # what stands in for the tools of a stored head
            registry.remove(*(name for name in before if name.startswith(f"{PREFIX}{server.config.slug}__")))
            registry.add(*cast("list[Any]", tools))

    async def close(self) -> None:
        for server in self.servers:
            await server.close()

    def _changed(self, server: Server, what: str) -> None:
        """The tools of a host stay what they were: the host made them before the session began."""

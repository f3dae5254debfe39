"""MCP servers that live in the program that embeds us: their messages are handed over as values, all else is our usual
client. A connection looks like a child process to the client; there is none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, cast

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

Message = dict[str, Any]
Handler = Callable[[Message], Awaitable[Message | None]]
"""Takes one message of JSON-RPC and gives the answer to it, None for a notification."""
_INTERNAL = -32603


class Line(Protocol):
    """What the client takes for the child of one server: `feed` of its maker gets lines of JSON from then on."""

    over: asyncio.Future[None]
    exited: asyncio.Future[int]
    errors: bytes

    def write(self, data: bytes) -> None: ...

    async def stop(self, grace: float = 0.0) -> None: ...


Opener = Callable[[Callable[[bytes], None]], Line]
"""Opens a connection: it is given what takes the bytes that the server says."""


class HandlerLine:
    """A server that is a function, asked once for each message; several may be under way."""

    def __init__(self, handler: Handler, feed: Callable[[bytes], None]) -> None:
        loop = asyncio.get_running_loop()
        self._handler, self._feed = handler, feed
        self.over: asyncio.Future[None] = loop.create_future()
        self.exited: asyncio.Future[int] = loop.create_future()
        self.errors = b""
        self._tasks: set[asyncio.Task[None]] = set()

    def write(self, data: bytes) -> None:
        for line in data.splitlines():
            if not self.over.done():
                task = asyncio.ensure_future(self._carry(cast("Message", json.decode(line))))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _carry(self, message: Message) -> None:
        ident, answer = message.get("id"), cast("Message | None", None)
        try:
            answer = await self._handler(message)
            line = json.encode(answer)
        except Exception as error:  # noqa: BLE001 - the rim around code of the program: its errors are data
            said = error.message if isinstance(error, AgenyxError) else f"{type(error).__name__}: {error}"
            problem = {"code": _INTERNAL, "message": json.scrub(said)}
            answer = {"jsonrpc": "2.0", "id": ident, "error": problem}
            line = json.encode(answer)
        if ident is not None and answer is not None and not self.over.done():
            self._feed(line + b"\n")

    async def stop(self, grace: float = 0.0) -> None:
        for task in tuple(self._tasks):
            task.cancel()
        if not self.over.done():
            self.exited.set_result(0)
            self.over.set_result(None)


class _Lines:
    """In place of `Processes`: a connection in the place of a child."""

    def __init__(self, openers: Mapping[str, Opener]) -> None:
        self._openers = openers

    async def talk(self, spawn: Spawn, feed: Callable[[bytes], None]) -> Line:
        return self._openers[str(spawn.argv[0])](feed)


class Inside:
    """The servers of the program in one conversation; their tools stand in its registry like all others."""

    def __init__(self, openers: Mapping[str, Opener], conversation: Conversation, env: Mapping[str, str]) -> None:
        source = conversation.parts.source
        host = Host(cast("Processes", _Lines(openers)), source.root.path, env, source.model.secrets, version())
        self._conversation = conversation
        self.servers = [Server(ServerConfig(name, name, source="argv"), host, self._changed) for name in openers]

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
        """The tools stay what they were: the program made them before the session began."""

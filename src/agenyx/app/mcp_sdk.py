"""Servers of the official Python SDK (`mcp`, 1 and 2) that run in this process, each in a task of its own.

The SDK is the program's own dependency: it made the server, so it is there. Nothing of it is imported before.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any

from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.ext.mcp.wire import NO_METHOD

_INNER = ("_lowlevel_server", "_mcp_server")  # of MCPServer (2) and FastMCP (1)


def lowlevel(server: object) -> Any:
    """The server that speaks the protocol, of what the SDK calls one. Raises UsageError for anything else."""
    for candidate in (server, *(getattr(server, name, None) for name in _INNER)):
        if callable(getattr(candidate, "create_initialization_options", None)):
            return candidate
    raise UsageError(
        f"{type(server).__name__} is no MCP server",
        "Give a server of the `mcp` package, an async function that answers messages, or a mapping with a command.",
    )


class SdkLine:
    """A running server of the SDK. `feed` gets its lines."""

    def __init__(self, server: Any, feed: Callable[[bytes], None]) -> None:
        loop = asyncio.get_running_loop()
        self._server, self._feed = server, feed
        self.over: asyncio.Future[None] = loop.create_future()
        self.exited: asyncio.Future[int] = loop.create_future()
        self.errors = b""
        self._out: asyncio.Queue[bytes] = asyncio.Queue()
        self._task = asyncio.ensure_future(self._live())

    def write(self, data: bytes) -> None:
        for line in data.splitlines():
            self._out.put_nowait(line)

    async def stop(self, grace: float = 0.0) -> None:
        self._task.cancel()
        await asyncio.wait((self._task,))
        self._end(0)

    async def _live(self) -> None:
        try:
            await self._serve()
            self._end(0)
        except Exception as error:  # noqa: BLE001 - the rim around a server of the program
            self.errors = f"{type(error).__name__}: {error}".encode("utf-8", "replace")
            self._end(1)

    async def _serve(self) -> None:
        memory: Any = import_module("mcp.shared.memory")
        message: Any = import_module("mcp.shared.message").SessionMessage
        types: Any = import_module("mcp.types")
        adapter: Any = import_module("pydantic").TypeAdapter(types.JSONRPCMessage)
        knows = hasattr(types, "DiscoverRequest")  # the first generation logs a page about what it does not know
        streams: Any = memory.create_client_server_memory_streams()
        server, sides = self._server, list[asyncio.Future[None]]()
        async with streams as (ours, theirs):
            client_read: Any = ours[0]
            client_write: Any = ours[1]

            async def send() -> None:
                while True:
                    line = await self._out.get()
                    if not knows and (refused := _refused(line)):
                        self._feed(refused)
                        continue
                    with suppress(ValueError):  # what it does not know, it is not told
                        await client_write.send(message(adapter.validate_json(line)))

            async def receive() -> None:
                async for said in client_read:
                    if not isinstance(said, Exception):
                        self._feed(said.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")

            sides += [asyncio.ensure_future(side()) for side in (send, receive)]
            try:
                await server.run(theirs[0], theirs[1], server.create_initialization_options())
            finally:
                for side in sides:
                    side.cancel()
                await asyncio.gather(*sides, return_exceptions=True)

    def _end(self, code: int) -> None:
        if not self.over.done():
            self.exited.set_result(code)
            self.over.set_result(None)


def _refused(line: bytes) -> bytes:
    """The answer to what asks for the newer protocol, b"" for anything else."""
    asked: Any = json.decode(line)
    if asked.get("method") != "server/discover":
        return b""
    error = {"code": NO_METHOD, "message": "Method not found"}
    return json.encode({"jsonrpc": "2.0", "id": asked.get("id"), "error": error}) + b"\n"

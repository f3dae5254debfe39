"""One configured server over its whole life: connecting, its lists, calls, and coming back after it ended.

Owns the state that people see. A server that ended is started again with the next use, a few times and slower each
time; a call that was under way is never repeated. Knows no tool of ours, no policy and no surface.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from agenyx.ext.mcp import answers, listing
from agenyx.ext.mcp.config import ServerConfig
from agenyx.ext.mcp.connection import Connection, Host
from agenyx.ext.mcp.handshake import Agreed
from agenyx.ext.mcp.model import (
    CallAnswer,
    Contents,
    McpError,
    OnProgress,
    PromptInfo,
    PromptMessage,
    Resource,
    Standing,
    State,
    ToolInfo,
)
from agenyx.ext.mcp.wire import NO_METHOD

RESTARTS = 3  # in a row, by themselves
BACKOFF = (0.2, 1.0, 3.0)  # seconds since it ended
STEADY = 60.0  # seconds after which an end is no longer one in a row
TOTAL = 6  # times the tool timeout, for a call that tells of progress
_COALESCE = 0.2  # seconds between two looks at a list that keeps changing


class Server:
    """`changed` hears of the server and what is new: "state", "tools", "prompts" or "resources"; it must not raise.

    All methods that ask raise McpError with the server's name in its words.
    """

    def __init__(self, config: ServerConfig, host: Host, changed: Callable[[Server, str], None]) -> None:
        self.config, self._host, self._changed = config, host, changed
        self.state: State = "idle"
        self.why = "it is disabled" if config.disabled else ""
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()
        self._agreed = Agreed("", {})
        self._tools: dict[str, ToolInfo] = {}
        self._problems: tuple[str, ...] = ()
        self._restarts, self._ready_at, self._lost_at = 0, 0.0, 0.0
        self._stale: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._endings: set[asyncio.Task[None]] = set()

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def instructions(self) -> str:
        """What the server says about its use, cleaned; "" before it was ready. Data, not orders."""
        return self._agreed.instructions

    @property
    def standing(self) -> Standing:
        return Standing(
            self.name,
            self.config.slug,
            self.state,
            self.why,
            len(self._tools),
            self._agreed.title,
            self._agreed.revision,
            self._problems,
        )

    def tools(self) -> tuple[ToolInfo, ...]:
        """Those it listed last, also while it is down: a call starts it again."""
        return tuple(self._tools.values())

    def tool(self, name: str) -> ToolInfo | None:
        return self._tools.get(name)

    async def connect(self) -> None:
        """Start it, or start it anew; earlier failures are forgotten. Raises McpError."""
        if self.state == "closed":
            raise self._told(McpError("it was closed"))
        self._restarts = 0
        async with self._connecting:
            await self._drop()
            await self._connect()

    async def call(self, tool: str, arguments: dict[str, Any], on_progress: OnProgress | None = None) -> CallAnswer:
        """Call a tool by the server's own name for it. When the task is cancelled the server is told."""
        limit = self.config.tool_timeout
        params = {"name": tool, "arguments": arguments}
        try:
            connection = await self._ready()
            if tool not in self._tools:
                raise McpError(f"it has no tool named {tool!r} any more")
            answer = await connection.ask(
                "tools/call", params, limit, total=limit * TOTAL, on_progress=on_progress or _unheard
            )
        except McpError as error:
            raise self._told(error) from None
        return answers.called(answer)

    async def resources(self) -> tuple[Resource, ...]:
        """Its resources and templates; () where it has none."""
        if not await self._offers("resources"):
            return ()
        found = listing.resources(await self._pages("resources/list", "resources"))
        templates = await self._pages("resources/templates/list", "resourceTemplates", needed=False)
        return found + listing.resources(templates, template=True)

    async def read_resource(self, uri: str) -> tuple[Contents, ...]:
        return answers.contents(await self._ask("resources/read", {"uri": uri}))

    async def prompts(self) -> tuple[PromptInfo, ...]:
        if not await self._offers("prompts"):
            return ()
        return listing.prompts(await self._pages("prompts/list", "prompts"))

    async def get_prompt(self, name: str, arguments: dict[str, str]) -> tuple[PromptMessage, ...]:
        return answers.prompted(await self._ask("prompts/get", {"name": name, "arguments": arguments}))

    async def ping(self) -> None:
        try:
            await (await self._ready()).ping()
        except McpError as error:
            raise self._told(error) from None

    async def close(self) -> None:
        """End it for good, in about a second at most. Twice is no error."""
        self._set("closed", "it was closed")
        for task in tuple(self._tasks):
            task.cancel()
        await self._drop()
        if self._endings:
            await asyncio.wait(tuple(self._endings))

    # --- connecting -------------------------------------------------------------------------------------------------

    async def _ready(self) -> Connection:
        """The connection, after starting the server again if it has ended. Raises McpError."""
        async with self._connecting:
            if self.state == "ready" and self._connection is not None:
                return self._connection
            if self.state not in ("down", "idle") or self.config.disabled:
                raise McpError(self.why or "it is not connected", "The user can connect it again with /mcp.")
            if self.state == "down":
                await asyncio.sleep(max(0.0, self._lost_at + BACKOFF[self._restarts - 1] - time.monotonic()))
            await self._connect()
            assert self._connection is not None
            return self._connection

    async def _connect(self) -> None:
        self._set("starting", "it is starting")
        limit = self.config.connect_timeout
        try:
            async with asyncio.timeout(limit):
                connection = await self._opened()
                self._agreed = connection.agreed
                if connection.agreed.has("tools"):
                    await self._list(connection)
        except (McpError, TimeoutError) as error:
            await self._drop()
            told = error if isinstance(error, McpError) and not error.timed_out else _late(limit)
            self._fail(told)
            raise self._told(told) from None
        except asyncio.CancelledError:
            await self._drop()
            if self.state == "starting":
                self._set("idle", "connecting was stopped")
            raise
        self._ready_at = time.monotonic()
        self._set("ready", "")
        self._changed(self, "tools")

    async def _opened(self) -> Connection:
        first = self._connection = self._new()
        try:
            await first.open()
            return first
        except McpError:
            if not first.ended_early or self.state != "starting":
                raise
        # Some older servers end when they are asked something before the handshake.
        second = self._connection = self._new()
        await second.open(probe=False)
        return second

    def _new(self) -> Connection:
        def changed(what: str) -> None:
            if self._connection is made:
                self._stir(what)

        def lost(why: str) -> None:
            if self._connection is made and self.state == "ready":
                self._lose(made, why)

        made = Connection(self.config, self._host, changed, lost)
        return made

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    def _lose(self, connection: Connection, why: str) -> None:
        if time.monotonic() - self._ready_at > STEADY:
            self._restarts = 0
        self._connection = None
        self._do(connection.close(), self._endings)  # what it started may live on
        self._fail(McpError(why))

    def _fail(self, error: McpError) -> None:
        """It ended, or did not come up: it may come back a few times if it was up before."""
        self._lost_at = time.monotonic()
        again = self._ready_at > 0 and self._restarts < RESTARTS
        self._restarts += again
        if self.state != "closed":
            self._set("down" if again else "failed", error.message)

    # --- lists ------------------------------------------------------------------------------------------------------

    async def _list(self, connection: Connection) -> None:
        """Where the server refuses, what it listed before stays: the rest may be of use all the same."""
        try:
            found, self._problems = listing.tools(await connection.pages("tools/list", "tools"))
        except McpError as error:
            if not error.code:
                raise
            self._problems = (f"its tools could not be listed: {error.message}",)
        else:
            self._tools = {tool.name: tool for tool in found}

    def _stir(self, what: str) -> None:
        """A list has changed. However often it is told, it is looked at a few times a second."""
        if what not in self._stale:
            self._stale.add(what)
            self._do(self._refresh(what), self._tasks)

    async def _refresh(self, what: str) -> None:
        await asyncio.sleep(_COALESCE)
        self._stale.discard(what)
        connection = self._connection
        if connection is not None and self.state == "ready":
            if what == "tools":
                with suppress(McpError):  # it has ended, which its state tells
                    await self._list(connection)
            self._changed(self, what)

    async def _offers(self, what: str) -> bool:
        try:
            return (await self._ready()).agreed.has(what)
        except McpError as error:
            raise self._told(error) from None

    async def _pages(self, method: str, key: str, needed: bool = True) -> list[Any]:
        try:
            return await (await self._ready()).pages(method, key)
        except McpError as error:
            if error.code == NO_METHOD or (error.code and not needed):
                return []
            raise self._told(error) from None

    async def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        try:
            return await (await self._ready()).ask(method, params, self.config.request_timeout)
        except McpError as error:
            raise self._told(error) from None

    # --- the rest ---------------------------------------------------------------------------------------------------

    def _set(self, state: State, why: str) -> None:
        if (self.state, self.why) != (state, why):
            self.state, self.why = state, why
            self._changed(self, "state")

    def _told(self, error: McpError) -> McpError:
        head = f"The MCP server {self.name!r}: "
        message = error.message if error.message.startswith(head) else head + error.message
        return McpError(message, error.fix, code=error.code, unsure=error.unsure, timed_out=error.timed_out)

    def _do(self, body: Coroutine[Any, Any, None], among: set[asyncio.Task[None]]) -> None:
        task = asyncio.ensure_future(body)
        among.add(task)
        task.add_done_callback(among.discard)


def _late(seconds: float) -> McpError:
    return McpError(f"it was not ready within {seconds:g} seconds", "Its connect_timeout may be raised.")


def _unheard(_progress: object) -> None:
    pass

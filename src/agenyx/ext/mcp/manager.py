"""All MCP servers of one session: started in the background, their tools as ours, and what changed about them.

Nothing here is awaited before the prompt is usable. Knows no registry: whoever owns one hears of changes and takes
`tools()`. Approvals of servers are asked elsewhere; what is handed in may run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress

from agenyx.ext.mcp.config import ServerConfig
from agenyx.ext.mcp.connection import Host
from agenyx.ext.mcp.model import Change, McpError, Standing
from agenyx.ext.mcp.names import tool_names
from agenyx.ext.mcp.server import Server
from agenyx.ext.mcp.tools import McpTool

AT_ONCE = 8  # servers that start together
CLOSE = 2.0  # seconds in which all of them are gone


class Manager:
    """`changed` hears of new, gone and altered tools and of servers' states; it is called from the event loop and must
    not raise. `known` maps full names of tools to the hash under which they were accepted in earlier sessions: a tool
    with another hash asks again, whatever rules say, until it was used once. `hashes` is what to keep for the next."""

    def __init__(
        self,
        configs: Iterable[ServerConfig],
        host: Host,
        changed: Callable[[Change], None],
        known: Mapping[str, str] | None = None,
    ) -> None:
        self._host, self._changed = host, changed
        self._servers = {config.name: Server(config, host, self._heard) for config in configs}
        self._accepted: dict[str, str] = dict(known or {})
        self._tools: dict[str, dict[str, McpTool]] = {}
        self._begun: set[Server] = set()
        self._starting: list[asyncio.Task[None]] = []
        self._places = asyncio.Semaphore(AT_ONCE)
        self._closed = False

    def start(self) -> None:
        """Let every server start that is not disabled. Returns at once."""
        for server in self._servers.values():
            if not server.config.disabled and server not in self._begun:
                self._begun.add(server)
                self._starting.append(asyncio.ensure_future(self._bring(server)))

    def add(self, config: ServerConfig) -> Server:
        """One server more, such as one that was approved just now; it is started in the background as well.

        Of a name that is taken already, the server that has it is returned.
        """
        known = self.server(config.name) or self.server(config.slug)
        if known is None:
            known = self._servers[config.name] = Server(config, self._host, self._heard)
            self.start()
        return known

    async def remove(self, name: str) -> None:
        """End a server and take its tools away; its change says which. A name that is none is no error."""
        server = self.server(name)
        if server is not None:
            del self._servers[server.name]
            self._begun.discard(server)
            gone = tuple(self._tools.pop(server.name, {}))
            await server.close()
            if not self._closed:
                self._changed(Change(server.name, removed=gone, state="closed"))

    async def wait(self, seconds: float) -> None:
        """Until all servers are ready or have failed, or the time is up; the slow ones go on starting."""
        if waiting := [task for task in self._starting if not task.done()]:
            await asyncio.wait(waiting, timeout=seconds)

    def server(self, name: str) -> Server | None:
        """By its name or slug, in any letter case."""
        folded = name.casefold()
        for server in self._servers.values():
            if folded in (server.name.casefold(), server.config.slug.casefold()):
                return server
        return None

    def servers(self) -> tuple[Server, ...]:
        return tuple(self._servers.values())

    def ready(self) -> tuple[Server, ...]:
        return tuple(server for server in self._servers.values() if server.state == "ready")

    def states(self) -> tuple[Standing, ...]:
        return tuple(server.standing for server in self._servers.values())

    def tools(self) -> tuple[McpTool, ...]:
        """The tools of all servers that were ready once, in the order of the servers and of their lists."""
        return tuple(tool for found in self._tools.values() for tool in found.values())

    def tool(self, name: str) -> McpTool | None:
        """By the full name."""
        return next((found[name] for found in self._tools.values() if name in found), None)

    def hashes(self) -> dict[str, str]:
        """The hash under which each tool was accepted, by full name, those of earlier sessions included."""
        return dict(self._accepted)

    async def reconnect(self, name: str) -> None:
        """Start a server anew, however often it failed. Raises McpError, also for a name that is none."""
        server = self.server(name)
        if server is None:
            known = ", ".join(self._servers) or "none"
            raise McpError(f"There is no MCP server named {name!r}", f"The servers are: {known}.")
        await server.connect()

    async def close(self) -> None:
        """End all of them with everything they started, in two seconds at most."""
        self._closed = True
        for task in self._starting:
            task.cancel()
        closing = [asyncio.ensure_future(server.close()) for server in self._servers.values()]
        if closing:
            _, late = await asyncio.wait(closing, timeout=CLOSE)
            for task in late:
                task.cancel()  # whoever owns the processes ends their groups

    async def _bring(self, server: Server) -> None:
        async with self._places:
            with suppress(McpError):  # the server's state tells
                await server.connect()

    def _heard(self, server: Server, what: str) -> None:
        if self._closed or self._servers.get(server.name) is not server:
            return
        if what == "tools":
            self._changed(self._taken(server))
        else:
            self._changed(Change(server.name, state=server.state))

    def _taken(self, server: Server) -> Change:
        """Take over the tools that a server lists now, and say what is different."""
        before = self._tools.get(server.name, {})
        names = tool_names(server.config.slug, (info.name for info in server.tools()))
        now: dict[str, McpTool] = {}
        altered: list[str] = []
        for info in server.tools():
            name = names[info.name]
            old = before.get(name)
            same = old is not None and old.info == info
            now[name] = old if same and old else McpTool(name, server, info, self._known, self._accept)
            # What was never seen is accepted as it is; the call itself is asked about.
            if self._accepted.setdefault(name, info.sha256) != info.sha256 and not same:
                altered.append(name)
        self._tools[server.name] = now
        added = tuple(name for name in now if name not in before)
        removed = tuple(name for name in before if name not in now)
        return Change(server.name, added, removed, tuple(altered), server.state)

    def _known(self, name: str, sha256: str) -> bool:
        return self._accepted.get(name) == sha256

    def _accept(self, name: str, sha256: str) -> None:
        self._accepted[name] = sha256

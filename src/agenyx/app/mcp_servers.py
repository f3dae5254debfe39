"""The MCP servers of one conversation while they live: started beside everything else, waited for briefly, ended.

Knows no registry and no prompt: `mcp` gives the conversation what is here. The client is imported when it starts, and
then off the loop.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Generator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from agenyx.agent.ports import Approver
from agenyx.app.compose import Source
from agenyx.app.mcp_sources import Tell, key_of
from agenyx.config.home import home_path
from agenyx.core.errors import AgenyxError, ConfigError
from agenyx.ext.mcp.config import ServerConfig
from agenyx.ext.mcp.names import PREFIX

if TYPE_CHECKING:
    from agenyx.app.mcp_memory import Seen
    from agenyx.ext.mcp.manager import Manager
    from agenyx.ext.mcp.model import Change, PromptInfo, Resource, Standing
    from agenyx.ext.mcp.server import Server
    from agenyx.ext.mcp.tools import McpTool

_CLIENT = ("agenyx.ext.mcp.manager", "agenyx.app.mcp_memory", "agenyx.app.mcp_form", "agenyx.app.mcp_tools")


class Servers:
    """`changed` is called from the loop when tools, prompts or resources may be other ones than before."""

    def __init__(
        self,
        configs: Sequence[ServerConfig],
        source: Source,
        approver: Approver,
        changed: Callable[[], None],
        tell: Tell,
    ) -> None:
        self.configs, self._source, self._approver = tuple(configs), source, approver
        self._changed, self._tell = changed, tell
        self._manager: Manager | None = None
        self._moved = asyncio.Event()
        self._seen: dict[str, Seen] = {}  # what is known of each tool, by full name
        self._kept: dict[str, Seen] = {}  # the same as it stands in the home
        self.resources: dict[str, tuple[Resource, ...]] = {}  # by the server's name
        self.prompts: dict[str, tuple[PromptInfo, ...]] = {}
        self._calls: Counter[str] = Counter()  # that are under way, by the server's name
        self.looked: set[str] = set()  # of these it is known what they have besides tools
        self._looking: set[str] = set()  # servers that are being asked what they have besides tools
        self._tasks: set[asyncio.Task[None]] = set()
        self._begun = 0.0
        self._task: asyncio.Task[None] | None = None
        self._closed = False
        self.heard: Callable[[str, str], None] | None = None  # told of each server and its state, for diagnostics

    # --- life ------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to start them. Returns at once."""
        self._begun = time.monotonic()
        self._task = asyncio.ensure_future(self._bring())

    async def settle(self, seconds: float) -> tuple[str, ...]:
        """Wait for quick ones until so long after the start; the names of those that are still starting."""
        if self._task is None or self._closed:
            return ()
        await asyncio.wait((self._task,), timeout=self._left(seconds))
        if self._manager is None:
            return tuple(config.name for config in self.configs if not config.disabled)
        await self._manager.wait(self._left(seconds))
        if self._tasks and (left := self._left(seconds)):
            await asyncio.wait(tuple(self._tasks), timeout=left)
        return tuple(server.name for server in self._manager.servers() if _starts(server))

    async def close(self) -> None:
        """End all of them with everything they started."""
        self._closed = True
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait((self._task,))
        for task in self._tasks:
            task.cancel()
        if self._manager is not None:
            self._learn()
            await self._manager.close()
            self._keep()
        self._stir()

    async def reconnect(self, name: str) -> None:
        """Raises AgenyxError."""
        if self._task is not None:
            await asyncio.wait((self._task,))
        if self._manager is not None:
            await self._manager.reconnect(name)

    def _left(self, seconds: float) -> float:
        return max(0.0, self._begun + seconds - time.monotonic())

    async def _bring(self) -> None:
        try:
            await asyncio.to_thread(_imported)
            self._make()
        except Exception as error:  # noqa: BLE001 - the rim of a task that nobody awaits: the session goes on without
            self._tell(f"No MCP server could be started: {error}.", "See: agenyx mcp list --check")
        finally:
            self._stir()

    def _make(self) -> None:
        from agenyx.app.mcp_form import Forms
        from agenyx.app.mcp_memory import Memory
        from agenyx.app.release import version
        from agenyx.ext.mcp.connection import Host
        from agenyx.ext.mcp.manager import Manager

        source = self._source
        try:
            known = Memory(home_path(source.env)).load()
        except ConfigError as error:
            self._tell(f"{error.message}.", error.fix)
            known = {}
        mine = (known.get(key_of(config, source.root.path), {}) for config in self.configs)
        self._kept = {name: seen for tools in mine for name, seen in tools.items()}
        self._seen = dict(self._kept)
        host = Host(
            source.processes,
            source.root.path,
            source.env,
            source.model.secrets,
            version(),
            Forms(self._approver, lambda name: self._calls[name] > 0),
        )
        hashes = {name: seen.sha256 for name, seen in self._seen.items()}
        self._manager = Manager(self.configs, host, self._heard, hashes)
        self._manager.start()

    def _heard(self, change: Change) -> None:
        assert self._manager is not None
        if self.heard is not None:
            self.heard(change.server, change.state)
        server = self._manager.server(change.server)
        if server is None or self._closed:
            return
        if change.state == "failed":
            fix = f"/mcp reconnect {server.name} tries again; agenyx mcp test {server.name} shows more."
            self._tell(f"The MCP server {server.name!r} is not there: {server.why}.", fix)
        elif change.state == "ready":
            self._learn()
            quiet = not (change.added or change.removed or change.altered)
            if quiet and server.name not in self._looking:  # it is ready for the first time, or again
                self._looking.add(server.name)
                self._do(self._look(server))
        self._stir()

    async def _look(self, server: Server) -> None:
        """What it has besides tools. A server that cannot say has nothing."""
        try:
            with suppress(AgenyxError):
                self.resources[server.name] = await server.resources()
            with suppress(AgenyxError):
                self.prompts[server.name] = await server.prompts()
        finally:
            self._looking.discard(server.name)
            self.looked.add(server.name)
        self._stir()

    def _stir(self) -> None:
        self._moved.set()
        self._moved = asyncio.Event()
        self._changed()

    def _do(self, body: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(body)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- what there is ---------------------------------------------------------------------------------------------

    def states(self) -> tuple[Standing, ...]:
        return self._manager.states() if self._manager is not None else ()

    def ready(self) -> tuple[Server, ...]:
        return self._manager.ready() if self._manager is not None and not self._closed else ()

    def server(self, name: str) -> Server | None:
        return self._manager.server(name) if self._manager is not None else None

    def tools(self) -> tuple[McpTool, ...]:
        """In the order of the configuration, whichever server was there first."""
        if self._manager is None or self._closed:
            return ()
        order = {config.name: place for place, config in enumerate(self.configs)}
        return tuple(sorted(self._manager.tools(), key=lambda tool: order[tool.server.name]))

    def tool(self, name: str) -> McpTool | None:
        if self._manager is None or self._closed:
            return None
        tool = self._manager.tool(name)
        return tool if tool is not None and tool.server.state != "failed" else None

    async def awaited(self, name: str) -> McpTool | None:
        """The tool of that full name, after waiting for a server that is starting."""
        while True:
            moved = self._moved
            if (tool := self.tool(name)) is not None or not self.pending(name):
                return tool
            await moved.wait()

    def why_not(self, name: str) -> str:
        """Why there is no such tool, a sentence."""
        slug = _slug(name)
        server = self.server(slug)
        if server is None:
            return f"There is no MCP server {slug} any more: it is not configured, or not approved."
        if server.state != "ready":
            return f"The MCP server {server.name!r} is not there: {server.why or server.state}. The user can see to it."
        return f"The MCP server {server.name!r} has no tool {name} any more."

    def pending(self, name: str) -> bool:
        """Whether the server of that tool is still starting."""
        if self._closed or self._task is None:
            return False
        if self._manager is None:
            return not self._task.done()
        server = self._manager.server(_slug(name))
        return server is not None and _starts(server)

    # --- what is known of tools ------------------------------------------------------------------------------------

    def change(self, tool: McpTool) -> str:
        """A diff of what the tool says now against what was known of it, "" where that is the same."""
        from agenyx.app.mcp_memory import difference

        seen = self._seen.get(tool.name)
        return difference(seen.text, tool.info) if seen is not None and seen.sha256 != tool.info.sha256 else ""

    @contextmanager
    def calling(self, server: Server) -> Generator[None]:
        """While something is asked of a server. Afterwards what is known of its tools may be other than before."""
        self._calls[server.name] += 1
        try:
            yield
        finally:
            self._calls[server.name] -= 1
        self._learn()
        self._keep()

    def _learn(self) -> None:
        from agenyx.app.mcp_memory import Seen, text_of

        assert self._manager is not None
        accepted = self._manager.hashes()
        for tool in self._manager.tools():
            seen, sha256 = self._seen.get(tool.name), tool.info.sha256
            if accepted.get(tool.name) == sha256 and (seen is None or seen.sha256 != sha256):
                self._seen[tool.name] = Seen(sha256, text_of(tool.info))

    def _keep(self) -> None:
        """Store what is known, where it is more than what stands there. A home that takes nothing asks again later."""
        if self._seen == self._kept:
            return
        from agenyx.app.mcp_memory import Memory

        found: dict[str, dict[str, Seen]] = {}
        for config in self.configs:
            head = f"{PREFIX}{config.slug}__"
            mine = {name: seen for name, seen in self._seen.items() if name.startswith(head)}
            if mine:
                found[key_of(config, self._source.root.path)] = mine
        with suppress(AgenyxError):
            Memory(home_path(self._source.env)).keep(found)
            self._kept = dict(self._seen)


def _imported() -> None:
    for name in _CLIENT:
        import_module(name)


def _starts(server: Server) -> bool:
    return server.state == "starting" or (server.state == "idle" and not server.config.disabled)


def _slug(name: str) -> str:
    return name[len(PREFIX) :].partition("__")[0]

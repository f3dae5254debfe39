"""MCP in a conversation: which tools stand in the head, which are told of at the tail, resources and prompts.

The head of a session never changes for a server: what is there when the first request is made stands in it; what comes
later is told in a notice and called through McpCall.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from agenyx.agent.ports import Approver
from agenyx.app.commands.spec import Command
from agenyx.app.mcp_call import NAME, McpCall
from agenyx.app.mcp_choice import chosen
from agenyx.app.mcp_servers import Servers
from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.core.events import Notice
from agenyx.core.messages import Summary, User
from agenyx.core.tools import ToolSpec
from agenyx.ext.mcp.config import ServerConfig, secret_values
from agenyx.tools.spec import Outcome

if TYPE_CHECKING:
    from agenyx.app.mcp_notices import Item
    from agenyx.app.mcp_tools import Served
    from agenyx.app.runtime import Conversation
    from agenyx.session.records import Prefix

HEAD_BYTES = 48_000  # of tools of servers in the head, 4,000 for a small model
_SMALL = 4_000
_ROOM = 12_000  # characters in one notice
_ROUNDS = 12  # notices about one server in a session's process


class Mcp:
    """`configs` may be empty: then the session only has tools of servers in its stored head. Close it."""

    def __init__(
        self, conversation: Conversation, configs: Sequence[ServerConfig], approver: Approver, wait: float
    ) -> None:
        self._conversation, self._parts = conversation, conversation.parts
        self._approver, self._wait, self._settled = approver, wait, False
        self._said: dict[tuple[object, str], str] = {}
        self._rounds: dict[str, int] = {}  # notices so far, by server
        self._marked: dict[str, tuple[object, Any]] = {}
        self._secrets = set(secret_values(configs))
        self._listener: Callable[[str, str], None] | None = None
        self.servers = self._servers(configs)
        registry, prefix = self._parts.registry, self._parts.source.session.state.prefix
        if configs:
            registry.add(McpCall(self.describe, self._meet))
        if prefix is not None:
            self._stand_in(prefix)

    def _servers(self, configs: Sequence[ServerConfig]) -> Servers:
        made = Servers(configs, self._parts.source, self._approver, self._take, self._tell)
        made.heard = self._listener
        if configs:
            made.start()
        return made

    def listen(self, listener: Callable[[str, str], None]) -> None:
        """Have it told of each server and its state, for diagnostics."""
        self._listener = self.servers.heard = listener

    async def close(self) -> None:
        await self.servers.close()

    # --- for a turn ------------------------------------------------------------------------------------------------

    async def before(self, typed: User) -> list[User]:
        """Wait for quick servers before the first turn; the resources that a prompt names, as what comes behind it."""
        await self.settle()
        if self._makes_head():
            self._enter()
        if "@" not in typed.said:
            return []
        from agenyx.app.mcp_person import mentioned

        return await mentioned(self._conversation, self.servers, typed.said, self._tell)

    async def settle(self) -> None:
        """Wait for quick servers, once."""
        if self._settled:
            return
        slow = await self.servers.settle(self._wait)
        self._settled = True
        if slow:
            names = ", ".join(repr(name) for name in slow)
            one = len(slow) == 1
            text = f"The MCP server{'' if one else 's'} {names} {'is' if one else 'are'} still starting"
            self._parts.emit(Notice("warning", f"{text}; tools come as soon as they are there.", "/mcp shows it."))

    def notices(self) -> list[User]:
        """What the model is to be told now of tools and servers."""
        from agenyx.app.mcp_notices import known, news, of_server, of_spec, told

        state, registry = self._parts.source.session.state, self._parts.registry
        if self._makes_head() and not self._settled:
            return []
        head = registry.specs() if self._makes_head() or state.prefix is None else state.prefix.tools
        view = state.view
        summed = bool(view.entries) and isinstance(view.entries[0], Summary)
        period = (id(view), view.ids[0] if summed else "")  # a summary takes away what was told
        before = known(view.entries, head)
        before |= {name: mark for (when, name), mark in self._said.items() if when == period}
        now: dict[str, Item] = {}
        for server in self.servers.ready():
            if server.name not in self.servers.looked:
                continue  # said in one piece, a moment later
            count = len(self.servers.resources.get(server.name, ()))
            if item := of_server(server.config.slug, server.instructions, count):
                now[item.name] = item
        tools = self.servers.tools()
        for tool in tools:
            at, item = self._marked.get(tool.name, (None, None))
            if at is not tool:
                item = of_spec(tool.spec)
                self._marked[tool.name] = (tool, item)
            now[tool.name] = item
        there = {server.config.slug for server in self.servers.ready()}
        listed = {tool.name for tool in tools}
        gone = [name for name in before if name.startswith("mcp__") and name not in listed and _slug(name) in there]
        fresh = self._bounded(news(now, before, gone))
        if not fresh:
            return []
        self._said |= {(period, item.name): item.mark for item in fresh}
        return [told(fresh, _ROOM if self._parts.source.model.size != "small" else _SMALL // 2)]

    def _makes_head(self) -> bool:
        """Whether the head is still to be made, or to be made anew as it has no dispatcher."""
        prefix = self._parts.source.session.state.prefix
        return prefix is None or (bool(self.servers.configs) and all(spec.name != NAME for spec in prefix.tools))

    def _bounded(self, items: Sequence[Item]) -> list[Item]:
        """Without what is of servers that keep changing: they would fill the conversation."""
        slugs = {_slug(item.name) for item in items}
        for slug in slugs:
            self._rounds[slug] = self._rounds.get(slug, 0) + 1
            if self._rounds[slug] == _ROUNDS + 1:
                self._tell(f"The MCP server {slug} changes too often: the model is not told any more.", "")
        return [item for item in items if self._rounds[_slug(item.name)] <= _ROUNDS]

    def head(self, stored: Prefix) -> tuple[ToolSpec, ...] | None:
        """The tools for a session that goes on and never had servers, None where its head needs no other ones."""
        if not self._makes_head():
            return None
        ours = [spec for spec in self._parts.registry.specs() if spec.origin == "mcp" or spec.name == NAME]
        return (*stored.tools, *ours)

    # --- the registry ----------------------------------------------------------------------------------------------

    def _take(self) -> None:
        """Take on the tools that are new. None of them is in the head by that."""
        from agenyx.app.mcp_tools import Offer, Served

        registry = self._parts.registry
        add = cast("Callable[..., None]", registry.add)  # these have their names from servers
        add(*(Served(tool.name, self.servers) for tool in self.servers.tools()))
        for server in self.servers.ready():
            if self.servers.resources.get(server.name):
                add(*(Offer(kind, server, self.servers) for kind in ("resources.list", "resources.read")))
            if self.servers.prompts.get(server.name):
                add(Offer("prompts.get", server, self.servers))

    def _meet(self, name: str) -> None:
        """A call of a tool whose server is still starting waits for it."""
        if self._parts.registry.find(name) is None and self.servers.pending(name):
            from agenyx.app.mcp_tools import Served

            self._parts.registry.add(cast("Any", Served(name, self.servers)))

    def _stand_in(self, stored: Prefix) -> None:
        """The tools of the stored head are there from the start, whether their servers are or not."""
        if specs := [spec for spec in stored.tools if spec.origin == "mcp"]:
            from agenyx.app.mcp_tools import Served

            standing = [Served(spec.name, self.servers, spec, hidden=False) for spec in specs]
            self._parts.registry.add(*cast("list[Any]", standing))
        if any(spec.name == NAME for spec in stored.tools):
            self._parts.registry.add(McpCall(self.describe, self._meet))

    def _enter(self) -> None:
        """Put the tools that are there into the head, in the order of the configuration, as far as they find room."""
        from agenyx.app.mcp_tools import Served

        registry, left = self._parts.registry, HEAD_BYTES if self._parts.source.model.size != "small" else _SMALL
        entered: list[Served] = []
        for tool in self.servers.tools():
            left -= len(json.encode(tool.spec))
            entered.append(Served(tool.name, self.servers, hidden=left < 0))
        registry.remove(*(tool.name for tool in entered))
        registry.add(*cast("list[Any]", entered))

    def describe(self, name: str) -> Outcome:
        """What a tool takes, or which tools a server has."""
        tool = self.servers.tool(name)
        if tool is not None:
            return Outcome.ok(f"{name}\n{tool.spec.description}\narguments: {json.pretty(tool.spec.schema)}")
        server = self.servers.server(name.removeprefix("mcp__"))
        mine = [tool for tool in self.servers.tools() if tool.server is server]
        if server is None or not mine:
            return Outcome.error(self.servers.why_not(name), "unavailable")
        return Outcome.ok("\n".join(f"{tool.name}  {' '.join(tool.spec.description.split())[:100]}" for tool in mine))

    # --- the person ------------------------------------------------------------------------------------------------

    def commands(self) -> tuple[Sequence[Command], Sequence[str]]:
        """The prompts of servers as commands."""
        from agenyx.app.mcp_person import command

        found = [
            command(self._conversation, server, info)
            for server in self.servers.ready()
            for info in self.servers.prompts.get(server.name, ())
        ]
        return found, ()

    def rows(self) -> list[dict[str, object]]:
        """Where each server is, for people and programs."""
        standings = {one.name: one for one in self.servers.states()}
        found: list[dict[str, object]] = []
        for config in self.servers.configs:
            one = standings.get(config.name)
            row: dict[str, object] = {
                "name": config.name,
                "slug": config.slug,
                "scope": config.source,
                "state": one.state if one else "starting",
                "why": one.why if one else "",
                "tools": one.tools if one else 0,
                "title": one.title if one else "",
                "revision": one.revision if one else "",
                "problems": list(one.problems) if one else [],
                "resources": len(self.servers.resources.get(config.name, ())),
                "prompts": len(self.servers.prompts.get(config.name, ())),
            }
            found.append(row)
        return found

    async def reload(self) -> None:
        """Read the configuration anew and start its servers anew. Raises AgenyxError."""
        source, extensions = self._parts.source, self._conversation.extensions
        assert extensions is not None
        extensions.forget()
        from agenyx.config.home import home_path

        home = home_path(source.env)
        configs = await chosen(extensions, source.settings, source.env, home, self._approver, self._tell)
        if new := [config.name for config in configs if set(secret_values([config])) - self._secrets]:
            raise UsageError(
                f"the MCP servers {', '.join(new)} have secrets that this session does not know how to mask",
                "Begin anew: /clear, or start again.",
            )
        await self.servers.close()
        self.servers = self._servers(configs)
        if configs:
            self._parts.registry.add(McpCall(self.describe, self._meet))
        self._rebind()
        await self.servers.settle(self._wait)

    def _rebind(self) -> None:
        """The tools ask the servers that are there now."""
        from agenyx.app.mcp_tools import Offer, Served

        registry = self._parts.registry
        for name in (*registry.names(), *registry.hidden()):
            tool = registry.find(name)
            if isinstance(tool, Served):
                tool.servers = self.servers
            elif isinstance(tool, Offer):
                registry.remove(name)

    def _tell(self, text: str, fix: str) -> None:
        self._parts.emit(Notice("warning", text, fix))


def _slug(name: str) -> str:
    """The server of a tool's name, or of an item of the notices about a server itself."""
    return name.removeprefix("mcp__").removeprefix("server ").partition("__")[0]

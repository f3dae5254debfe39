"""Tools of MCP servers as the registry of a conversation holds them, also while their server is not there.

A tool in the stored head of a session stays callable by its name: the call waits for a server that is starting, and
says in words why there is none. Judging and running are those of `ext.mcp.tools`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import ClassVar, Literal, Protocol

from msgspec import Struct
from msgspec.structs import replace

from agenyx.core import json
from agenyx.core.tools import Effects, ToolSet, ToolSpec
from agenyx.core.tty import safe
from agenyx.ext.mcp.model import McpError
from agenyx.ext.mcp.result import resource_text, texts
from agenyx.ext.mcp.server import Server
from agenyx.ext.mcp.tools import OPAQUE, McpArgs, McpTool
from agenyx.tools.spec import Context, Look, Outcome

ALL: tuple[ToolSet, ...] = ("full", "core", "small")
Kind = Literal["resources.list", "resources.read", "prompts.get"]


class Servers(Protocol):
    """What a tool has to know of the servers."""

    def tool(self, name: str) -> McpTool | None: ...

    async def awaited(self, name: str) -> McpTool | None:
        """The tool, after waiting for a server that is starting."""
        ...

    def why_not(self, name: str) -> str:
        """Why there is no such tool, a sentence."""
        ...

    def change(self, tool: McpTool) -> str:
        """A unified diff of what the tool says now against what was known of it, "" where that is the same."""
        ...

    def calling(self, server: Server) -> AbstractContextManager[None]:
        """Holds while something is asked of a server."""
        ...


class Served:
    """`hidden` ones are not in the head: they are called through the dispatcher. `servers` may become others."""

    aliases: ClassVar[tuple[str, ...]] = ()
    sets: ClassVar[tuple[ToolSet, ...]] = ALL
    args: ClassVar[type[McpArgs]] = McpArgs

    def __init__(self, name: str, servers: Servers, stored: ToolSpec | None = None, *, hidden: bool = True) -> None:
        self.name, self.hidden = name, hidden
        self.servers, self._stored = servers, stored

    def alone(self) -> Served:
        """The same for a subagent, whose head it stands in from the start."""
        return Served(self.name, self.servers, self._stored, hidden=False)

    @property
    def spec(self) -> ToolSpec:
        if (tool := self.servers.tool(self.name)) is not None:
            return tool.spec
        return self._stored or ToolSpec(self.name, "", {"type": "object", "properties": {}}, origin="mcp", sets=ALL)

    def parse(self, value: object) -> McpArgs:
        """Raises JsonError."""
        if (tool := self.servers.tool(self.name)) is not None:
            return tool.parse(value)
        return McpArgs(json.convert(value, dict[str, object]))

    async def project(self, args: McpArgs, look: Look) -> Effects:
        tool = await self.servers.awaited(self.name)
        if tool is None:
            return Effects(parallel=True)  # nothing will happen, so nobody is asked
        effects = await tool.project(tool.parse(args.values), look)
        if effects.concerns and (diff := self.servers.change(tool)):
            effects = replace(effects, preview=f"{effects.preview}\n\nWhat changed:\n{diff}")
        return effects

    async def run(self, args: McpArgs, ctx: Context) -> Outcome:
        tool = self.servers.tool(self.name)
        if tool is None or not ctx.effects.opaque:  # it came after it was judged
            return Outcome.error(self.servers.why_not(self.name), "unavailable")
        with self.servers.calling(tool.server):
            return await tool.run(tool.parse(args.values), ctx)


class ListArgs(Struct, frozen=True):
    values: dict[str, object]


class Offer:
    """Resources and prompts of a server, judged under `mcp__server__…` like its tools. Never in the head."""

    aliases: ClassVar[tuple[str, ...]] = ()
    sets: ClassVar[tuple[ToolSet, ...]] = ALL
    args: ClassVar[type[ListArgs]] = ListArgs
    hidden = True

    def __init__(self, kind: Kind, server: Server, servers: Servers) -> None:
        # No name of a tool holds a dot, so that none can be meant by this one.
        self.name, self._server = f"mcp__{server.config.slug}__{kind}", server
        self._kind: Kind = kind
        self._servers = servers

    def alone(self) -> Offer:
        return self

    @property
    def spec(self) -> ToolSpec:
        name = {"resources.list": "", "resources.read": "uri", "prompts.get": "name"}[self._kind]
        properties = {name: {"type": "string"}} if name else {}
        return ToolSpec(self.name, "", {"type": "object", "properties": properties}, origin="mcp", sets=ALL)

    def parse(self, value: object) -> ListArgs:
        """Raises JsonError."""
        given = json.convert(value, dict[str, object])
        wanted = {"resources.list": "", "resources.read": "uri", "prompts.get": "name"}[self._kind]
        if wanted and not isinstance(given.get(wanted), str):
            raise json.JsonError(f"`{wanted}` has to be a text")
        return ListArgs(given)

    async def project(self, args: ListArgs, look: Look) -> Effects:
        shown = safe(json.pretty(args.values)) if args.values else "no arguments"
        return Effects(opaque=OPAQUE, preview=f"{self._kind} of the MCP server {self._server.name}\n{shown[:4000]}")

    async def run(self, args: ListArgs, ctx: Context) -> Outcome:
        with self._servers.calling(self._server):
            return await self._asked(args)

    async def _asked(self, args: ListArgs) -> Outcome:
        server, given = self._server, args.values
        try:
            match self._kind:
                case "resources.list":
                    found = await server.resources()
                    rows = [f"{one.uri}  {one.name}{f'  {one.mime}' if one.mime else ''}" for one in found]
                    return Outcome.ok("\n".join(rows) or "It has no resources.")
                case "resources.read":
                    return Outcome.ok(resource_text(await server.read_resource(str(given["uri"]))) or "It is empty.")
                case _:
                    inner = json.convert(given.get("arguments", {}), dict[str, str])
                    messages = await server.get_prompt(str(given["name"]), inner)
                    parts = [(message.role, texts([message.block])) for message in messages]
                    several = len(parts) > 1
                    return Outcome.ok("\n\n".join(f"[{role}] {text}" if several else text for role, text in parts))
        except (McpError, json.JsonError) as error:
            fix = f" {error.fix}" if isinstance(error, McpError) and error.fix else ""
            return Outcome.error(f"{str(error).rstrip('.')}.{fix}")

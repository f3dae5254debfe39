"""A tool of an MCP server by its name alone, for whoever asks what the permissions say about it. It never runs."""

from __future__ import annotations

from typing import ClassVar

from agenyx.core import json
from agenyx.core.tools import Effects, ToolSet, ToolSpec
from agenyx.ext.mcp.tools import OPAQUE, McpArgs
from agenyx.tools.spec import Context, Look, Outcome


class Imagined:
    """Judged like every tool of a server: what it would do is not seen."""

    aliases: ClassVar[tuple[str, ...]] = ()
    sets: ClassVar[tuple[ToolSet, ...]] = ("full", "core", "small")
    args: ClassVar[type[McpArgs]] = McpArgs

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, "", {"type": "object", "properties": {}}, origin="mcp", sets=self.sets)

    def parse(self, value: object) -> McpArgs:
        return McpArgs(json.convert(value, dict[str, object]))

    async def project(self, args: McpArgs, look: Look) -> Effects:
        return Effects(opaque=OPAQUE)

    async def run(self, args: McpArgs, ctx: Context) -> Outcome:
        return Outcome.error(f"{self.name} was only looked at.")

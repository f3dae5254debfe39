"""McpCall: calls a tool of an MCP server that is not in the head of the requests. Its call is that tool's.

It stands in the head from the start, so that tools that come later change no byte before them. With `describe` it tells
what a tool takes, or what a server has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, cast

from msgspec import Struct

from agenyx.core import json
from agenyx.core.tools import Effects, ToolSet, ToolSpec
from agenyx.tools.spec import Context, Look, Outcome

NAME = "McpCall"
PREFIX = "mcp__"
_TEXT = (
    "Calls a tool of an MCP server that is not in your list of tools: one that a notice named. With describe it tells "
    "what the tool takes instead; for a server, mcp__server, which tools it has."
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "tool": {"type": "string", "description": "mcp__server__tool"},
        "arguments": {"type": "object"},
        "describe": {"type": "boolean"},
    },
    "required": ["tool"],
}


class McpCallArgs(Struct, frozen=True):
    """Only a call with `describe` gets here: every other one is the tool's own."""

    tool: str


class McpCall:
    """`describe` gives the text about a tool or a server by its name; `meet` hears the name of each tool called."""

    name: ClassVar[str] = NAME
    aliases: ClassVar[tuple[str, ...]] = ()
    sets: ClassVar[tuple[ToolSet, ...]] = ("full", "core", "small")
    args: ClassVar[type[McpCallArgs]] = McpCallArgs

    def __init__(self, describe: Callable[[str], Outcome], meet: Callable[[str], None]) -> None:
        self._describe, self._meet = describe, meet

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(self.name, _TEXT, _SCHEMA, (), "builtin", self.sets)

    def unwrap(self, args: str) -> tuple[str, str]:
        """The inner call; the call itself where it only asks for a description. Raises JsonError."""
        fields = _fields(json.decode(args if args.strip() else "{}"))
        if fields.get("describe") is True:
            return self.name, args
        given = fields.get("arguments", {})
        if isinstance(given, str):  # models write that often
            given = json.decode(given or "{}")
        self._meet(fields["tool"])
        return fields["tool"], json.encode({} if given is None else given).decode()

    def parse(self, value: object) -> McpCallArgs:
        return McpCallArgs(_fields(value)["tool"])

    async def project(self, args: McpCallArgs, look: Look) -> Effects:
        return Effects(parallel=True)

    async def run(self, args: McpCallArgs, ctx: Context) -> Outcome:
        return self._describe(args.tool)


def meant(name: str, args: str) -> str:
    """The tool that a call is really of, for people; the name itself where it is no dispatcher's."""
    if name.casefold() != NAME.casefold():
        return name
    try:
        return _fields(json.decode(args))["tool"]
    except json.JsonError:
        return name


def _fields(value: object) -> dict[str, Any]:
    fields = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    tool = fields.get("tool")
    if not isinstance(tool, str) or not tool.startswith(PREFIX):
        raise json.JsonError('`tool` has to name a tool of an MCP server, as "mcp__server__tool"')
    return fields

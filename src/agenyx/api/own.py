"""A tool of a program as one of ours: judged, run, recorded and shown like every other."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, cast

import msgspec
from msgspec import Struct

from agenyx.api.context import ToolContext, ToolError
from agenyx.api.declared import project, values_of
from agenyx.api.threads import Crashed, called
from agenyx.api.tool import Tool
from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.core.tools import Effects, ToolSet
from agenyx.tools.spec import Context, Look, Outcome

ALL: tuple[ToolSet, ...] = ("full", "core", "small")


class Own:
    """`deps` is what the agent was made with."""

    aliases: ClassVar[tuple[str, ...]] = ()
    sets: ClassVar[tuple[ToolSet, ...]] = ALL

    def __init__(self, tool: Tool[..., Any, Any], deps: Any, session_id: str) -> None:
        self.name, self.args, self.spec = tool.name, tool.signature.args, tool.spec
        self._tool, self._deps, self._session = tool, deps, session_id

    def parse(self, value: object) -> Struct:
        """Raises JsonError."""
        return json.lenient(value, self.args)

    async def project(self, args: Struct, look: Look) -> Effects:
        try:
            return project(self.name, self._tool.declared, self._values(args), look)
        except SystemExit as error:  # a tool does not end the program
            raise Crashed(f"SystemExit: {error}") from error

    async def run(self, args: Struct, ctx: Context) -> Outcome:
        tool, values = self._tool, self._values(args)
        self._put_paths(values, ctx.effects)
        first: list[Any] = []
        if tool.signature.context:
            first.append(ToolContext(self._deps, self._session, ctx))
        limit = asyncio.timeout(tool.timeout)
        try:
            async with limit:
                return Outcome.ok(text_of(await called(tool.function, *first, **values)))
        except ToolError as error:
            return Outcome.error(str(error) or f"{self.name} gave no reason.")
        except Crashed as error:
            return Outcome.error(f"{self.name} failed: {error}")
        except TimeoutError:
            if not limit.expired():
                raise
            return Outcome.error(f"{self.name} took longer than {tool.timeout:g} seconds.", "timed_out")

    def _values(self, args: Struct) -> dict[str, Any]:
        values = {name: getattr(args, name) for name in args.__struct_fields__}
        for name in self._tool.signature.paths:
            values[name] = None if values[name] is None else Path(values[name])
        return values

    def _put_paths(self, values: dict[str, Any], effects: Effects) -> None:
        """Put the paths that were judged in the place of those that were said."""
        declared = self._tool.declared
        for names, refs in (
            (declared.reads, effects.reads),
            (declared.writes, effects.writes),
            (declared.removes, effects.removes),
        ):
            left = [os.fsdecode(ref.real) for ref in refs]
            for name in names:
                value, count = values[name], len(values_of(values[name]))
                mine, left = left[:count], left[count:]
                if isinstance(value, Path):
                    values[name] = Path(mine[0])
                elif isinstance(value, str):
                    values[name] = mine[0]
                elif value is not None:
                    values[name] = mine


def text_of(said: object) -> str:
    """What the model reads of what a function gave: text as it is, nothing as "", anything else as JSON.

    Raises ToolError for what is none.
    """
    if said is None:
        return ""
    if isinstance(said, str):
        return said
    try:
        value = msgspec.to_builtins(said, str_keys=True, enc_hook=_known)
        return json.encode(_scrubbed(value)).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ToolError(f"What it gave cannot be told as JSON: {error}") from None


def _known(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    dump: Any = getattr(value, "model_dump", None)  # a pydantic model
    if callable(dump):
        return dump(mode="json")
    raise TypeError(f"{type(value).__name__} is no type that JSON knows")


def _scrubbed(value: Any) -> Any:
    match value:
        case str():
            return json.scrub(value)
        case dict():
            members = cast("dict[Any, Any]", value)
            return {json.scrub(str(key)): _scrubbed(member) for key, member in members.items()}
        case list() | tuple():
            return [_scrubbed(item) for item in cast("list[Any]", value)]
        case _:
            return value


def check_clashes(tools: Sequence[Tool[..., Any, Any]]) -> None:
    """Raises UsageError for two tools of one name, and for a name that is one of ours."""
    taken, seen = _taken(), dict[str, str]()
    for tool in tools:
        if not isinstance(cast("object", tool), Tool):
            raise UsageError(f"{tool!r} is no tool", "Put @tool before the function.")
        folded = tool.name.casefold()
        if folded in seen:
            raise UsageError(f"there are two tools named {tool.name}", "Names count in any letter case; rename one.")
        if folded in taken:
            ours = taken[folded]
            what = f"the built-in tool {ours}" if ours.casefold() == folded else f"{ours}, which answers to it too"
            raise UsageError(f"the name {tool.name} is taken by {what}", "Give another one with @tool(name=...).")
        seen[folded] = tool.name


def _taken() -> Mapping[str, str]:
    """The names that mean one of ours, in calls or in rules, case-folded."""
    from agenyx.agent.planmode import ExitPlanMode
    from agenyx.agent.subagent import Task
    from agenyx.app.mcp_call import McpCall
    from agenyx.ext.memory_tool import Memory
    from agenyx.ext.skills.tool import Skill
    from agenyx.policy.rules import spellings
    from agenyx.tools.builtin import builtin_tools

    found = dict(spellings())
    for one in (*builtin_tools(), ExitPlanMode, Task, McpCall, Memory, Skill):
        found |= {name.casefold(): one.name for name in (one.name, *one.aliases)}
    return found

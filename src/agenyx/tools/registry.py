"""Finds tools by the names models use for them, and checks arguments before anything looks at them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from msgspec import Struct

from agenyx.core import json
from agenyx.core.tools import ToolSet, ToolSpec
from agenyx.tools.spec import Dispatcher, Tool, describe

SETS: dict[str, ToolSet] = {"default": "full", "full": "full", "core": "core", "small": "small"}
"""The sets by the names under which a person chooses one."""


class Registry:
    """The tools of one session. `size` chooses the set and how much text the model gets about each. `only` names the
    built-in ones that there may be, None for all."""

    def __init__(self, tools: Iterable[Tool[Any]], size: ToolSet = "full", only: Iterable[str] | None = None) -> None:
        self._size: ToolSet = size
        self._only = None if only is None else frozenset(name.casefold() for name in only)
        self._tools: list[Tool[Any]] = []
        self._names: dict[str, Tool[Any]] = {}
        self.add(*tools)

    def add(self, *tools: Tool[Any]) -> None:
        """Take on tools that the set holds. A name that is taken already stays what it was."""
        for tool in tools:
            if self._size in tool.sets and tool.name.casefold() not in self._names and self._wanted(tool):
                self._tools.append(tool)
                for name in (tool.name, *tool.aliases):
                    self._names.setdefault(name.casefold(), tool)

    def _wanted(self, tool: Tool[Any]) -> bool:
        names = {name.casefold() for name in (tool.name, *tool.aliases)}
        spec: ToolSpec | None = getattr(tool, "spec", None)
        foreign = hasattr(tool, "unwrap") or (spec is not None and spec.origin != "builtin")
        return self._only is None or foreign or not names.isdisjoint(self._only)

    def remove(self, *names: str) -> None:
        gone = {id(tool) for name in names if (tool := self.find(name))}
        self._tools = [tool for tool in self._tools if id(tool) not in gone]
        self._names = {name: tool for name, tool in self._names.items() if id(tool) not in gone}

    def retire(self, name: str) -> None:
        """Offer the tool no more. Models that know it, and sessions with it in their head, may go on calling it."""
        tool = self.find(name)
        self._tools = [one for one in self._tools if one is not tool]

    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is told of, but for tools that are reached through a dispatcher only."""
        return tuple(describe(tool, self._size) for tool in self._tools if not _hidden(tool))

    def names(self) -> list[str]:
        return [tool.name for tool in self._tools if not _hidden(tool)]

    def hidden(self) -> list[str]:
        """The names of the tools that a dispatcher reaches."""
        return [tool.name for tool in self._tools if _hidden(tool)]

    def aliases(self) -> dict[str, str]:
        """The name of each tool by its name and aliases, case-folded."""
        return {name: tool.name for name, tool in self._names.items()}

    def find(self, name: str) -> Tool[Any] | None:
        """By name or alias, in any letter case."""
        return self._names.get(name.casefold())

    def resolve(self, name: str, args: str) -> tuple[str, str]:
        """The call that is meant: of a dispatcher the one inside, else the call itself. Raises JsonError."""
        tool = self.find(name)
        return cast("Dispatcher", tool).unwrap(args) if hasattr(tool, "unwrap") else (name, args)


def _hidden(tool: Tool[Any]) -> bool:
    return getattr(tool, "hidden", False)


def parse_args(tool: Tool[Any], text: str) -> Struct:
    """The typed arguments in the model's text. Raises JsonError with a sentence that says what is wrong.

    "5" is taken for 5 and "true" for true, since models write that often; nothing else is bent.
    """
    value = json.decode(text if text.strip() else "{}")
    if hasattr(tool, "parse"):
        return cast("Any", tool).parse(value)
    try:
        return json.convert(value, tool.args)
    except json.JsonError as first:
        try:
            return json.convert(value, tool.args, lax=True)
        except json.JsonError:
            raise first from None

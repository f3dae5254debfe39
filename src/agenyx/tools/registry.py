"""Finds tools by the names models use for them, and checks arguments before anything looks at them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from agenyx.core import json
from agenyx.core.tools import ToolSet, ToolSpec
from agenyx.tools.spec import Tool, describe

SETS: dict[str, ToolSet] = {"default": "full", "full": "full", "core": "core", "small": "small"}
"""The sets by the names under which a person chooses one."""


class Registry:
    """The tools of one session. `size` chooses the set and how much text the model gets about each."""

    def __init__(self, tools: Iterable[Tool[Any]], size: ToolSet = "full") -> None:
        self._tools = [tool for tool in tools if size in tool.sets]
        self._size: ToolSet = size
        self._names = {name.casefold(): tool for tool in self._tools for name in (tool.name, *tool.aliases)}

    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(describe(tool, self._size) for tool in self._tools)

    def names(self) -> list[str]:
        return [tool.name for tool in self._tools]

    def aliases(self) -> dict[str, str]:
        """The name of each tool by its name and aliases, case-folded."""
        return {name: tool.name for name, tool in self._names.items()}

    def find(self, name: str) -> Tool[Any] | None:
        """By name or alias, in any letter case."""
        return self._names.get(name.casefold())


def parse_args(tool: Tool[Any], text: str) -> Struct:
    """The typed arguments in the model's text. Raises JsonError with a sentence that says what is wrong.

    "5" is taken for 5 and "true" for true, since models write that often; nothing else is bent.
    """
    value = json.decode(text if text.strip() else "{}")
    try:
        return json.convert(value, tool.args)
    except json.JsonError as first:
        try:
            return json.convert(value, tool.args, lax=True)
        except json.JsonError:
            raise first from None

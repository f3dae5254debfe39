"""What tools of MCP servers said about themselves when they were last used, kept in the home from session to session.

A tool that says something else is asked about again, with the difference, whatever rules say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from agenyx.config.private import read_private, replace_private
from agenyx.core import json
from agenyx.core.errors import ConfigError
from agenyx.ext.mcp.model import ToolInfo
from agenyx.workspace.diff import unified

FILE = "mcp-tools.json"
_LIMIT = 8 << 20
_MOST = 2000  # tools of one server
_TEXT = 8000  # characters kept of one tool
_SERVERS = 200
_DIFF_LINES = 80


class Seen(Struct, frozen=True):
    """`sha256` is over all that the server sent about the tool; `text` shows it to people, cut where it is long."""

    sha256: str
    text: str = ""


def text_of(info: ToolInfo) -> str:
    whole = f"{info.description}\n\narguments: {json.pretty(info.schema)}\n"
    return whole if len(whole) <= _TEXT else f"{whole[:_TEXT]}\n…\n"


def difference(before: str, info: ToolInfo) -> str:
    """What is other now than in the text that was kept, as a unified diff."""
    return unified(before.encode(), text_of(info).encode(), info.name, _DIFF_LINES)


class Memory:
    """The file. `servers` are known by keys of `mcp_sources.key_of`; tools by their full names."""

    def __init__(self, home: str) -> None:
        self._home = home

    def load(self) -> dict[str, dict[str, Seen]]:
        """Raises ConfigError."""
        data = read_private(self._home, FILE, _LIMIT)
        if data is None:
            return {}
        try:
            return json.convert(json.convert(json.decode(data), dict[str, Any])["servers"], dict[str, dict[str, Seen]])
        except (json.JsonError, KeyError):
            raise ConfigError(f"{self._home}/{FILE} is damaged", "Remove it; tools are met anew then.") from None

    def keep(self, servers: Mapping[str, Mapping[str, Seen]]) -> None:
        """Put these in, beside what else is there. Raises ConfigError."""
        every: dict[str, Mapping[str, Seen]] = {}
        every |= self.load()
        for key, tools in servers.items():
            every.pop(key, None)  # the last ones stand last
            every[key] = dict(list(tools.items())[:_MOST])
        kept = dict(list(every.items())[-_SERVERS:])
        while len(data := json.encode({"version": 1, "servers": kept})) >= _LIMIT:
            del kept[next(iter(kept))]
        replace_private(self._home, FILE, data + b"\n")

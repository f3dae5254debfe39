"""The names by which models, rules and history know the tools of MCP servers: `mcp__server__tool`. Pure.

Neither part may hold `__` or end with `_`, so a name says for certain which server it speaks of, and a rule for one
tool or server never covers another.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable

from agenyx.core.limits import TOOL_NAME_CHARS

PREFIX = "mcp__"
_SLUG_CHARS = 40
_HASH = 8
_OTHER = re.compile(r"[^A-Za-z0-9_-]")
_RUN = re.compile(r"__+")


def server_slug(name: str) -> str:
    """The server in names of tools: letters, digits, - and single _. Another spelling or length brings a hash."""
    slug = _plain(name)
    return slug if slug == name and len(slug) <= _SLUG_CHARS else _hashed(slug, name, _SLUG_CHARS)


def tool_names(slug: str, tools: Iterable[str]) -> dict[str, str]:
    """The full name of each tool by the server's own name, at most 64 characters; equal input gives equal names.

    Two tools whose names differ only in their letter case both bear a hash: names are found in any case.
    """
    head = f"{PREFIX}{slug}__"
    room = TOOL_NAME_CHARS - len(head)
    wanted = list(dict.fromkeys(tools))
    times = Counter(_plain(tool).casefold() for tool in wanted)
    names = dict[str, str]()
    for tool in wanted:
        plain = _plain(tool)
        keeps = plain == tool and len(plain) <= room and times[plain.casefold()] == 1
        names[tool] = head + (plain if keeps else _hashed(plain, tool, room))
    return names


def _plain(name: str) -> str:
    return _RUN.sub("_", _OTHER.sub("_", name)).strip("_")


def _hashed(plain: str, name: str, room: int) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    cut = plain[: room - _HASH - 1].rstrip("_")
    return f"{cut}_{digest}" if cut else f"t_{digest}"

"""What servers list, item by item, from decoded JSON into values: what is wrong is left out and told. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, cast

from agenyx.core import json
from agenyx.ext.mcp.clean import clean, is_name, one_line
from agenyx.ext.mcp.model import PromptArgument, PromptInfo, Resource, ToolInfo
from agenyx.ext.mcp.schema import Unfit, prepare

URI_BYTES = 2048
_MOST_ARGUMENTS = 64
_MOST_PROBLEMS = 20

Object = dict[str, Any]


def tools(items: Iterable[object]) -> tuple[tuple[ToolInfo, ...], tuple[str, ...]]:
    """The tools, and a sentence for each that was left out."""
    found, problems = dict[str, ToolInfo](), list[str]()
    for item in items:
        raw = cast("Object", item) if isinstance(item, dict) else {}
        name = raw.get("name")
        if not is_name(name):
            problems.append("a tool was left out: its name is empty, too long or holds hidden characters")
            continue
        name = cast("str", name)
        if name in found:
            problems.append(f"the tool {name!r} is listed twice; the first counts")
            continue
        try:
            found[name] = _tool(name, raw)
        except Unfit as why:
            problems.append(f"the tool {name!r} was left out: {why}")
        except RecursionError:  # encoding needs a little more of the stack than decoding did
            problems.append(f"the tool {name!r} was left out: its schema is nested too deeply")
    return tuple(found.values()), _bounded(problems)


def _tool(name: str, raw: Object) -> ToolInfo:
    schema, relaxed = prepare(raw.get("inputSchema", {}))
    said = [name, raw.get("title"), raw.get("description"), raw.get("inputSchema")]
    digest = hashlib.sha256(json.canonical(said)).hexdigest()
    return ToolInfo(name, clean(raw.get("description")) or clean(raw.get("title")), schema, relaxed, digest)


def resources(items: Iterable[object], template: bool = False) -> tuple[Resource, ...]:
    found: list[Resource] = []
    for item in items:
        raw = cast("Object", item) if isinstance(item, dict) else {}
        uri = raw.get("uriTemplate" if template else "uri")
        if not isinstance(uri, str) or not 0 < len(uri.encode()) <= URI_BYTES or uri != clean(uri, URI_BYTES):
            continue
        size = raw.get("size")
        found.append(
            Resource(
                uri,
                one_line(raw.get("title") or raw.get("name")) or uri,
                clean(raw.get("description")),
                one_line(raw.get("mimeType"), 100),
                size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None,
                template,
            )
        )
    return tuple(found)


def prompts(items: Iterable[object]) -> tuple[PromptInfo, ...]:
    found = dict[str, PromptInfo]()
    for item in items:
        raw = cast("Object", item) if isinstance(item, dict) else {}
        name = raw.get("name")
        if is_name(name):
            told = clean(raw.get("description")) or clean(raw.get("title"))
            prompt = PromptInfo(cast("str", name), told, _arguments(raw.get("arguments")))
            found.setdefault(prompt.name, prompt)
    return tuple(found.values())


def _arguments(value: object) -> tuple[PromptArgument, ...]:
    found: list[PromptArgument] = []
    for item in cast("list[object]", value)[:_MOST_ARGUMENTS] if isinstance(value, list) else ():
        raw = cast("Object", item) if isinstance(item, dict) else {}
        if is_name(name := raw.get("name")):
            told = clean(raw.get("description"))
            found.append(PromptArgument(cast("str", name), told, raw.get("required") is True))
    return tuple(found)


def _bounded(problems: list[str]) -> tuple[str, ...]:
    more = len(problems) - _MOST_PROBLEMS
    return (*problems[:_MOST_PROBLEMS], *((f"and {more} more",) if more > 0 else ()))

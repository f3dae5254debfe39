"""Which MCP servers are configured: the person's file, a trusted workspace's, and what the command line gave.

Starts nothing and asks nobody: `mcp_approval` does.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from agenyx.app.extensions import Extensions
from agenyx.config.configured import keys
from agenyx.core import json
from agenyx.core.errors import ConfigError, UsageError
from agenyx.ext.mcp.config import FILE_BYTES, Problem, Read, ServerConfig, merge, read

ARGV = "--mcp-config"
SHAPE = 'Write {"mcpServers": {"NAME": {"command": "program", "args": []}}}, or name a file that holds it.'


def configured(extensions: Extensions, given: str, env: Mapping[str, str], home: str, *, strict: bool = False) -> Read:
    """All servers; of two with one name the command line's counts, then `.agenyx/mcp.json`, `.mcp.json`, the person's.

    `given` is the JSON text of the command line, "" for none; with `strict` nothing else is read.
    """
    try:
        hidden = keys(env, home)
    except ConfigError:
        hidden = ()  # a broken file of keys is told by whoever needs it
    layers = list[Read]()
    if not strict:
        sources = extensions.sources("mcp")
        for source in sorted(sources, key=lambda one: (one.origin == "workspace", one.path != ".mcp.json")):
            origin = "user" if source.origin == "user" else "project"
            layers.append(read(source.data, origin, source.shown, env, hidden))
    if given:
        layers.append(read(given.encode(), "argv", ARGV, env, hidden))
    return merge(layers)


def given_text(text: str) -> str:
    """The JSON text of --mcp-config: what was written there, or what stands in the file. Raises UsageError."""
    if not text.lstrip().startswith("{"):
        try:
            with open(text, "rb") as file:
                data = file.read(FILE_BYTES + 1)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise UsageError(f"{ARGV} {text[:200]!r} is no JSON object and no file: {why}", SHAPE) from None
        text = data.decode("utf-8", "replace")
    if len(text) > FILE_BYTES:
        raise UsageError(f"{ARGV} has more than {FILE_BYTES >> 20} MiB", "Give a shorter one.")
    try:
        value = json.decode(text)
    except json.JsonError as error:
        raise UsageError(f"{ARGV} holds no valid JSON: {error}", SHAPE) from None
    try:
        json.convert(json.convert(value, dict[str, Any])["mcpServers"], dict[str, Any])
    except (json.JsonError, KeyError):
        raise UsageError(f"{ARGV} has no object mcpServers", SHAPE) from None
    return text


def told(problem: Problem) -> tuple[str, str]:
    """A problem as a sentence, and what to do about it."""
    text = f"The MCP server {problem.server!r}: {problem.text}." if problem.server else f"{problem.text}."
    return text, problem.fix


def key_of(config: ServerConfig, workspace: str) -> str:
    """Whose server of that name it is: what one of a workspace is known by says nothing about another one's."""
    owner = workspace if config.source == "project" else config.source
    return f"{owner}\n{config.name}"


def place_of(config: ServerConfig, workspace: str) -> str:
    """Where a server stands, in words: `.mcp.json`, the person's file, the command line."""
    inside = os.path.join(workspace, "")
    return config.path[len(inside) :] if config.path.startswith(inside) else config.path


Tell = Callable[[str, str], None]
"""Says a warning with what to do about it."""

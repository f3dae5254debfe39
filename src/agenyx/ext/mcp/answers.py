"""What servers answer to calls, reads and prompts, from decoded JSON into values within bounds. Pure."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from agenyx.ext.mcp import wire
from agenyx.ext.mcp.clean import one_line
from agenyx.ext.mcp.model import CallAnswer, Contents, PromptMessage
from agenyx.ext.mcp.wire import Object

MOST_BLOCKS = 1000


def called(answer: Object) -> CallAnswer:
    blocks = tuple(wire.members(block) for block in wire.items(answer.get("content"))[:MOST_BLOCKS])
    return CallAnswer(blocks, answer.get("structuredContent"), answer.get("isError") is True)


def contents(answer: Object) -> tuple[Contents, ...]:
    return tuple(content(item) for item in wire.items(answer.get("contents"))[:MOST_BLOCKS])


def content(value: Any) -> Contents:
    """One content of a resource. Without text and data that can be decoded it is an empty text."""
    fields = wire.members(value)
    uri, mime = one_line(fields.get("uri"), 2048), one_line(fields.get("mimeType"), 100)
    if isinstance(text := fields.get("text"), str):
        return Contents(uri, mime, text)
    return Contents(uri, mime, data=decoded(fields.get("blob")))


def prompted(answer: Object) -> tuple[PromptMessage, ...]:
    found: list[PromptMessage] = []
    for item in wire.items(answer.get("messages"))[:MOST_BLOCKS]:
        fields = wire.members(item)
        block = fields.get("content")
        many = wire.items(block) or [block]
        role = "assistant" if fields.get("role") == "assistant" else "user"
        found += [PromptMessage(role, wire.members(one)) for one in many]
    return tuple(found)


def decoded(value: object) -> bytes | None:
    """Base64 as bytes, None where it is none."""
    if not isinstance(value, str):
        return None
    try:
        return base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return None

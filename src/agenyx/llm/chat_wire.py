"""The events of a chat-completions stream as they come, and their token counts. Adds nothing up."""

from __future__ import annotations

from typing import Any, cast

from msgspec import Struct

from agenyx.core.events import Usage


# Leaves are Any on purpose: one odd field must not cost the response. Each use looks at the type.
class Delta(Struct):
    """What one chunk adds to a message, or a whole message."""

    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: Any = None
    refusal: Any = None
    tool_calls: Any = None
    function_call: Any = None


class Choice(Struct):
    """One of the alternatives; only the one with index 0 was asked for."""

    delta: Delta | None = None
    message: Delta | None = None
    finish_reason: Any = None
    index: Any = 0
    usage: Any = None


class Chunk(Struct):
    """One event of the stream. `usage` and `error` are looked at where they are used."""

    choices: list[Choice] | None = None
    id: Any = None
    model: Any = None
    usage: Any = None
    error: Any = None


def count(fields: dict[str, Any], *path: str) -> int:
    """The number at a path of members; 0 where there is none."""
    value: Any = fields
    for name in path:
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return max(0, int(value)) if isinstance(value, int | float) and value == value else 0


def usage_of(value: object) -> Usage | None:
    """Token counts, normalised; None for what is not an object. Cached input is part of the prompt on this wire."""
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    prompt = count(fields, "prompt_tokens")
    read = count(fields, "prompt_tokens_details", "cached_tokens") or count(fields, "prompt_cache_hit_tokens")
    read = min(read or count(fields, "cached_tokens"), prompt)
    write = min(count(fields, "prompt_tokens_details", "cache_write_tokens"), prompt - read)
    out = count(fields, "completion_tokens")
    reasoning = min(count(fields, "completion_tokens_details", "reasoning_tokens"), out)
    return Usage(prompt - read - write, read, write, out, reasoning)

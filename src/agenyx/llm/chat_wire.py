"""The events of a chat-completions stream as they come, and their token counts. Adds nothing up."""

from __future__ import annotations

from typing import Any, cast

from msgspec import Struct

from agenyx.core import json
from agenyx.core.events import Usage


# Leaves are Any on purpose: one odd field must not cost the response. Each use looks at the type.
class Delta(Struct):
    """What one chunk adds to a message, or a whole message."""

    content: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
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


class Events:
    """Decoders for one event and for all events of a read at once, which is a third of the cost."""

    def __init__(self) -> None:
        self._one = json.Decoder(Chunk)
        self._many = json.Decoder(list[Chunk])

    def decode(self, events: list[bytes]) -> list[Chunk | None]:
        """A chunk for each event; None ends the list where one is not a chunk of a completion."""
        if len(events) > 1:
            try:
                chunks = self._many.decode(b"[" + b",".join(events) + b"]")
            except json.JsonError:
                pass
            else:
                if len(chunks) == len(events):
                    return cast("list[Chunk | None]", chunks)
        found: list[Chunk | None] = []
        for event in events:
            try:
                found.append(self._one.decode(event))
            except json.JsonError:
                found.append(None)
                break
        return found


def _count(fields: dict[str, Any], *path: str) -> int:
    value: Any = fields
    for name in path:
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return max(0, int(value)) if isinstance(value, int | float) and value == value else 0


def usage_of(value: object) -> Usage | None:
    """Token counts, normalised; None for what is not an object. Cached input is part of the prompt on this wire."""
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    prompt = _count(fields, "prompt_tokens")
    read = _count(fields, "prompt_tokens_details", "cached_tokens") or _count(fields, "prompt_cache_hit_tokens")
    read = min(read or _count(fields, "cached_tokens"), prompt)
    write = min(_count(fields, "prompt_tokens_details", "cache_write_tokens"), prompt - read)
    out = _count(fields, "completion_tokens")
    reasoning = min(_count(fields, "completion_tokens_details", "reasoning_tokens"), out)
    return Usage(prompt - read - write, read, write, out, reasoning)

"""The events of a Responses stream as they come, their items, and their token counts. Adds nothing up."""

from __future__ import annotations

from typing import Any, cast

from msgspec import Raw, Struct, field

from agenyx.core import json
from agenyx.core.events import Usage
from agenyx.llm.chat_wire import count

ITEM = "responses"  # the wire of reasoning items, kept as the server wrote them
CALL = "responses.call"  # the wire of what names a call besides its call id

_NONE = Raw(b"")


# Leaves are Any on purpose: servers of this family fill the same fields differently. Each use looks at the type.
class Event(Struct):
    """One event. `item` and `response` are read where they are used; an error may stand in the event itself."""

    type: Any = None
    delta: Any = None
    output_index: Any = None
    content_index: Any = None
    summary_index: Any = None
    item_id: Any = None
    arguments: Any = None
    item: Raw = field(default=_NONE)
    response: Raw = field(default=_NONE)
    error: Any = None
    code: Any = None
    message: Any = None
    object: Any = None
    usage: Any = None


class Item(Struct):
    """One item of the output."""

    type: Any = None
    id: Any = None
    call_id: Any = None
    name: Any = None
    arguments: Any = None
    content: Any = None
    summary: Any = None
    phase: Any = None


class Body(Struct):
    """The response object that the first and the last event carry."""

    id: Any = None
    status: Any = None
    model: Any = None
    output: list[Raw] | None = None
    error: Any = None
    incomplete_details: Any = None
    usage: Any = None


def item_of(raw: Raw) -> Item | None:
    """None for what is not an item."""
    return _read(raw, _item)


def body_of(raw: Raw) -> Body | None:
    """None for what is not a response object."""
    return _read(raw, _body)


_item = json.Decoder(Item)
_body = json.Decoder(Body)


def _read(raw: Raw, decoder: json.Decoder[Any]) -> Any:
    data = bytes(raw)
    if data[:1] != b"{":
        return None
    try:
        return decoder.decode(data)
    except json.JsonError:
        return None


def texts_of(value: object) -> list[str | None]:
    """The text of each content part, None for one that has none."""
    if not isinstance(value, list):
        return []
    found: list[str | None] = []
    for entry in cast("list[Any]", value):
        part = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
        text = part.get("text") if part.get("type") != "refusal" else part.get("refusal")
        found.append(text if isinstance(text, str) else None)
    return found


def refuses(value: object) -> bool:
    """Whether one of the content parts is a refusal."""
    parts = cast("list[Any]", value) if isinstance(value, list) else []
    return any(isinstance(part, dict) and cast("dict[str, Any]", part).get("type") == "refusal" for part in parts)


def usage_of(value: object) -> Usage | None:
    """Token counts, normalised; None for what is not an object. Cached input is part of the input on this wire."""
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    given = count(fields, "input_tokens")
    read = min(count(fields, "input_tokens_details", "cached_tokens"), given)
    write = min(count(fields, "input_tokens_details", "cache_write_tokens"), given - read)
    out = count(fields, "output_tokens")
    reasoning = min(count(fields, "output_tokens_details", "reasoning_tokens"), out)
    return Usage(given - read - write, read, write, out, reasoning)

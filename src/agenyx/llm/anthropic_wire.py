"""The events of a Messages stream as they come, and their token counts. Adds nothing up."""

from __future__ import annotations

from typing import Any, cast

from msgspec import Struct

from agenyx.core.events import Usage
from agenyx.llm.chat_wire import count

THINKING = "anthropic"  # the wire of thinking blocks, signed or redacted


# Leaves are Any on purpose: one odd field must not cost the response. Each use looks at the type.
class Piece(Struct):
    """A delta of a block, a block at its beginning, or the end of the message."""

    type: Any = None
    text: Any = None
    thinking: Any = None
    signature: Any = None
    data: Any = None
    partial_json: Any = None
    id: Any = None
    name: Any = None
    input: Any = None
    stop_reason: Any = None
    stop_details: Any = None


class Head(Struct):
    """The message as it begins."""

    id: Any = None
    model: Any = None
    usage: Any = None


class Event(Struct):
    """One event."""

    type: Any = None
    index: Any = None
    message: Head | str | None = None  # text in the errors of some servers
    content_block: Piece | None = None
    delta: Piece | None = None
    usage: Any = None
    error: Any = None


class Counts:
    """Token counts of one message. Each report is cumulative: the latest figure of a kind stands, nothing is summed."""

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}

    def report(self, value: object) -> None:
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            self._fields.update((name, figure) for name, figure in fields.items() if figure is not None)

    @property
    def usage(self) -> Usage | None:
        """Normalised; None when the server never said. The input of this wire excludes what the cache took."""
        fields = self._fields
        if not fields:
            return None
        out = count(fields, "output_tokens")
        reasoning = min(count(fields, "output_tokens_details", "thinking_tokens"), out)
        write = count(fields, "cache_creation_input_tokens")
        return Usage(count(fields, "input_tokens"), count(fields, "cache_read_input_tokens"), write, out, reasoning)

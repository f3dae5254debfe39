"""The answer while it is made, as the raw events of the Messages API. Pure.

Calls are not streamed: their ids are known when the response is whole, and what bears another id would be no help.
"""

from __future__ import annotations

from collections.abc import Iterator

from agenyx.core.events import Body, CallDraft, Done, Failure, ReasoningDelta, Started, StepStarted, TextDelta, Usage
from agenyx.core.messages import Stop
from agenyx.ui.wire.outbound import JsonObject

STOPS: dict[Stop, str | None] = {
    "end": "end_turn",
    "calls": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
    "filter": "refusal",
    "cut": None,
}


class Partials:
    """Of one agent; one response after the other."""

    def __init__(self) -> None:
        self._block: tuple[str, int] | None = None
        self._index, self._open = -1, False
        self._usage = Usage()

    def events(self, body: Body, message: str, model: str) -> Iterator[JsonObject]:
        """What one event comes to. `message` is the id of the response."""
        match body:
            case StepStarted():
                self._block, self._index, self._open, self._usage = None, -1, False, Usage()
            case TextDelta(block, text):
                yield from self._piece(("text", block), {"type": "text_delta", "text": text}, message, model)
            case ReasoningDelta(block, text):
                delta = {"type": "thinking_delta", "thinking": text}
                yield from self._piece(("thinking", block), delta, message, model)
            case Started() | CallDraft() if not self._open:
                yield from self._start(message, model)
            case Usage():
                self._usage = self._usage + body
            case Done(assistant):
                yield from self._start(message, model)
                yield from self._stop()
                usage = {"input_tokens": self._usage.given, "output_tokens": self._usage.out}
                delta = {"stop_reason": STOPS[assistant.stop], "stop_sequence": None}
                yield {"type": "message_delta", "delta": delta, "usage": usage}
                yield {"type": "message_stop"}
                self._open = False
            case Failure():
                yield from self._stop()
                self._open = False
            case _:
                pass

    def _start(self, message: str, model: str) -> Iterator[JsonObject]:
        if self._open:
            return
        self._open, self._block, self._index = True, None, -1
        usage = {"input_tokens": 0, "output_tokens": 0}
        head: JsonObject = {"id": message, "type": "message", "role": "assistant", "model": model, "content": []}
        yield {"type": "message_start", "message": {**head, "stop_reason": None, "stop_sequence": None, "usage": usage}}

    def _piece(self, block: tuple[str, int], delta: JsonObject, message: str, model: str) -> Iterator[JsonObject]:
        if not self._open:
            yield from self._start(message, model)
        if self._block != block:
            yield from self._stop()
            self._block, self._index = block, self._index + 1
            kind = block[0]
            empty = {"type": kind, "text": ""} if kind == "text" else {"type": kind, "thinking": "", "signature": ""}
            yield {"type": "content_block_start", "index": self._index, "content_block": empty}
        yield {"type": "content_block_delta", "index": self._index, "delta": delta}

    def _stop(self) -> Iterator[JsonObject]:
        if self._block is not None:
            self._block = None
            yield {"type": "content_block_stop", "index": self._index}

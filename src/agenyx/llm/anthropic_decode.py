"""Reads Messages streams into ModelEvents. No I/O, no time, no masking.

Thinking is kept with its signature, exactly, as it must go back. Nothing is a response before `message_stop`, or a stop
reason and the end of the stream.
"""

from __future__ import annotations

from typing import Any, cast

from msgspec import Struct, field

from agenyx.core import json
from agenyx.core.events import Started
from agenyx.core.messages import Opaque, Stop
from agenyx.llm.anthropic_wire import THINKING, Counts, Event, Head
from agenyx.llm.decode import Part, StreamDecoder, Wrong
from agenyx.llm.failures import Target

_STOPS: dict[str, Stop] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "pause_turn": "end",  # comes only with tools of the server, which are never asked for
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refusal",
}


class _Block(Struct):
    """One content block while it grows; without a part where its kind is unknown."""

    part: Part | None
    signature: list[str] = field(default_factory=list[str])
    input: str = ""  # of a call that came whole


class AnthropicDecoder(StreamDecoder[Event]):
    """One response of a Messages server."""

    protocol = "a server of Anthropic's Messages API"

    def __init__(self, target: Target, binding: str = "") -> None:
        super().__init__(target, binding, Event)
        self._started = False
        self._blocks: dict[int, _Block] = {}
        self._stop = ""
        self._counts = Counts()

    def take(self, event: Event) -> None:
        match event.type:
            case "message_start":
                self._begin(event)
            case "content_block_start":
                self._open(event)
            case "content_block_delta":
                self._delta(event)
            case "content_block_stop":
                self._close(self._block(event))
            case "message_delta":
                self._counts.report(event.usage)
                if event.delta is not None and isinstance(event.delta.stop_reason, str):
                    self._stop = event.delta.stop_reason
                if self._stop == "refusal" and event.delta is not None:
                    self._refused(event.delta.stop_details)
            case "message_stop":
                self._whole()
            case "error":
                self.broke(event.error or event.message)
            case "message":
                raise Wrong("the response is one document, not a stream of events")
            case str():
                pass  # ping, and what is added later
            case _ if event.error is not None:
                self.broke(event.error)
            case _:
                raise Wrong("an event of the stream has no type")

    def mark(self) -> None:
        if self._stop:
            self._whole()
        else:
            self.cut("ended its answer early" if self._started else "ended its answer before it began")

    # --- the message -------------------------------------------------------------------------------------------------

    def _begin(self, event: Event) -> None:
        if self._started:
            raise Wrong("the response begins twice")
        self._started = True
        head = event.message
        if not isinstance(head, Head):
            raise Wrong("message_start holds no message")
        self._counts.report(head.usage)
        self.model = head.model if isinstance(head.model, str) else ""
        self.out.append(Started(head.id if isinstance(head.id, str) else "", self.model))

    def _whole(self) -> None:
        if not self._started:
            raise Wrong("the stream does not begin with message_start")
        stop = _STOPS.get(self._stop, "end")
        for block in self._blocks.values():
            self._close(block)
            if block.part is not None and block.part.kind == "call" and not block.part.text and stop != "length":
                self.add_args(block.part, "{}")
        self.usage = self._counts.usage
        self.finish(stop)

    def _refused(self, details: object) -> None:
        """A refusal says why outside the text; without any text of its own that becomes the text."""
        why = cast("dict[str, Any]", details).get("explanation") if isinstance(details, dict) else None
        if isinstance(why, str) and why and not any(part.kind == "text" and part.text for part in self.parts):
            self.part("text").add(why)

    # --- blocks ------------------------------------------------------------------------------------------------------

    def _block(self, event: Event) -> _Block:
        block = self._blocks.get(event.index) if isinstance(event.index, int) else None
        if block is None:
            raise Wrong("a delta belongs to no block")
        return block

    def _open(self, event: Event) -> None:
        if not self._started:
            raise Wrong("the stream does not begin with message_start")
        piece = event.content_block
        if piece is None or not isinstance(event.index, int) or event.index in self._blocks:
            raise Wrong("a block begins without content or twice")
        block = _Block(None)
        match piece.type:
            case "text":
                block.part = self.part("text")
                self._say(block.part, piece.text)
            case "thinking":
                block.part = self.part("reasoning")
                self._say(block.part, piece.thinking)
                self._sign(block, piece.signature)
            case "redacted_thinking":
                block.part = self.part("reasoning")
                if isinstance(piece.data, str):
                    state = {"type": "redacted_thinking", "data": piece.data}
                    block.part.opaque = Opaque(self.binding, THINKING, json.encode(state).decode())
            case "tool_use":
                block.part = self.part("call")
                block.part.name = piece.name if isinstance(piece.name, str) else ""
                block.part.wire_id = piece.id if isinstance(piece.id, str) else ""
                given: Any = piece.input
                if isinstance(given, dict) and given:
                    block.input = json.encode(cast("object", given)).decode()
            case _:
                pass  # of tools of the server, which are never asked for
        self._blocks[event.index] = block

    def _delta(self, event: Event) -> None:
        block, piece = self._block(event), event.delta
        if piece is None:
            raise Wrong("a delta holds nothing")
        part = block.part
        if part is None:
            return
        match piece.type, part.kind:
            case "text_delta", "text":
                self._say(part, piece.text)
            case "thinking_delta", "reasoning":
                self._say(part, piece.thinking)
            case "signature_delta", "reasoning":
                self._sign(block, piece.signature)
            case "input_json_delta", "call":
                if not isinstance(piece.partial_json, str):
                    raise Wrong("the arguments of a call are not text")
                self.add_args(part, piece.partial_json)
            case (("text_delta" | "thinking_delta" | "signature_delta" | "input_json_delta"), _):
                raise Wrong("a delta is of another kind than its block")
            case _:
                pass  # citations, and what is added later

    def _say(self, part: Part, text: object) -> None:
        if isinstance(text, str):
            if text:
                part.add(text)
        elif text is not None:
            raise Wrong("a delta of the stream is not text")

    def _sign(self, block: _Block, signature: object) -> None:
        if isinstance(signature, str) and signature:
            block.signature.append(signature)

    def _close(self, block: _Block) -> None:
        part = block.part
        if part is None or part.whole:
            return
        part.whole = True
        if part.kind == "call" and not part.text and block.input:
            self.add_args(part, block.input)
        if part.kind == "reasoning" and block.signature:
            state: dict[str, str] = {"type": "thinking", "thinking": part.joined, "signature": "".join(block.signature)}
            part.opaque = Opaque(self.binding, THINKING, json.encode(state).decode())

"""The answer while it is made, as the raw events of the Messages API. Pure.

Blocks follow each other there, so what begins before the block in front of it is whole waits for its turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from agenyx.core import json
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
_Kind = Literal["text", "thinking", "tool_use"]
_DELTAS = {
    "text": ("text_delta", "text"),
    "thinking": ("thinking_delta", "thinking"),
    "tool_use": ("input_json_delta", "partial_json"),
}


class _Block:
    """One block that is not over. `fresh` was not told yet; `whole` is all text of a call."""

    def __init__(self, kind: _Kind, block: int) -> None:
        self.kind: _Kind = kind
        self.block, self.begun = block, False
        self.name = self.id = ""
        self.fresh, self.whole = list[str](), list[str]()

    @property
    def known(self) -> bool:
        return self.kind != "tool_use" or bool(self.name and self.id)

    @property
    def over(self) -> bool:
        """Whether another block may begin: a call is over once its arguments are an object."""
        if self.kind != "tool_use":
            return True
        try:
            return isinstance(json.decode("".join(self.whole)), dict)
        except json.JsonError:
            return False

    @property
    def head(self) -> JsonObject:
        match self.kind:
            case "text":
                return {"type": "text", "text": ""}
            case "thinking":
                return {"type": "thinking", "thinking": "", "signature": ""}
            case "tool_use":
                return {"type": "tool_use", "id": self.id, "name": self.name, "input": {}}


class Partials:
    """Of one agent; one response after the other."""

    def __init__(self) -> None:
        self._blocks: list[_Block] = []  # the first one is told as it comes
        self._index, self._open = -1, False
        self._usage = Usage()

    def events(self, body: Body, message: str, model: str) -> Iterator[JsonObject]:
        """What one event comes to. `message` is the id of the response."""
        match body:
            case StepStarted():
                self._blocks, self._index, self._open, self._usage = [], -1, False, Usage()
            case TextDelta(block, text):
                yield from self._piece("text", block, text, message, model)
            case ReasoningDelta(block, text):
                yield from self._piece("thinking", block, text, message, model)
            case CallDraft(block, text=text):
                yield from self._piece("tool_use", block, text, message, model, body)
            case Started() if not self._open:
                yield from self._start(message, model)
            case Usage():
                self._usage = self._usage + body
            case Done(assistant):
                yield from self._start(message, model)
                yield from self._tell(last=True)
                usage = {"input_tokens": self._usage.given, "output_tokens": self._usage.out}
                delta = {"stop_reason": STOPS[assistant.stop], "stop_sequence": None}
                yield {"type": "message_delta", "delta": delta, "usage": usage}
                yield {"type": "message_stop"}
                self._open = False
            case Failure():
                yield from self._tell(last=True)
                self._open = False
            case _:
                pass

    def _start(self, message: str, model: str) -> Iterator[JsonObject]:
        if self._open:
            return
        self._open, self._blocks, self._index = True, [], -1
        usage = {"input_tokens": 0, "output_tokens": 0}
        head: JsonObject = {"id": message, "type": "message", "role": "assistant", "model": model, "content": []}
        yield {"type": "message_start", "message": {**head, "stop_reason": None, "stop_sequence": None, "usage": usage}}

    def _piece(
        self, kind: _Kind, number: int, text: str, message: str, model: str, draft: CallDraft | None = None
    ) -> Iterator[JsonObject]:
        if not self._open:
            yield from self._start(message, model)
        block = next((one for one in self._blocks if one.kind == kind and one.block == number), None)
        if block is None:
            block = _Block(kind, number)
            self._blocks.append(block)
        if text:
            block.fresh.append(text)
        if draft is not None:
            block.name, block.id = block.name or draft.name, block.id or draft.id
            block.whole.append(text)
        yield from self._tell()

    def _tell(self, *, last: bool = False) -> Iterator[JsonObject]:
        """What can be told now; with `last` all that there is."""
        while self._blocks:
            block = self._blocks[0]
            if not block.begun and block.known:
                block.begun, self._index = True, self._index + 1
                yield {"type": "content_block_start", "index": self._index, "content_block": block.head}
            if block.begun and block.fresh:
                kind, member = _DELTAS[block.kind]
                delta: dict[str, Any] = {"type": kind, member: "".join(block.fresh)}
                block.fresh.clear()
                yield {"type": "content_block_delta", "index": self._index, "delta": delta}
            if not last and (len(self._blocks) == 1 or not block.over):
                return
            del self._blocks[0]
            if block.begun:
                yield {"type": "content_block_stop", "index": self._index}

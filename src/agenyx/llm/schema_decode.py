"""Reads the answers of the JSON-schema protocol: one object that is a call or the final answer. No I/O.

Everything about the stream itself (framing, errors, finish reasons, usage) is the chat decoder's; this one reads its
text. The result does not depend on how the bytes were cut. A server that ignores the schema and answers in prose is
taken at its word: the prose is the answer.
"""

from __future__ import annotations

from typing import Any, cast

from msgspec.structs import replace

from agenyx.core import json
from agenyx.core.events import CallDraft, Done, ModelEvent, TextDelta
from agenyx.core.messages import Assistant, Block, Text, ToolCall
from agenyx.llm.chat_decode import ChatDecoder
from agenyx.llm.failures import Target
from agenyx.llm.schema_scan import ARGUMENTS, FINAL, TOOL, Scanner


class SchemaDecoder:
    """One response: `feed` bytes, then `end`. Exactly one Done or Failure comes, and nothing after it.

    `cap` is what the encoder was given: a string that reached it was cut by the server's grammar and not ended by the
    model, so its call must not run.
    """

    def __init__(self, target: Target, binding: str = "", cap: int = 0) -> None:
        self._chat = ChatDecoder(target, binding)
        self._cap = cap
        self._scan = Scanner()
        self._shown: list[str] = []
        self._block = 0

    def feed(self, data: bytes) -> list[ModelEvent]:
        """What these bytes brought."""
        return self._read(self._chat.feed(data))

    def end(self) -> list[ModelEvent]:
        """The stream is over."""
        return self._read(self._chat.end())

    def _read(self, events: list[ModelEvent]) -> list[ModelEvent]:
        out: list[ModelEvent] = []
        for event in events:
            match event:
                case TextDelta(block=block, text=text):
                    self._block = block
                    out += self._take(text)
                case Done(assistant=assistant):
                    out += self._done(assistant)
                case _:
                    out.append(event)
        return out

    def _take(self, text: str) -> list[ModelEvent]:
        answer, draft = self._scan.feed(text)
        out: list[ModelEvent] = []
        if draft:
            out.append(CallDraft(self._block, self._scan.value(TOOL), draft))
        return [*out, *self._show(answer)]

    def _show(self, text: str) -> list[ModelEvent]:
        if not text:
            return []
        self._shown.append(text)
        return [TextDelta(self._block, text)]

    def _done(self, assistant: Assistant) -> list[ModelEvent]:
        if not any(isinstance(block, Text) for block in assistant.blocks):
            return [Done(assistant)]
        scan, stop = self._scan, assistant.stop
        out = self._show(scan.end())
        call = ToolCall("", "", scan.value(TOOL), scan.value(ARGUMENTS)) if scan.value(TOOL) else None
        if self._cut(call):
            stop = "length" if stop in ("end", "calls") else stop
            call = None
        elif call is not None and not scan.whole and stop in ("length", "filter"):
            call = None
        elif call is None and not self._shown and not scan.has(FINAL) and stop not in ("length", "filter"):
            out += self._show(scan.raw)  # JSON, but not of this protocol: better seen than lost
        if call is not None and stop == "end":
            stop = "calls"
        said = "".join(self._shown)
        made: list[Block] = [*([Text(said)] if said else []), *([call] if call else [])]
        blocks = [new for block in assistant.blocks for new in (made if isinstance(block, Text) else [block])]
        return [*out, Done(replace(assistant, blocks=tuple(blocks), stop=stop))]

    def _cut(self, call: ToolCall | None) -> bool:
        if not self._cap:
            return False
        if call is None:
            return len(self._scan.value(FINAL)) >= self._cap
        try:
            return _longest(json.decode(call.args)) >= self._cap
        except json.JsonError:
            return False


def _longest(value: Any) -> int:
    """The length of the longest string in a value."""
    match value:
        case str():
            return len(value)
        case dict():
            return max(map(_longest, cast("dict[str, Any]", value).values()), default=0)
        case list():
            return max(map(_longest, cast("list[Any]", value)), default=0)
        case _:
            return 0

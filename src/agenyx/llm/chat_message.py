"""The message of a chat-completions response while it grows: text, reasoning and calls out of deltas. No framing."""

from __future__ import annotations

from typing import Any, Literal, cast

from msgspec import Struct, field

from agenyx.core import json
from agenyx.core.events import CallDraft, ModelEvent, ReasoningDelta, TextDelta
from agenyx.core.limits import ARGS_BYTES, CALLS_PER_RESPONSE
from agenyx.core.messages import Block, Opaque, Reasoning, Text, ToolCall
from agenyx.llm.chat_wire import Delta
from agenyx.llm.dialects import DETAILS, EXTRA


class Part(Struct):
    """One block of the response while it grows; `fresh` is what this read added."""

    kind: Literal["text", "reasoning", "call"]
    block: int
    text: list[str] = field(default_factory=list[str])
    fresh: list[str] = field(default_factory=list[str])
    name: str = ""
    wire_id: str = ""
    size: int = 0
    extra: bytes = b""

    def add(self, text: str) -> None:
        self.text.append(text)
        self.fresh.append(text)


class Message:
    """Takes deltas in with `add`, gives out what is new with `flush`, in the end all blocks in order of appearance."""

    def __init__(self) -> None:
        self.refused = False
        self._parts: list[Part] = []
        self._text: Part | None = None
        self._reasoning: Part | None = None
        self._by_index: dict[int, Part] = {}
        self._calls: list[Part] = []
        self._details: list[Any] = []

    @property
    def empty(self) -> bool:
        return not self._parts

    def add(self, delta: Delta) -> str:
        """Take one delta in. Says what is wrong with it, or nothing."""
        content = delta.content
        if content is not None:
            if type(content) is str:
                if content:
                    self._say(content)
            elif wrong := self._pieces(content):
                return wrong
        reasoning = delta.reasoning_content if delta.reasoning_content is not None else delta.reasoning
        if isinstance(reasoning, str) and reasoning:
            self._think(reasoning)
        details: Any = delta.reasoning_details
        if isinstance(details, list):
            self._details += cast("list[Any]", details)
        if isinstance(delta.refusal, str) and delta.refusal:
            self.refused = True
            self._say(delta.refusal)
        calls: Any = delta.tool_calls
        if calls is not None:
            if not isinstance(calls, list):
                return "the calls of a delta are not a list"
            fresh: set[int] = set()
            for item in cast("list[Any]", calls):
                if wrong := self._call(item, fresh):
                    return wrong
        old: Any = delta.function_call
        return "" if old is None else self._call({"index": -1, "function": old}, set())

    def _say(self, text: str) -> None:
        if self._text is None:
            self._text = self._part("text")
        self._text.add(text)

    def _think(self, text: str) -> None:
        if self._reasoning is None:
            self._reasoning = self._part("reasoning")
        self._reasoning.add(text)

    def _part(self, kind: Literal["text", "reasoning", "call"]) -> Part:
        part = Part(kind, len(self._parts))
        self._parts.append(part)
        return part

    def _pieces(self, content: Any) -> str:
        """Content as a list of typed parts: text, or thinking that holds text."""
        if not isinstance(content, list):
            return "the content of a delta is neither text nor a list of parts"
        for item in cast("list[Any]", content):
            if not isinstance(item, dict):
                return "a content part of a delta is not an object"
            piece = cast("dict[str, Any]", item)
            text, thinking = piece.get("text"), piece.get("thinking")
            if isinstance(text, str):
                self._say(text)
            for thought in cast("list[Any]", thinking) if isinstance(thinking, list) else [thinking]:
                inner = cast("dict[str, Any]", thought).get("text") if isinstance(thought, dict) else thought
                if isinstance(inner, str):
                    self._think(inner)
        return ""

    # --- out ---------------------------------------------------------------------------------------------------------

    def flush(self) -> list[ModelEvent]:
        """What came since the last time, one event a block."""
        events: list[ModelEvent] = []
        for part in (self._reasoning, self._text, *self._calls):
            if part is None or not part.fresh:
                continue
            text = "".join(part.fresh)
            part.fresh.clear()
            match part.kind:
                case "text":
                    events.append(TextDelta(part.block, text))
                case "reasoning":
                    events.append(ReasoningDelta(part.block, text))
                case "call":
                    events.append(CallDraft(part.block, part.name, text))
        return events

    def blocks(self, binding: str, *, cut: bool) -> tuple[Block, ...]:
        """The blocks; `cut` drops a last call that is not whole."""
        kept = [part for part in self._parts if part.kind != "call" or part.name or part.text or part.wire_id]
        if cut and self._calls and not _whole("".join(self._calls[-1].text)):
            kept = [part for part in kept if part is not self._calls[-1]]
        blocks = tuple(_block(part, binding) for part in kept)
        if not self._details:
            return blocks
        from agenyx.llm.chat_details import merged  # few servers send them

        return _with_details(blocks, Opaque(binding, DETAILS, merged(self._details)))

    # --- calls -------------------------------------------------------------------------------------------------------

    def _call(self, item: Any, fresh: set[int]) -> str:
        """Take one piece of a call in; `fresh` holds the blocks that this delta has touched."""
        if not isinstance(item, dict):
            return "a call of a delta is not an object"
        piece = cast("dict[str, Any]", item)
        inner = piece.get("function")
        function = cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}
        wire_id, name, args = piece.get("id"), function.get("name"), function.get("arguments")
        wire_id = wire_id if isinstance(wire_id, str) else ""
        name = name if isinstance(name, str) else ""
        if isinstance(args, dict):
            args = json.encode(cast("object", args)).decode()
        elif args is None:
            args = ""
        elif not isinstance(args, str):
            return "the arguments of a call are not text"
        index = piece.get("index")
        call = self._find(index if isinstance(index, int) else None, wire_id, name, fresh)
        if call is None:
            return f"the response holds more than {CALLS_PER_RESPONSE} calls"
        fresh.add(call.block)
        call.wire_id = call.wire_id or wire_id
        extra = piece.get("extra_content")
        if isinstance(extra, dict):  # signatures of thought, which some servers want back with the call
            call.extra = json.encode(cast("object", extra))
        if name and name != call.name and not call.text:
            call.name += name
        if args:
            call.size += len(args) if args.isascii() else len(args.encode())
            if call.size > ARGS_BYTES:
                return f"the arguments of a call are larger than {ARGS_BYTES >> 10} KiB"
            call.add(args)
        return ""

    def _find(self, index: int | None, wire_id: str, name: str, fresh: set[int]) -> Part | None:
        """The call that a piece belongs to; a new one where it begins one; None above the limit."""
        call = self._by_index.get(index) if index is not None else self._calls[-1] if self._calls else None
        if call is not None:
            other_id = bool(wire_id and call.wire_id and wire_id != call.wire_id)
            # Without an index, a name begins a call unless it repeats the name of one that has no arguments yet.
            begins = (
                index is None
                and bool(name and call.name)
                and not (wire_id and wire_id == call.wire_id)
                and (call.block in fresh or name != call.name or bool(call.text and _whole("".join(call.text))))
            )
            if not (other_id or begins):
                return call
        if len(self._calls) >= CALLS_PER_RESPONSE:
            return None
        call = self._part("call")
        self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        return call


def _block(part: Part, binding: str) -> Block:
    text = "".join(part.text)
    match part.kind:
        case "text":
            return Text(text)
        case "reasoning":
            return Reasoning(text)
        case "call":
            opaque = Opaque(binding, EXTRA, part.extra.decode()) if part.extra else None
            return ToolCall("", part.wire_id, part.name, text, opaque)


def _with_details(blocks: tuple[Block, ...], opaque: Opaque) -> tuple[Block, ...]:
    """They belong to the whole message and stand with its reasoning, which may have no text."""
    for position, block in enumerate(blocks):
        if isinstance(block, Reasoning):
            return (*blocks[:position], Reasoning(block.text, opaque), *blocks[position + 1 :])
    return (Reasoning("", opaque), *blocks)


def _whole(args: str) -> bool:
    """Whether the text is a whole JSON object."""
    if not args.rstrip().endswith("}"):
        return False
    try:
        return isinstance(json.decode(args), dict)
    except json.JsonError:
        return False

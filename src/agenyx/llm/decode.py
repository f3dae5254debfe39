"""What decoders of event streams with typed events share: framing, limits, deltas merged by read. No I/O, no time.

Knows no wire: a subclass takes one event at a time and says when the response is over.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, Literal, TypeVar

from msgspec import Struct, field

from agenyx.core import json
from agenyx.core.events import CallDraft, Done, Failure, ModelEvent, ReasoningDelta, TextDelta, Usage
from agenyx.core.limits import ARGS_BYTES, CALLS_PER_RESPONSE
from agenyx.core.messages import Assistant, Block, Opaque, Reasoning, Stop, Text, ToolCall
from agenyx.llm.failures import Target, of_stream
from agenyx.llm.sse import JsonEvents, SseError, SseReader

RESPONSE_BYTES = 64 << 20
BLOCKS = 4096  # items of one response

E = TypeVar("E")


class Part(Struct):
    """One block of the response while it grows; `fresh` is what this read added."""

    kind: Literal["text", "reasoning", "call"]
    block: int
    text: list[str] = field(default_factory=list[str])
    fresh: list[str] = field(default_factory=list[str])
    name: str = ""
    wire_id: str = ""
    size: int = 0
    opaque: Opaque | None = None
    phase: str = ""
    whole: bool = False  # the server said that the block is finished

    def add(self, text: str) -> None:
        self.text.append(text)
        self.fresh.append(text)

    @property
    def joined(self) -> str:
        return "".join(self.text)

    def finished(self) -> Block | None:
        """The block, or None when there is nothing in it."""
        text = self.joined
        match self.kind:
            case "text":
                return Text(text) if text else None
            case "reasoning":
                return Reasoning(text, self.opaque) if text or self.opaque else None
            case "call":
                return ToolCall("", self.wire_id, self.name, text, self.opaque)


class Wrong(Exception):
    """The stream breaks the protocol; the message says how."""


class StreamDecoder(ABC, Generic[E]):
    """One response: `feed` bytes, then `end`. Exactly one Done or Failure comes, and nothing after it.

    `binding` is stamped on the response, and the model that the server names or else was asked for.
    """

    protocol = ""  # what the server should be, for the remedy

    def __init__(self, target: Target, binding: str, event: type[E]) -> None:
        self.target = target
        self.binding = binding
        self.model = ""
        self.usage: Usage | None = None
        self.parts: list[Part] = []
        self.out: list[ModelEvent] = []  # what this read brought, before its deltas are merged in
        self._sse = SseReader()
        self._events = JsonEvents(event)
        self._bytes = 0
        self._calls = 0
        self._over: list[ModelEvent] | None = None  # the last events, once it is over

    # --- for the wire ------------------------------------------------------------------------------------------------

    @abstractmethod
    def take(self, event: E) -> None:
        """One event. Raises Wrong."""

    @abstractmethod
    def mark(self) -> None:
        """The stream's end mark, or its end: over without it is cut. Raises Wrong."""

    def part(self, kind: Literal["text", "reasoning", "call"]) -> Part:
        """A new block behind the others. Raises Wrong above the limits."""
        if len(self.parts) >= BLOCKS:
            raise Wrong(f"the response holds more than {BLOCKS} items")
        if kind == "call":
            self._calls += 1
            if self._calls > CALLS_PER_RESPONSE:
                raise Wrong(f"the response holds more than {CALLS_PER_RESPONSE} calls")
        part = Part(kind, len(self.parts))
        self.parts.append(part)
        return part

    def add_args(self, call: Part, args: str) -> None:
        """Raises Wrong above the limit."""
        call.size += len(args) if args.isascii() else len(args.encode("utf-8", "replace"))
        if call.size > ARGS_BYTES:
            raise Wrong(f"the arguments of a call are larger than {ARGS_BYTES >> 10} KiB")
        if args:
            call.add(args)

    def finish(self, stop: Stop, phase: str = "") -> None:
        """The response is whole."""
        parts = self.parts
        if stop in ("length", "filter") and parts and parts[-1].kind == "call" and not _whole(parts[-1]):
            parts = parts[:-1]
        blocks = tuple(block for part in parts if (block := part.finished()) is not None)
        if stop in ("end", "calls"):
            stop = "calls" if any(isinstance(block, ToolCall) for block in blocks) else "end"
        done = Done(Assistant(blocks, stop, self.model or self.target.model, phase, self.binding))
        self._over = [done] if self.usage is None else [self.usage, done]

    def broke(self, error: object) -> None:
        """The server said that it failed."""
        self._over = [of_stream(error, self.target)]

    def cut(self, what: str = "ended its answer early") -> None:
        self._over = [Failure("truncated", f"{self.target.host} {what}", "Try again.", True)]

    # --- for the stream ----------------------------------------------------------------------------------------------

    def feed(self, data: bytes) -> list[ModelEvent]:
        """What these bytes brought."""
        if self._over is not None:
            return []
        self._bytes += len(data)
        if self._bytes > RESPONSE_BYTES:
            return self._fail(f"the response is larger than {RESPONSE_BYTES >> 20} MiB")
        try:
            events = self._sse.feed(data)
        except SseError as error:
            return self._fail(str(error))
        return self._take(events) if events else []

    def end(self) -> list[ModelEvent]:
        """The stream is over."""
        if self._over is not None:
            return []
        found = self._take(self._sse.end())
        if self._over is not None:
            return found
        return [*found, *self._marked()]

    def _take(self, events: list[bytes]) -> list[ModelEvent]:
        marked = False
        kept: list[bytes] = []
        for event in events:
            if event.startswith(b"[DONE]"):
                marked = True
                break
            if event.strip():
                kept.append(event)
        try:
            for value in self._events.decode(kept):
                if value is None:
                    raise Wrong(f"an event of the stream is not valid JSON of {self.protocol}")
                self.take(value)
                if self._over is not None:
                    break
        except Wrong as wrong:
            return self._fail(str(wrong))
        out = self._flush()
        if self._over is not None:
            return [*out, *self._over]
        return [*out, *self._marked()] if marked else out

    def _marked(self) -> list[ModelEvent]:
        try:
            self.mark()
        except Wrong as wrong:
            return self._fail(str(wrong))
        return self._over or []

    def _flush(self) -> list[ModelEvent]:
        """Everything that came since the last time, one delta a block."""
        out, self.out = self.out, []
        for part in self.parts:
            if not part.fresh:
                continue
            text = "".join(part.fresh)
            part.fresh.clear()
            if part.kind == "call":
                out.append(CallDraft(part.block, part.name, text))
            elif text:
                out.append((TextDelta if part.kind == "text" else ReasoningDelta)(part.block, text))
        return out

    def _fail(self, what: str) -> list[ModelEvent]:
        out = self._flush()
        fix = f"Check that the base URL ({self.target.url_name}) is that of {self.protocol}."
        self._over = [Failure("protocol", f"{self.target.host}: {what}", fix)]
        return [*out, *self._over]


def _whole(call: Part) -> bool:
    """Whether the arguments came to their end."""
    try:
        return isinstance(json.decode(call.joined), dict)
    except json.JsonError:
        return False

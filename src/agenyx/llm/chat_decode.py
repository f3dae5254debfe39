"""Reads OpenAI chat-completions streams into ModelEvents. No I/O, no time, no masking.

The result does not depend on how the bytes were cut. What servers do differently is tolerated where the meaning is
plain (no index, repeated ids and names, whole calls, objects for arguments, `message` for `delta`); else the response
is a Failure. Nothing is a response before the server's own end: `[DONE]`, or a finish reason and the end of the stream.
"""

from __future__ import annotations

from agenyx.core.events import Done, Failure, ModelEvent, Started, Usage
from agenyx.core.messages import Assistant, Stop, ToolCall
from agenyx.llm.chat_message import Message
from agenyx.llm.chat_wire import Chunk, usage_of
from agenyx.llm.failures import Target, of_stream
from agenyx.llm.sse import JsonEvents, SseError, SseReader

RESPONSE_BYTES = 64 << 20

_STOPS: dict[str, Stop] = {
    "stop": "end",
    "tool_calls": "calls",
    "function_call": "calls",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "filter",
    "refusal": "refusal",
}
_BROKEN = ("error", "insufficient_system_resource")  # finish reasons that say the server failed


class ChatDecoder:
    """One response: `feed` bytes, then `end`. Exactly one Done or Failure comes, and nothing after it.

    `binding` is stamped on the response, and the model that the server names or else was asked for.
    """

    def __init__(self, target: Target, binding: str = "") -> None:
        self._target = target
        self._binding = binding
        self._sse = SseReader()
        self._chunks = JsonEvents(Chunk)
        self._bytes = 0
        self._started = False
        self._over = False
        self._model = ""
        self._message = Message()
        self._finish = ""
        self._usage: Usage | None = None

    def feed(self, data: bytes) -> list[ModelEvent]:
        """What these bytes brought."""
        if self._over:
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
        if self._over:
            return []
        found = self._take(self._sse.end())
        if self._over:
            return found
        if self._finish:
            return [*found, *self._done()]
        self._over = True
        return [*found, Failure("truncated", f"{self._target.host} ended its answer early", "Try again.", True)]

    # --- one read ----------------------------------------------------------------------------------------------------

    def _take(self, events: list[bytes]) -> list[ModelEvent]:
        done = False
        for position, event in enumerate(events):
            if event[:1] != b"{":
                if event.startswith(b"[DONE]"):
                    done = True
                    events = events[:position]
                    break
                if not event.strip():
                    return self._take([event for event in events if event.strip()])
        out: list[ModelEvent] = []
        wrong: list[ModelEvent] = []
        for chunk in self._chunks.decode(events):
            wrong = self._fail("an event of the stream is not valid JSON of a completion") if chunk is None else []
            if chunk is not None:
                if not self._started and chunk.error is None:
                    self._begin(chunk, out)
                wrong = self._chunk(chunk)
            if wrong:
                break
        out += self._message.flush()
        if wrong:
            return [*out, *wrong]
        if not done:
            return out
        if not self._finish and self._message.empty:
            self._over = True
            message = f"{self._target.host} ended its answer before it began"
            return [*out, Failure("truncated", message, "Try again.", True)]
        return [*out, *self._done()]

    def _begin(self, chunk: Chunk, out: list[ModelEvent]) -> None:
        self._started = True
        self._model = chunk.model if isinstance(chunk.model, str) else ""
        out.append(Started(chunk.id if isinstance(chunk.id, str) else "", self._model))

    def _chunk(self, chunk: Chunk) -> list[ModelEvent]:
        """Take one chunk in. A Failure if it is one."""
        if chunk.error is not None:
            self._over = True
            return [of_stream(chunk.error, self._target)]
        if chunk.usage is not None:
            self._usage = usage_of(chunk.usage) or self._usage
        for choice in chunk.choices or ():
            if choice.index:  # only one choice was asked for
                continue
            delta = choice.delta or choice.message
            if delta is not None:
                wrong = self._message.add(delta)
                if wrong:
                    return self._fail(wrong)
            if choice.usage is not None:
                self._usage = usage_of(choice.usage) or self._usage
            if isinstance(choice.finish_reason, str) and choice.finish_reason:
                self._finish = choice.finish_reason
                if self._finish in _BROKEN:
                    self._over = True
                    return [of_stream({"message": "it stopped with " + self._finish}, self._target)]
        return []

    def _fail(self, what: str) -> list[ModelEvent]:
        self._over = True
        fix = f"Check that the base URL ({self._target.url_name}) is an OpenAI-compatible chat-completions server."
        return [Failure("protocol", f"{self._target.host}: {what}", fix)]

    def _done(self) -> list[ModelEvent]:
        self._over = True
        stop = _STOPS.get(self._finish, "end")
        blocks = self._message.blocks(self._binding, cut=stop in ("length", "filter"))
        if stop == "end" and self._message.refused:
            stop = "refusal"
        elif stop in ("end", "calls"):
            stop = "calls" if any(isinstance(block, ToolCall) for block in blocks) else "end"
        model = self._model or self._target.model
        done = Done(Assistant(blocks, stop, model, binding=self._binding))
        return [done] if self._usage is None else [self._usage, done]

"""Reads Responses streams into ModelEvents. No I/O, no time, no masking.

Strict for OpenAI and Azure: the order of the first events, one response id, and a last event that holds what was
streamed, unchanged. Lenient for servers that imitate them: missing ids, events and items are made good from what there
is. Either way nothing is a response before the server's own last event.
"""

from __future__ import annotations

from typing import Any, cast

from msgspec import Raw

from agenyx.core.events import Started
from agenyx.core.messages import Stop
from agenyx.llm.decode import StreamDecoder, Wrong
from agenyx.llm.failures import Target
from agenyx.llm.responses_items import Items
from agenyx.llm.responses_wire import Body, Event, body_of, usage_of

_TEXT = ("response.output_text.delta", "response.refusal.delta")
_THOUGHT = (
    "response.reasoning_summary_text.delta",
    "response.reasoning_text.delta",
    "response.reasoning.delta",
)
_ENDS = ("response.completed", "response.incomplete", "response.failed")
_STOPS: dict[str, Stop] = {"max_output_tokens": "length", "max_tokens": "length", "content_filter": "filter"}


class ResponsesDecoder(StreamDecoder[Event]):
    """One response of a Responses server."""

    protocol = "a Responses server"

    def __init__(self, target: Target, binding: str = "", *, strict: bool = True) -> None:
        super().__init__(target, binding, Event)
        self._strict = strict
        self._state = "new"  # → created → running
        self._id = ""
        self._items = Items(self, strict)

    def take(self, event: Event) -> None:
        kind = event.type if isinstance(event.type, str) else ""
        if kind in ("error", "response.error") or (event.error is not None and not kind.startswith("response.")):
            self.broke(event.error or {"code": event.code, "message": event.message})
        elif kind in _ENDS:
            self._end(kind, event.response)
        elif kind in ("response.created", "response.in_progress"):
            self._begin(kind, event.response)
        elif kind in _TEXT:
            self._running()
            self._items.text(event, refusal=kind == _TEXT[1])
        elif kind in _THOUGHT:
            self._running()
            self._items.thought(event)
        elif kind == "response.reasoning_summary_part.added":
            self._running()
            self._items.summary(event)
        elif kind == "response.function_call_arguments.delta":
            self._running()
            self._items.args(event)
        elif kind == "response.function_call_arguments.done":
            self._running()
            self._items.args_done(event)
        elif kind in ("response.output_item.added", "response.output_item.done"):
            self._running()
            self._items.item(event, done=kind.endswith("done"))
        elif kind == "response.usage":
            self.usage = usage_of(event.usage) or self.usage
        elif not kind and event.object == "response":
            raise Wrong("the response is one document, not a stream of events")
        elif not kind:
            raise Wrong("an event of the stream has no type")

    def mark(self) -> None:
        began = self._state != "new"
        self.cut("ended its answer early" if began else "ended its answer before it began")

    # --- order -------------------------------------------------------------------------------------------------------

    def _begin(self, kind: str, raw: Raw) -> None:
        body = body_of(raw)
        if body is None:
            raise Wrong(f"{kind} holds no response")
        if kind == "response.created":
            if self._state != "new" and self._strict:
                raise Wrong("the response begins twice")
        elif self._state == "new" and self._strict:
            raise Wrong("the stream does not begin with response.created")
        elif self._state == "running" and self._strict:
            raise Wrong("response.in_progress comes twice or too late")
        if self._strict and body.status != "in_progress":
            raise Wrong(f"the response begins with status {_shown(body.status)}")
        self._same(body)
        if self._state == "new":
            self.out.append(Started(self._id, self.model))
        self._state = "running" if kind == "response.in_progress" else "created"

    def _running(self) -> None:
        """Content may come now."""
        if self._state == "running":
            return
        if self._strict:
            raise Wrong("content comes before response.in_progress")
        if self._state == "new":
            self.out.append(Started("", ""))
        self._state = "running"

    def _same(self, body: Body) -> None:
        found = body.id if isinstance(body.id, str) else ""
        if self._id and found != self._id and self._strict:
            raise Wrong("the id of the response changes")
        if not found and self._strict:
            raise Wrong("the response has no id")
        self._id = self._id or found
        if isinstance(body.model, str):
            self.model = self.model or body.model

    # --- end ---------------------------------------------------------------------------------------------------------

    def _end(self, kind: str, raw: Raw) -> None:
        body = body_of(raw)
        if body is None:
            raise Wrong(f"{kind} holds no response")
        if self._strict and self._state != "running" and kind != "response.failed":
            raise Wrong(f"{kind} comes before response.in_progress")
        self._same(body)
        if self._state == "new":
            self.out.append(Started(self._id, self.model))
        self.usage = usage_of(body.usage) or self.usage
        if kind == "response.failed" or body.status == "failed":
            self.broke(body.error or {"message": "it did not say why"})
            return
        if self._strict and f"response.{body.status}" != kind:
            raise Wrong(f"{kind} has status {_shown(body.status)}")
        stop: Stop = "end"
        if kind == "response.incomplete" or body.status == "incomplete":
            details: Any = body.incomplete_details
            reason = cast("dict[str, Any]", details).get("reason") if isinstance(details, dict) else None
            found = _STOPS.get(reason) if isinstance(reason, str) else None
            if found is None:
                self.cut(f"ended its answer early: {_shown(reason)}")
                return
            stop = found
        self._items.settle(body.output or [], whole=stop == "end")
        if stop == "end" and self._items.refused:
            stop = "refusal"
        self.finish(stop, self._items.phase)


def _shown(value: object) -> str:
    return repr(value)[:64]

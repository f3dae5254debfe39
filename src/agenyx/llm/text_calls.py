"""Calls that a model printed as text, as small models on this machine do. Pure functions and a filter of events.

Taken only when the text is nothing but calls of known tools and the response has no other call. Hosted models are
never read this way: what they quote from a file would become an act.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

from agenyx.core import json
from agenyx.core.events import CallDraft, Done, Failure, ModelEvent, TextDelta
from agenyx.core.messages import Assistant, Text, ToolCall
from agenyx.llm.stream import Decoder

HELD = 64 * 1024  # characters held back in the hope of a call

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"  # Qwen, Hermes
_PYTHON = "<|python_tag|>"  # Llama
_MISTRAL = "[TOOL_CALLS]"
_FENCES = ("```json\n", "```tool_call\n", "```\n")
_BEGINNINGS = (_OPEN, _PYTHON, _MISTRAL, *_FENCES, "{")


def may_begin(text: str) -> bool:
    """Whether a text that begins like this may still become calls."""
    start = text.lstrip()
    return any(start.startswith(mark) or mark.startswith(start) for mark in _BEGINNINGS)


def calls_in(text: str, names: Collection[str]) -> tuple[ToolCall, ...]:
    """The calls that the text consists of; none if there is anything else in it or a tool is unknown."""
    found: list[ToolCall] = []
    for value in _values(text.strip()):
        call = _call(value, names)
        if call is None:
            return ()
        found.append(call)
    return tuple(found)


def _values(text: str) -> list[Any]:
    """The JSON values in one of the known shapes; `[None]` for any other text."""
    if text.startswith(_OPEN):
        parts = text.split(_OPEN)[1:]
        # Some models leave out the last closing tag.
        ends = [part.strip().removesuffix(_CLOSE) for part in parts]
        return [_decoded(part) for part in ends]
    if text.startswith(_PYTHON):
        return [_decoded(part) for part in text.removeprefix(_PYTHON).removesuffix("<|eom_id|>").split(";")]
    if text.startswith(_MISTRAL):
        value = _decoded(text.removeprefix(_MISTRAL))
        return cast("list[Any]", value) if isinstance(value, list) and value else [value]
    for fence in _FENCES:
        if text.startswith(fence) and text.endswith("```"):
            text = text.removeprefix(fence).removesuffix("```")
            break
    return [_decoded(text)]


def _decoded(text: str) -> Any:
    try:
        return json.decode(text.strip())
    except json.JsonError:
        return None


def _call(value: Any, names: Collection[str]) -> ToolCall | None:
    if not isinstance(value, dict):
        return None
    fields = cast("dict[str, Any]", value)
    name = fields.get("name")
    args = fields.get("arguments", fields.get("parameters"))
    if not isinstance(name, str) or name not in names or not set(fields) <= {"name", "arguments", "parameters", "id"}:
        return None
    if isinstance(args, str):
        args = _decoded(args)
    return ToolCall("", "", name, json.encode(cast("object", args)).decode()) if isinstance(args, dict) else None


class TextCalls:
    """A decoder around another one, which turns such a response into calls. `names` are the tools on offer.

    Text that may still become a call is held back, so that nobody reads what is not said.
    """

    def __init__(self, decoder: Decoder, names: Collection[str]) -> None:
        self._decoder = decoder
        self._names = names
        self._held: list[TextDelta] = []
        self._text = ""
        self._holding = bool(names)

    def feed(self, data: bytes) -> list[ModelEvent]:
        return self._filter(self._decoder.feed(data))

    def end(self) -> list[ModelEvent]:
        return self._filter(self._decoder.end())

    def _filter(self, events: list[ModelEvent]) -> list[ModelEvent]:
        if not self._holding:
            return events
        out: list[ModelEvent] = []
        for event in events:
            match event:
                case TextDelta() if self._holding:
                    self._held.append(event)
                    self._text += event.text
                    if len(self._text) > HELD or not may_begin(self._text):
                        out += self._release()
                case CallDraft():
                    out += [*self._release(), event]
                case Done(assistant=assistant):
                    calls = self._found(assistant)
                    if not calls:
                        out += [*self._release(), event]
                        continue
                    kept = tuple(block for block in assistant.blocks if not isinstance(block, Text))
                    first = len(assistant.blocks)
                    out += [CallDraft(first + place, call.name, call.args) for place, call in enumerate(calls)]
                    done = Assistant((*kept, *calls), "calls", assistant.model, assistant.phase, assistant.binding)
                    out.append(Done(done))
                case Failure():
                    out += [*self._release(), event]
                case _:
                    out.append(event)
        return out

    def _found(self, assistant: Assistant) -> tuple[ToolCall, ...]:
        if not self._holding or assistant.calls or assistant.stop != "end":
            return ()
        return calls_in(assistant.text, self._names)

    def _release(self) -> list[TextDelta]:
        held, self._held, self._holding = self._held, [], False
        return held

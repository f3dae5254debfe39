"""Writes OpenAI chat-completions requests: model, options and tools first, the messages last. No I/O, no time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Raw

from agenyx.core import json
from agenyx.core.messages import Assistant, Entry, Reasoning, Step, Summary, ToolCall, User
from agenyx.llm.dialects import DETAILS, EXTRA, Dialect
from agenyx.llm.encode import Conversation, Encoder, WireIds, dump, replayed, wire_args, wire_name
from agenyx.llm.request import Request

if TYPE_CHECKING:
    from agenyx.llm.shown import Piece


class ChatEncoder(Encoder):
    """Encodes for one dialect; `binding` says whose state may go back."""

    def __init__(self, dialect: Dialect, binding: str = "") -> None:
        super().__init__(lambda request: _Chat(request, dialect, binding))


class _Chat(Conversation):
    wire: ClassVar[str] = "chat"

    def __init__(self, request: Request, dialect: Dialect, binding: str) -> None:
        self._dialect = dialect
        self._binding = binding
        self._ids = WireIds(dialect.ids)
        system = "\n\n".join(section for section in request.system if section)
        first = dump({"role": "system", "content": system}) if system else b""
        super().__init__(request, dump(_fields(request, dialect))[:-1] + b',"messages":[' + first)

    def messages(self, entry: Entry) -> list[bytes]:
        match entry:
            case User():
                return [_user(self.shown(entry.blocks))]
            case Summary():
                return [_user(entry.text)]
            case Step():
                return self._step(entry)

    def _step(self, step: Step) -> list[bytes]:
        assistant = step.assistant
        calls = assistant.calls
        message: dict[str, Any] = {"role": "assistant", "content": assistant.text or (None if calls else "")}
        reasoning = self._reasoning(assistant) if calls else None
        if reasoning is not None:
            message[self._dialect.replay] = reasoning
        if self._dialect.details and (details := self._details(assistant)):
            message["reasoning_details"] = Raw(details)
        ids = [self._ids.of(call) for call in calls]
        if calls:
            message["tool_calls"] = [self._call(wire_id, call) for wire_id, call in zip(ids, calls, strict=True)]
        messages = [dump(message)]
        below: list[Piece] = []
        for wire_id, call, result in zip(ids, calls, step.results, strict=True):
            said = self.shown(result.content)
            if not isinstance(said, str):  # results hold only text on this wire
                from agenyx.llm.shown import beside, following

                below += following(said, f"{wire_name(call.name)} ({wire_id})")
                said = beside(said)
            messages.append(dump({"role": "tool", "tool_call_id": wire_id, "content": said}))
        return [*messages, _user(below)] if below else messages

    def _call(self, wire_id: str, call: ToolCall) -> dict[str, Any]:
        function = {"name": wire_name(call.name), "arguments": wire_args(call.args)}
        wire: dict[str, Any] = {"id": wire_id, "type": "function", "function": function}
        if extra := replayed(call.opaque, self._binding, EXTRA):
            wire["extra_content"] = json.decode(extra)
        return wire

    def _reasoning(self, assistant: Assistant) -> str | None:
        """What goes back with the calls; another model's thoughts do not. Some servers want the field even empty."""
        if not self._dialect.replay:
            return None
        mine = assistant.binding == self._binding
        text = "".join(block.text for block in assistant.blocks if isinstance(block, Reasoning)) if mine else ""
        return text if text or self._dialect.replay_empty else None

    def _details(self, assistant: Assistant) -> bytes:
        for block in assistant.blocks:
            if isinstance(block, Reasoning) and (details := replayed(block.opaque, self._binding, DETAILS)):
                return details
        return b""


def _user(said: str | list[Piece]) -> bytes:
    parts = said if isinstance(said, str) else [_part(piece) for piece in said]
    return dump({"role": "user", "content": parts})


def _part(piece: Piece) -> dict[str, Any]:
    if isinstance(piece, str):
        return {"type": "text", "text": piece}
    return {"type": "image_url", "image_url": {"url": piece.url}}


def _fields(request: Request, dialect: Dialect) -> dict[str, Any]:
    """Everything in front of the messages, in the order of the wire."""
    options = request.options
    fields: dict[str, Any] = {"model": request.model, "stream": True}
    if dialect.usage:
        fields["stream_options"] = {"include_usage": True}
    if options.temperature is not None:
        fields["temperature"] = options.temperature
    if options.max_output is not None:
        fields[dialect.size] = options.max_output
    if options.effort and dialect.effort == "reasoning":
        fields["reasoning"] = {"effort": options.effort}
    elif options.effort and dialect.effort:
        fields[dialect.effort] = options.effort
    if request.tools:
        fields["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
            }
            for tool in request.tools
        ]
    return fields

"""Writes OpenAI chat-completions requests, incrementally: a step costs what it adds. No I/O, no time.

The head (model, options, tools) comes first and the messages last, so request n without its closing `]}` is a byte
prefix of request n+1 as long as entries were only appended.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

from agenyx.core import json
from agenyx.core.limits import TOOL_NAME_CHARS
from agenyx.core.messages import Assistant, Entry, Media, Reasoning, Step, Summary, ToolCall, User, UserBlock
from agenyx.core.tools import ToolSpec
from agenyx.llm.dialects import EXTRA, Dialect
from agenyx.llm.request import Options, Request

CONVERSATIONS = 4  # whose bytes are kept: the main one and a few subagents

_END = b"]}"
_NAME = re.compile(r"[^A-Za-z0-9_-]")

_Head = tuple[str, Options, Sequence[ToolSpec], Sequence[str]]


class ChatEncoder:
    """Encodes requests of any conversation; remembers the last few, recognised by their head and entries."""

    def __init__(self, dialect: Dialect, binding: str = "") -> None:
        self._dialect = dialect
        self._binding = binding
        self._known: list[_Conversation] = []

    def encode(self, request: Request) -> bytes:
        """The whole body."""
        for conversation in self._known:
            if conversation.continues(request):
                self._known.remove(conversation)
                break
        else:
            conversation = _Conversation(request, self._dialect, self._binding)
        self._known.append(conversation)
        del self._known[:-CONVERSATIONS]
        return conversation.extend(request.entries)


class _Conversation:
    """The bytes of one conversation so far, without the closing brackets."""

    def __init__(self, request: Request, dialect: Dialect, binding: str) -> None:
        self._dialect = dialect
        self._binding = binding
        self._prefix_id = request.prefix_id
        self._head: _Head = (request.model, request.options, request.tools, request.system)
        self._entries: list[Entry] = []
        self._ids: set[str] = set()
        system = "\n\n".join(section for section in request.system if section)
        first = [_dump({"role": "system", "content": system})] if system else []
        self._bytes = bytearray(_dump(_fields(request, dialect))[:-1] + b',"messages":[' + b",".join(first))
        self._empty = not first

    def continues(self, request: Request) -> bool:
        if request.model != self._head[0] or request.prefix_id != self._prefix_id:
            return False
        if not self._prefix_id and self._head != (request.model, request.options, request.tools, request.system):
            return False
        # List equality looks at identity first: an unchanged history costs a few nanoseconds an entry.
        count = len(self._entries)
        return len(request.entries) >= count and list(request.entries[:count]) == self._entries

    def extend(self, entries: Sequence[Entry]) -> bytes:
        for entry in entries[len(self._entries) :]:
            for message in self._messages(entry):
                self._bytes += message if self._empty else b"," + message
                self._empty = False
            self._entries.append(entry)
        return b"".join((self._bytes, _END))

    def _messages(self, entry: Entry) -> list[bytes]:
        match entry:
            case User():
                return [_dump({"role": "user", "content": _content(entry.blocks)})]
            case Summary():
                return [_dump({"role": "user", "content": entry.text})]
            case Step():
                return self._step(entry)

    def _step(self, step: Step) -> list[bytes]:
        assistant = step.assistant
        calls = assistant.calls
        message: dict[str, Any] = {"role": "assistant", "content": assistant.text or (None if calls else "")}
        reasoning = self._reasoning(assistant) if calls else None
        if reasoning is not None:
            message[self._dialect.replay] = reasoning
        ids = [self._wire_id(call) for call in calls]
        if calls:
            message["tool_calls"] = [self._call(wire_id, call) for wire_id, call in zip(ids, calls, strict=True)]
        return [
            _dump(message),
            *(
                _dump({"role": "tool", "tool_call_id": wire_id, "content": _content(result.content)})
                for wire_id, result in zip(ids, step.results, strict=True)
            ),
        ]

    def _call(self, wire_id: str, call: ToolCall) -> dict[str, Any]:
        function = {"name": wire_name(call.name), "arguments": wire_args(call.args)}
        wire: dict[str, Any] = {"id": wire_id, "type": "function", "function": function}
        if call.opaque is not None and (call.opaque.binding, call.opaque.wire) == (self._binding, EXTRA):
            wire["extra_content"] = json.decode(call.opaque.json)
        return wire

    def _reasoning(self, assistant: Assistant) -> str | None:
        """What goes back with the calls. Such servers want the field even when it is empty."""
        if not self._dialect.replay:
            return None
        if assistant.binding != self._binding:
            return ""  # another model's thoughts
        return "".join(block.text for block in assistant.blocks if isinstance(block, Reasoning))

    def _wire_id(self, call: ToolCall) -> str:
        """The server's own id; made unique where it repeats, is missing or is too long. Depends on the history only."""
        wire_id = call.wire_id
        if not wire_id or len(wire_id) > self._dialect.ids or wire_id in self._ids:
            import hashlib

            digest = hashlib.sha256(call.id.encode("utf-8", "replace")).hexdigest()
            base = f"{wire_id[:28] or 'call'}_{digest[:8]}"
            wire_id, count = base, 1
            while wire_id in self._ids:
                count += 1
                wire_id = f"{base}{count}"
        self._ids.add(wire_id)
        return wire_id


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
    if options.effort and dialect.effort:
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


def wire_name(name: str) -> str:
    """The name of a call as every server accepts it; a made-up one of the model is bent into shape."""
    return _NAME.sub("_", name)[:TOOL_NAME_CHARS] or "unnamed"


def wire_args(args: str) -> str:
    """The model's exact text if it is a JSON object, else `{}`: the result carries what was wrong."""
    try:
        value = json.decode(args)
    except json.JsonError:
        return "{}"
    if not isinstance(value, dict):
        return "{}"
    # An escaped lone surrogate passes our decoder, which mends it, and not every server's.
    return json.encode(cast("object", value)).decode() if "\\ud" in args.lower() else args


def _content(blocks: Sequence[UserBlock]) -> str:
    return "\n\n".join(_placeholder(block) if isinstance(block, Media) else block.text for block in blocks)


def _placeholder(media: Media) -> str:
    name = f" {media.name!r}" if media.name else ""
    return f"[{media.kind}{name}, {media.mime}, {media.size} bytes: attached, but it cannot be shown to you]"


def _dump(value: dict[str, Any]) -> bytes:
    try:
        return json.encode(value)
    except UnicodeEncodeError:
        return json.encode(_scrubbed(value))


def _scrubbed(value: Any) -> Any:
    match value:
        case str():
            return json.scrub(value)
        case dict():
            members = cast("dict[str, Any]", value)
            return {json.scrub(key): _scrubbed(member) for key, member in members.items()}
        case list():
            return [_scrubbed(item) for item in cast("list[Any]", value)]
        case _:
            return value

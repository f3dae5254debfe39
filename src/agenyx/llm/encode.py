"""Incremental encoding of requests, for every wire: a step costs what it adds. No I/O, no time.

Knows how bytes of a conversation are kept and what is common to the wires; what a message looks like is their affair.
The head comes first and the messages last, so request n without its closing brackets is a byte prefix of request n+1
as long as entries were only appended.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from agenyx.core import json
from agenyx.core.limits import TOOL_NAME_CHARS
from agenyx.core.messages import Entry, Media, Opaque, ToolCall, UserBlock
from agenyx.core.tools import ToolSpec
from agenyx.llm.request import Options, Request

if TYPE_CHECKING:
    from agenyx.llm.shown import Budget, Piece

CONVERSATIONS = 4  # whose bytes are kept: the main one and a few subagents

_END = b"]}"
_NAME = re.compile(r"[^A-Za-z0-9_-]")

_Head = tuple[str, Options, Sequence[ToolSpec], Sequence[str]]


class Conversation(ABC):
    """The bytes of one conversation so far, without the closing brackets.

    `head` ends behind the bracket that opens the list of messages. `media` gives the bytes of what is shown.
    """

    wire: ClassVar[str]

    def __init__(self, request: Request, head: bytes) -> None:
        self._prefix_id, self._sees, self.media = request.prefix_id, request.sees, request.media
        self._budget: Budget | None = None
        self._head: _Head = (request.model, request.options, request.tools, request.system)
        self._entries: list[Entry] = []
        self._bytes = bytearray(head)
        self._empty = head.endswith(b"[")

    @abstractmethod
    def messages(self, entry: Entry) -> list[bytes]:
        """An entry as messages of the wire."""

    def continues(self, request: Request) -> bool:
        if request.model != self._head[0] or request.prefix_id != self._prefix_id or request.sees != self._sees:
            return False
        if not self._prefix_id and self._head != (request.model, request.options, request.tools, request.system):
            return False
        # List equality looks at identity first: an unchanged history costs a few nanoseconds an entry.
        count = len(self._entries)
        return len(request.entries) >= count and list(request.entries[:count]) == self._entries

    def extend(self, entries: Sequence[Entry]) -> bytes:
        """Take in what is new; returns the whole body."""
        for entry in entries[len(self._entries) :]:
            for message in self.messages(entry):
                self.add(message)
            self._entries.append(entry)
        return self.whole()

    def shown(self, blocks: Sequence[UserBlock]) -> str | list[Piece]:
        """Blocks as one text; in pieces where there is something to see among them. Once for each, in their order."""
        if not self._sees or not any(isinstance(block, Media) for block in blocks):
            return content(blocks)
        from agenyx.llm.shown import Budget  # few conversations hold images

        self._budget = self._budget or Budget(self.wire, self._sees)
        pieces = self._budget.pieces(blocks, self.media)
        texts = [piece for piece in pieces if isinstance(piece, str)]
        return "\n\n".join(texts) if len(texts) == len(pieces) else pieces

    def add(self, message: bytes) -> None:
        self._bytes += message if self._empty else b"," + message
        self._empty = False

    def whole(self) -> bytes:
        return b"".join((self._bytes, _END))


class Encoder:
    """Encodes requests of any conversation; remembers the last few, recognised by their head and entries."""

    def __init__(self, begin: Callable[[Request], Conversation]) -> None:
        self._begin = begin
        self._known: list[Conversation] = []

    def encode(self, request: Request) -> bytes:
        """The whole body."""
        for conversation in self._known:
            if conversation.continues(request):
                self._known.remove(conversation)
                break
        else:
            conversation = self._begin(request)
        self._known.append(conversation)
        del self._known[:-CONVERSATIONS]
        conversation.media = request.media
        return conversation.extend(request.entries)


class WireIds:
    """The ids of calls as one server gets them back; depends on the history only."""

    def __init__(self, longest: int, allowed: re.Pattern[str] | None = None) -> None:
        self._longest = longest
        self._allowed = allowed
        self._ids: set[str] = set()

    def of(self, call: ToolCall) -> str:
        """The server's own id; made unique where it repeats, is missing, too long or not in the allowed form."""
        wire_id = call.wire_id
        foreign = self._allowed is not None and self._allowed.fullmatch(wire_id) is None
        if not wire_id or foreign or len(wire_id) > self._longest or wire_id in self._ids:
            import hashlib

            digest = hashlib.sha256(call.id.encode("utf-8", "replace")).hexdigest()
            kept = _NAME.sub("_", wire_id) if foreign else wire_id
            base = f"{kept[:28] or 'call'}_{digest[:8]}"
            wire_id, count = base, 1
            while wire_id in self._ids:
                count += 1
                wire_id = f"{base}{count}"
        self._ids.add(wire_id)
        return wire_id


def replayed(opaque: Opaque | None, binding: str, wire: str) -> bytes:
    """The exact state to send back, as JSON; empty when it belongs to another profile or another wire."""
    if opaque is None or (opaque.binding, opaque.wire) != (binding, wire):
        return b""
    return opaque.json.encode("utf-8", "replace")


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


def content(blocks: Sequence[UserBlock]) -> str:
    """Blocks as one text; what cannot be sent is named in words."""
    return "\n\n".join(_placeholder(block) if isinstance(block, Media) else block.text for block in blocks)


def _placeholder(media: Media) -> str:
    from agenyx.llm.shown import words

    return words(media)


def dump(value: dict[str, Any]) -> bytes:
    """JSON of an object whose strings may hold lone surrogates."""
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

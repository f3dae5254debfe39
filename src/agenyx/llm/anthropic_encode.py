"""Writes Anthropic Messages requests: options, tools and system first, the messages last. No I/O, no time.

Cache breakpoints stand on the last tool, the last system block and the last user message. The last one moves, so a
request is a byte prefix of the next one only without it: see `strip_marks`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Raw

from agenyx.core.messages import Assistant, Entry, Reasoning, Step, Summary, Text, ToolCall, User
from agenyx.llm.anthropic_wire import THINKING
from agenyx.llm.dialects import MessagesDialect
from agenyx.llm.encode import Conversation, Encoder, WireIds, dump, replayed, wire_args, wire_name
from agenyx.llm.request import Options, Request

if TYPE_CHECKING:
    from agenyx.llm.shown import Piece

_MARK = {"type": "ephemeral"}
_MARK_BYTES = b',"cache_control":{"type":"ephemeral"}'
_USER = b'{"role":"user","content":['
_EMPTY = "(empty)"  # the wire takes no blank text
_IDS = re.compile(r"[A-Za-z0-9_-]+")


class AnthropicEncoder(Encoder):
    """Encodes for one dialect; `binding` says whose thinking may go back."""

    def __init__(self, dialect: MessagesDialect, binding: str = "") -> None:
        super().__init__(lambda request: _Messages(request, dialect, binding))


def strip_marks(body: bytes) -> bytes:
    """A body without its cache breakpoints."""
    return body.replace(_MARK_BYTES, b"")


class _Messages(Conversation):
    wire: ClassVar[str] = "anthropic"

    def __init__(self, request: Request, dialect: MessagesDialect, binding: str) -> None:
        self._binding = binding
        self._ids = WireIds(dialect.ids, _IDS)
        self._mark = 0  # where the moving breakpoint goes: in the last block of the last user message
        super().__init__(request, dump(_fields(request, dialect.output))[:-1] + b',"messages":[')

    def add(self, message: bytes) -> None:
        super().add(message)
        if message.startswith(_USER):
            self._mark = len(self._bytes) - len(b"}]}")

    def whole(self) -> bytes:
        if not self._mark:
            return super().whole()
        return b"".join((self._bytes[: self._mark], _MARK_BYTES, self._bytes[self._mark :], b"]}"))

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
        if not assistant.text.strip() and not assistant.calls:
            return []  # thinking alone is no message
        ids = [self._ids.of(call) for call in assistant.calls]
        said = dump({"role": "assistant", "content": self._blocks(assistant, ids)})
        if not ids:
            return [said]
        results: list[dict[str, Any]] = []
        below: list[Piece] = []
        for wire_id, call, result in zip(ids, assistant.calls, step.results, strict=True):
            shown, failed = self.shown(result.content), {} if result.status == "ok" else {"is_error": True}
            if failed and not isinstance(shown, str):  # results that are no success hold only text on this wire
                from agenyx.llm.shown import beside, following

                below += following(shown, f"{wire_name(call.name)} ({wire_id})")
                shown = beside(shown)
            told = shown if isinstance(shown, str) else _parts(shown)
            results.append({"type": "tool_result", "tool_use_id": wire_id, "content": told, **failed})
        return [said, dump({"role": "user", "content": [*results, *_parts(below)]})]

    def _blocks(self, assistant: Assistant, ids: list[str]) -> list[Any]:
        blocks: list[Any] = []
        wire_ids = iter(ids)
        for block in assistant.blocks:
            match block:
                case Text(text=text):
                    if text.strip():
                        blocks.append({"type": "text", "text": text})
                case Reasoning(opaque=opaque):
                    if state := replayed(opaque, self._binding, THINKING):
                        blocks.append(Raw(state))
                case ToolCall():
                    call = {"type": "tool_use", "id": next(wire_ids), "name": wire_name(block.name)}
                    blocks.append({**call, "input": Raw(wire_args(block.args).encode("utf-8", "replace"))})
        return blocks


def _user(said: str | list[Piece]) -> bytes:
    pieces = [said if said.strip() else _EMPTY] if isinstance(said, str) else said
    return dump({"role": "user", "content": _parts(pieces)})


def _parts(pieces: Sequence[Piece]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for piece in pieces:
        if isinstance(piece, str):
            parts.append({"type": "text", "text": piece})
        else:
            source = {"type": "base64", "media_type": piece.media.mime, "data": piece.data}
            title = {"title": piece.filename} if piece.media.kind == "document" else {}
            parts.append({"type": piece.media.kind, "source": source, **title})
    return parts


def _fields(request: Request, output: int) -> dict[str, Any]:
    """Everything in front of the messages, in the order of the wire."""
    options = request.options
    fields: dict[str, Any] = {"model": request.model, "max_tokens": options.max_output or output, "stream": True}
    fields.update(_thinking(options))
    if request.tools:
        fields["tools"] = _marked(
            [
                {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
                for tool in request.tools
            ]
        )
    system = [{"type": "text", "text": section} for section in request.system if section.strip()]
    if system:
        fields["system"] = _marked(system)
    return fields


def _thinking(options: Options) -> dict[str, Any]:
    """Effort as models with adaptive thinking take it; they take no temperature beside it."""
    match options.effort:
        case "":
            return {} if options.temperature is None else {"temperature": options.temperature}
        case "none":
            return {"thinking": {"type": "disabled"}}
        case effort:
            return {"thinking": {"type": "adaptive"}, "output_config": {"effort": effort}}


def _marked(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [*blocks[:-1], {**blocks[-1], "cache_control": _MARK}]

"""Masks credentials in ModelEvents before anything shows or stores them. Knows no HTTP and no wire format.

What is shown is what is stored: a block of the final response is exactly the sum of its masked deltas.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from agenyx.core import json
from agenyx.core.events import (
    CallDraft,
    Done,
    Failure,
    ModelEvent,
    ReasoningDelta,
    Retrying,
    Started,
    TextDelta,
    Usage,
)
from agenyx.core.messages import Assistant, Block, Opaque, Reasoning, Text, ToolCall
from agenyx.core.redact import Masker, StreamMasker


class EventMasker:
    """Masks the events of one response. Text that may begin a secret is held back until it is clear."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._text: dict[int, _Shown] = {}
        self._reasoning: dict[int, _Shown] = {}
        self._drafts: dict[int, StreamMasker] = {}

    def mask(self, event: ModelEvent) -> list[ModelEvent]:
        """The events to show in place of this one; none while everything is held back."""
        masker = self._masker
        if not masker.longest:
            return [event]
        match event:
            case TextDelta(block=block, text=text):
                shown = self._feed(self._text, block, text)
                return [TextDelta(block, shown)] if shown else []
            case ReasoningDelta(block=block, text=text):
                shown = self._feed(self._reasoning, block, text)
                return [ReasoningDelta(block, shown)] if shown else []
            case CallDraft(block=block, name=name, text=text):
                stream = self._drafts.setdefault(block, StreamMasker(masker))
                return [CallDraft(block, masker.text(name), stream.feed(text))]
            case Started(response_id=response_id, model=model):
                return [Started(masker.text(response_id), masker.text(model))]
            case Failure():
                # What is held back may be most of a secret, and the rest of it will never come.
                return [replace(event, message=masker.text(event.message), fix=masker.text(event.fix))]
            case Done(assistant=assistant):
                return [*self._rest(), Done(self._whole(assistant))]
            case Retrying():
                return [replace(event, reason=masker.text(event.reason))]
            case Usage():
                return [event]

    def _feed(self, blocks: dict[int, _Shown], block: int, text: str) -> str:
        if block not in blocks:
            blocks[block] = _Shown(self._masker)
        return blocks[block].feed(text)

    def _rest(self) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        for block, shown in self._reasoning.items():
            if rest := shown.end():
                events.append(ReasoningDelta(block, rest))
        for block, shown in self._text.items():
            if rest := shown.end():
                events.append(TextDelta(block, rest))
        return events

    def _whole(self, assistant: Assistant) -> Assistant:
        texts, thoughts = _in_order(self._text), _in_order(self._reasoning)
        blocks: list[Block] = []
        for block in assistant.blocks:
            match block:
                case Text(text=text):
                    shown = next(texts, None) if text else None  # without text there was nothing to show
                    blocks.append(Text(shown.text if shown else self._masker.text(text)))
                case Reasoning(text=text):
                    shown = next(thoughts, None) if text else None
                    clean = shown.text if shown else self._masker.text(text)
                    blocks.append(Reasoning(clean, self._opaque(block.opaque)))
                case ToolCall():
                    blocks.append(self._call(block))
        mask = self._masker.text
        return replace(assistant, blocks=tuple(blocks), model=mask(assistant.model), phase=mask(assistant.phase))

    def _call(self, call: ToolCall) -> ToolCall:
        mask = self._masker.text
        opaque = self._opaque(call.opaque)
        return ToolCall(call.id, mask(call.wire_id), mask(call.name), self._args(call.args), opaque)

    def _opaque(self, opaque: Opaque | None) -> Opaque | None:
        """Never altered: with a secret in it, even one that JSON escapes hide, it is dropped as a whole."""
        return None if opaque is None or self._args(opaque.json) != opaque.json else opaque

    def _args(self, args: str) -> str:
        """Also finds a secret that JSON escapes hide; then the text is written anew, without them."""
        masked = self._masker.text(args)
        if "\\" not in masked:
            return masked
        try:
            plain = json.encode(json.decode(masked)).decode()
        except json.JsonError:
            return masked
        found = self._masker.text(plain)
        return masked if found == plain else found


def _in_order(blocks: dict[int, _Shown]) -> Iterator[_Shown]:
    """By the place of the block in the response, which is not always the order in which text came."""
    return iter([blocks[block] for block in sorted(blocks)])


class _Shown:
    """One block: its masker, and what it let through."""

    def __init__(self, masker: Masker) -> None:
        self._stream = StreamMasker(masker)
        self._parts: list[str] = []

    def feed(self, text: str) -> str:
        shown = self._stream.feed(text)
        self._parts.append(shown)
        return shown

    def end(self) -> str:
        rest = self._stream.end()
        self._parts.append(rest)
        return rest

    @property
    def text(self) -> str:
        return "".join(self._parts)

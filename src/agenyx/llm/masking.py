"""Keeps credentials out of ModelEvents before anything shows or stores them, and out of requests before they leave.

Knows no HTTP and no wire format. What is shown is what is stored: a block of the final response is exactly the sum of
its masked deltas. Ids are not mended here but refused in `check.py`, which knows them by the mask in them.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from agenyx.core import json
from agenyx.core.errors import AgenyxError
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
from agenyx.core.redact import Masker, Piece, StreamMasker


class EventMasker:
    """Masks the events of one response. Text that may begin a secret is held back until it is clear.

    A secret that begins in one block of text and ends in the next is found too, as surfaces show them in a row.
    """

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._text, self._reasoning = _Shown(masker), _Shown(masker)
        self._drafts: dict[int, StreamMasker] = {}

    def mask(self, event: ModelEvent) -> list[ModelEvent]:
        """The events to show in place of this one; none while everything is held back."""
        masker = self._masker
        if not masker.longest:
            return [event]
        match event:
            case TextDelta(block=block, text=text):
                return [TextDelta(place, shown) for place, shown in self._text.feed(block, text)]
            case ReasoningDelta(block=block, text=text):
                return [ReasoningDelta(place, shown) for place, shown in self._reasoning.feed(block, text)]
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

    def _rest(self) -> list[ModelEvent]:
        thoughts = [ReasoningDelta(block, rest) for block, rest in self._reasoning.end()]
        return [*thoughts, *(TextDelta(block, rest) for block, rest in self._text.end())]

    def _whole(self, assistant: Assistant) -> Assistant:
        texts, thoughts = self._text.in_order(), self._reasoning.in_order()
        blocks: list[Block] = []
        for block in assistant.blocks:
            match block:
                case Text(text=text):
                    shown = next(texts, None) if text else None  # without text there was nothing to show
                    blocks.append(Text(self._masker.text(text) if shown is None else shown))
                case Reasoning(text=text):
                    shown = next(thoughts, None) if text else None
                    clean = self._masker.text(text) if shown is None else shown
                    blocks.append(Reasoning(clean, self._opaque(block.opaque)))
                case ToolCall():
                    blocks.append(self._call(block))
        mask = self._masker.text
        blocks = self._joined(self._joined(blocks, Text), Reasoning)
        return replace(assistant, blocks=tuple(blocks), model=mask(assistant.model), phase=mask(assistant.phase))

    def _joined(self, blocks: list[Block], kind: type[Text | Reasoning]) -> list[Block]:
        """Blocks that came in another order than they stand in must not spell a secret where they stand."""
        stream = StreamMasker(self._masker)
        texts = [(number, block.text) for number, block in enumerate(blocks) if isinstance(block, kind)]
        whole = "".join(text for _, text in texts)
        if self._masker.text(whole) is whole:
            return blocks
        pieces = [piece for number, text in texts for piece in stream.take(number, text)] + stream.rest()
        result = list(blocks)
        for number, block in enumerate(blocks):
            if isinstance(block, kind):
                result[number] = replace(block, text="".join(text for place, text in pieces if place == number))
        return result

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


class _Shown:
    """The blocks of one kind: their masker, and what it let through of each."""

    def __init__(self, masker: Masker) -> None:
        self._stream = StreamMasker(masker)
        self._parts: dict[int, list[str]] = {}

    def feed(self, block: int, text: str) -> list[Piece]:
        if text:
            self._parts.setdefault(block, [])
        return self._kept(self._stream.take(block, text))

    def end(self) -> list[Piece]:
        return self._kept(self._stream.rest())

    def _kept(self, pieces: list[Piece]) -> list[Piece]:
        for block, text in pieces:
            self._parts[block].append(text)
        return pieces

    def in_order(self) -> Iterator[str]:
        """By the place of the block in the response, which is not always the order in which text came."""
        return iter(["".join(self._parts[block]) for block in sorted(self._parts)])


class RequestGate:
    """The last look at the bodies of a conversation's requests, each of which begins as the one before it.

    Only what is new is looked at. A secret that is found there, as no intake knew it then, is masked where that leaves
    JSON; else the request does not leave.
    """

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._before = b""  # found clean

    def sealed(self, body: bytes) -> bytes:
        """The bytes to send. Raises AgenyxError when they must not be sent."""
        masker = self._masker
        if not masker.longest:
            return body
        if not masker.found(body[max(0, _common(self._before, body) - 4 * masker.longest) :]):
            self._before = body
            return body
        clean = masker.data(body)
        try:
            json.decode(clean)
        except json.JsonError:
            clean = body
        if masker.found(clean):
            raise AgenyxError(
                "the request holds a configured key in a place where it cannot be masked, so it was not sent",
                "Start a new session; do not put keys into prompts, file names or tool names.",
            )
        return clean


def _common(a: bytes, b: bytes) -> int:
    """How many bytes two strings begin with alike, found by halving: comparing is cheap, a loop is not."""
    low, high = 0, min(len(a), len(b))
    if a[:high] == b[:high]:
        return high
    while high - low > 64:
        middle = (low + high) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle
    return low

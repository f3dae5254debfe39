"""The items of a Responses output while they grow: messages, reasoning and calls. No framing, no order of events."""

from __future__ import annotations

from typing import Any, Literal, cast

from msgspec import Raw, Struct, field

from agenyx.core import json
from agenyx.core.messages import Opaque
from agenyx.llm.decode import BLOCKS, Part, StreamDecoder, Wrong
from agenyx.llm.responses_wire import CALL, ITEM, Event, Item, item_of, refuses, texts_of

_KINDS: dict[str, Literal["text", "reasoning", "call"]] = {
    "message": "text",
    "reasoning": "reasoning",
    "function_call": "call",
}


class _Growing(Struct):
    """One item. `pieces` holds the text of a message by content part."""

    part: Part
    id: str = ""
    pieces: dict[int, list[str]] = field(default_factory=dict[int, list[str]])


class Items:
    """Takes events in; the blocks grow in `decoder`. Raises Wrong where the server contradicts itself."""

    def __init__(self, decoder: StreamDecoder[Event], strict: bool) -> None:
        self._decoder = decoder
        self._strict = strict
        self._by_key: dict[int | str, _Growing] = {}
        self._last: dict[str, _Growing] = {}  # by kind, for servers that name no item
        self._others: set[int | str] = set()  # items of kinds that we do not know
        self.refused = False

    @property
    def phase(self) -> str:
        """The phase of the messages; of each, with commas between, where they differ."""
        phases = [part.phase for part in self._decoder.parts if part.kind == "text" and part.text]
        return phases[0] if len(set(phases)) == 1 else ",".join(phases)

    # --- deltas ------------------------------------------------------------------------------------------------------

    def text(self, event: Event, *, refusal: bool) -> None:
        text = _text(event.delta, "a delta")
        growing = self._find(event, "text")
        self.refused = self.refused or refusal
        place = event.content_index if isinstance(event.content_index, int) else 0
        if text:
            growing.pieces.setdefault(place, []).append(text)
            growing.part.add(text)

    def thought(self, event: Event) -> None:
        text = _text(event.delta, "a delta")
        if text:
            self._find(event, "reasoning").part.add(text)

    def summary(self, event: Event) -> None:
        """Another paragraph of a summary begins."""
        part = self._find(event, "reasoning").part
        if part.text:
            part.add("\n\n")

    def args(self, event: Event) -> None:
        text = _text(event.delta, "the arguments of a call")
        self._decoder.add_args(self._find(event, "call").part, text)

    def args_done(self, event: Event) -> None:
        self._settle_args(self._find(event, "call").part, _text(event.arguments, "the arguments of a call"))

    # --- items -------------------------------------------------------------------------------------------------------

    def item(self, event: Event, *, done: bool) -> None:
        found = item_of(event.item)
        if found is None:
            raise Wrong("an item of the response is not an object")
        kind = _KINDS.get(found.type) if isinstance(found.type, str) else None
        key = self._key(event, found)
        if kind is None:
            self._others.add(key)
            if len(self._others) > BLOCKS:
                raise Wrong(f"the response holds more than {BLOCKS} items")
            return
        growing = self._by_key.get(key)
        if growing is None:
            if done and self._strict:
                raise Wrong("an item ends that never began")
            growing = self._begin(kind, key, found)
        elif not done and self._strict:
            raise Wrong("an item begins twice")
        self._fill(growing, found, event.item, done=done)

    def settle(self, output: list[Raw], *, whole: bool) -> None:
        """What the last event says the output is, against what came; not `whole` when it was cut at a limit."""
        if len(output) > BLOCKS:
            raise Wrong(f"the response holds more than {BLOCKS} items")
        seen: set[int] = set()
        for index, raw in enumerate(output):
            found = item_of(raw)
            if found is None:
                raise Wrong("an item of the response is not an object")
            kind = _KINDS.get(found.type) if isinstance(found.type, str) else None
            if kind is None:
                continue
            growing = self._match(index, found, kind, seen)
            if growing is None:
                if self._strict and (kind == "call" or any(texts_of(found.content))):
                    raise Wrong("the response ends with an item that was not streamed")
                growing = self._begin(kind, f"end {index}", found)
            seen.add(growing.part.block)
            self._fill(growing, found, raw, done=True)
        for growing in self._by_key.values():
            part = growing.part
            missing = part.block not in seen and (part.text or part.kind == "call")
            if self._strict and missing and (whole or part.kind == "text"):
                raise Wrong("the response ends without an item that was streamed")

    # --- one item ----------------------------------------------------------------------------------------------------

    def _fill(self, growing: _Growing, found: Item, raw: Raw, *, done: bool) -> None:
        """Take in what the item says of itself."""
        part = growing.part
        if isinstance(found.phase, str):
            part.phase = found.phase
        match part.kind:
            case "text":
                self.refused = self.refused or refuses(found.content)
                if done:
                    self._settle_text(growing, texts_of(found.content))
            case "reasoning":
                if done and not part.whole:
                    if not part.text:  # a server that does not stream it
                        text = "\n\n".join(filter(None, texts_of(found.summary) or texts_of(found.content)))
                        if text:
                            part.add(text)
                    # Before it is done its encrypted content may still be another.
                    part.opaque = Opaque(self._decoder.binding, ITEM, bytes(raw).decode("utf-8", "replace"))
            case "call":
                self._call(part, found, done=done)
        part.whole = part.whole or done

    def _call(self, part: Part, found: Item, *, done: bool) -> None:
        for name, value in (("name", found.name), ("wire_id", found.call_id)):
            known: str = getattr(part, name)
            if not isinstance(value, str) or not value:
                if self._strict:
                    raise Wrong("a call has no name or no id")
            elif known and known != value and self._strict:
                raise Wrong("a call changes its name or its id")
            else:
                setattr(part, name, known or value)
        if isinstance(found.id, str) and found.id:
            part.opaque = Opaque(self._decoder.binding, CALL, json.encode({"id": json.scrub(found.id)}).decode())
        if done:
            args: Any = found.arguments
            if isinstance(args, dict) and not self._strict:
                args = json.encode(cast("object", args)).decode()
            elif args is None and not self._strict:
                args = part.joined
            self._settle_args(part, _text(cast("object", args), "the arguments of a call"))

    def _settle_args(self, part: Part, args: str) -> None:
        """The whole arguments; they must be what was streamed."""
        if not part.text:
            if args:
                self._decoder.add_args(part, args)
        elif part.joined != args and self._strict:
            raise Wrong("a call ends with other arguments than were streamed")
        part.whole = True

    def _settle_text(self, growing: _Growing, texts: list[str | None]) -> None:
        """The text of each content part; it must be what was streamed."""
        for place, text in enumerate(texts):
            if text is None:
                continue
            streamed = "".join(growing.pieces.get(place, ()))
            if text == streamed or "\ufffd" in streamed:  # a character cut between two deltas is lost in them
                continue
            if self._strict:
                raise Wrong("the response ends with other text than was streamed")
            if not streamed:
                growing.pieces[place] = [text]
                growing.part.add(text)
        if self._strict and any(place >= len(texts) for place in growing.pieces):
            raise Wrong("the response ends with other text than was streamed")

    # --- which item --------------------------------------------------------------------------------------------------

    def _key(self, event: Event, found: Item | None = None) -> int | str:
        if isinstance(event.output_index, int):
            return event.output_index
        for name in (event.item_id,) if found is None else (found.id, found.call_id):
            if isinstance(name, str) and name:
                return name
        return ""

    def _find(self, event: Event, kind: Literal["text", "reasoning", "call"]) -> _Growing:
        """The item that a delta belongs to. Lenient: the last of its kind, or a new one."""
        key = self._key(event)
        growing = self._by_key.get(key)
        if growing is not None and growing.part.kind == kind:
            return growing
        if self._strict and (kind == "call" or growing is not None or key in self._others):
            raise Wrong("a delta belongs to no item of its kind")
        last = None if self._strict else self._last.get(kind)
        # Some servers name an item in its deltas otherwise than at its beginning.
        if last is not None and (growing is not None or not key or (isinstance(key, str) and not last.part.whole)):
            return last
        return self._begin(kind, key if growing is None else f"{kind} {key}", None)

    def _begin(self, kind: Literal["text", "reasoning", "call"], key: int | str, found: Item | None) -> _Growing:
        name = found.id if found is not None and isinstance(found.id, str) else ""
        growing = _Growing(self._decoder.part(kind), name)
        self._by_key[f"{kind} {len(self._by_key)}" if key == "" else key] = growing
        self._last[kind] = growing
        return growing

    def _match(self, index: int, found: Item, kind: str, seen: set[int]) -> _Growing | None:
        """The streamed item that an item of the last event is."""
        if self._strict:
            growing = self._by_key.get(index)
            return growing if growing is not None and growing.part.kind == kind else None
        rest = [g for g in self._by_key.values() if g.part.kind == kind and g.part.block not in seen]
        named = [g for g in rest if g.part.wire_id == found.call_id or (g.id and g.id == found.id)]
        if kind == "call":
            return (named or [g for g in rest if not g.part.wire_id] or [None])[0]
        return (named or rest or [None])[0]


def _text(value: object, what: str) -> str:
    if isinstance(value, str):
        return value
    raise Wrong(f"{what} of the stream is not text" if what == "a delta" else f"{what} are not text")

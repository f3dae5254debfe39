"""What is checked of any response before it is stored: secrets, control characters, sizes, sound opaque state."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.core.events import Done, Failure, ModelEvent, Started, TextDelta
from agenyx.core.messages import Assistant, Block, Opaque, Reasoning, Text, ToolCall
from agenyx.core.redact import MASK, Masker
from agenyx.llm.check import (
    CALL_ID_BYTES,
    ID_BYTES,
    NAME_BYTES,
    OPAQUE_BYTES,
    PHASE_BYTES,
    Checked,
    checked,
    checked_id,
    refusal,
)
from agenyx.llm.request import Options, Request

KEY = "sk-live-0123456789"

STATE = Opaque("b", "w", '{ "a" : 1 }')


def of(*blocks: Block, phase: str = "", model: str = "m") -> Assistant:
    return checked(Assistant(blocks, "calls", model, phase, "b"))


def test_what_is_fine_stays_as_it_is() -> None:
    fine = Assistant(
        (Reasoning("x", STATE), Text("a\x1b[1mb\n"), ToolCall("i", "w:0", "Ré", "{\n}", STATE)), "calls", binding="b"
    )
    assert checked(fine) == fine


class Says:
    """A provider that says these events; `left` tells that nobody listens any more."""

    binding = "b"

    def __init__(self, *events: ModelEvent) -> None:
        self.events, self.left, self.said = events, False, 0

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        try:
            for event in self.events:
                self.said += 1
                yield event
        finally:
            self.left = True

    async def close(self) -> None:
        pass


def heard(provider: Says, *secrets: str) -> list[ModelEvent]:
    async def listen() -> list[ModelEvent]:
        request = Request("m", Options(), (), (), ())
        return [event async for event in Checked(provider, Masker(secrets)).stream(request)]

    return asyncio.run(listen())


def in_call(text: str) -> Assistant:
    return Assistant((ToolCall("", text, "Read", "{}"),), "calls")


PLACES: list[tuple[str, Callable[[str], ModelEvent]]] = [
    ("response id", lambda text: Started(text, "m")),
    ("model name", lambda text: Started("r", text)),
    ("call id", lambda text: Done(in_call(text))),
    ("tool name", lambda text: Done(Assistant((ToolCall("", "w", text, "{}"),), "calls"))),
    ("phase", lambda text: Done(Assistant((Text("x"),), "end", phase=text))),
    ("model name", lambda text: Done(Assistant((Text("x"),), "end", model=text))),
]


@pytest.mark.parametrize(("what", "place"), PLACES)
@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"a{KEY}b", "a configured key"),
        ("a\x1b]0;x\x07b", "control characters"),
        ("x\x9b31m", "control characters"),
        ("a\u202eb", "control characters"),
    ],
)
def test_what_a_server_names_is_refused_with_a_secret_or_a_control_character_in_it(
    what: str, place: Callable[[str], ModelEvent], text: str, why: str
) -> None:
    provider = Says(place(text), TextDelta(0, "never said"))
    (failure,) = heard(provider, KEY)
    assert isinstance(failure, Failure) and failure.kind == "protocol" and not failure.retryable
    assert failure.message == f"the server sent a {what} {'that holds' if 'key' in why else 'with'} {why}"
    assert provider.left and provider.said == 1


def test_a_provider_of_any_kind_is_masked() -> None:
    said = (
        TextDelta(0, f"it is {KEY[:5]}"),
        TextDelta(0, f"{KEY[5:]}."),
        Done(Assistant((Text(f"it is {KEY}."),), "end")),
    )
    *deltas, done = heard(Says(*said), KEY)
    assert "".join(event.text for event in deltas if isinstance(event, TextDelta)) == f"it is {MASK}."
    assert isinstance(done, Done) and done.assistant.text == f"it is {MASK}."


def test_ids_that_are_fine_pass() -> None:
    assistant = Assistant((ToolCall("", "call_1:thought/ü", " Read\n", "{}"),), "calls", "gpt", "final")
    assert refusal(assistant, Masker((KEY,))) == ""
    (done,) = heard(Says(Done(assistant)), KEY)
    assert isinstance(done, Done) and done.assistant.calls[0].name == "Read"


def test_sizes() -> None:
    found = of(ToolCall("i", "x" * (CALL_ID_BYTES + 1), "ä" * 100, "{}"), phase="p" * 100)
    assert found.calls[0].wire_id == "" and found.calls[0].name == "ä" * (NAME_BYTES // 2)
    assert found.phase == "p" * PHASE_BYTES
    assert of(ToolCall("i", "x" * CALL_ID_BYTES, "n", "{}")).calls[0].wire_id


@pytest.mark.parametrize(
    "bad",
    [
        Opaque("other", "w", "{}"),
        Opaque("b", "w", "{broken"),
        Opaque("b", "w", ""),
        Opaque("b", "w", json.dumps("x" * OPAQUE_BYTES)),
        Opaque("b", "w" * 300, "{}"),
        Opaque("b", "w", "[" * 100_000),
        Opaque("b", "w", '"\ud800"'),
    ],
)
def test_state_that_is_not_sound_is_dropped_with_all_other_state_of_the_response(bad: Opaque) -> None:
    found = of(Reasoning("a", bad), Reasoning("b", STATE), ToolCall("i", "w", "n", "{}", STATE))
    assert [getattr(block, "opaque", None) for block in found.blocks] == [None, None, None]
    assert [getattr(block, "text", "") for block in found.blocks] == ["a", "b", ""]


def test_an_id_of_a_response() -> None:
    assert checked_id("resp_1") == "resp_1" and checked_id("x" * ID_BYTES) and checked_id("x" * 257) == ""


texts = st.text(st.characters(), max_size=400)


@given(texts, texts, texts, texts, texts)
def test_nothing_raises_and_everything_can_be_stored(
    wire_id: str, name: str, args: str, phase: str, state: str
) -> None:
    opaque = Opaque("b", "w", state)
    found = checked(
        Assistant((Text(args), Reasoning(args, opaque), ToolCall("i", wire_id, name, args)), "end", name, phase)
    )
    for value in (found.calls[0].wire_id, found.calls[0].name, found.phase, found.model):
        assert isinstance(value.encode(), bytes)
        assert value.isprintable() or refusal(found, Masker())
    assert isinstance((found.text + found.calls[0].args).encode(), bytes)
    assert checked(found) == found

"""What is checked of any response before it is stored: sizes, control characters, sound opaque state."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.core.messages import Assistant, Block, Opaque, Reasoning, Text, ToolCall
from agenyx.llm.check import CALL_ID_BYTES, ID_BYTES, NAME_BYTES, OPAQUE_BYTES, PHASE_BYTES, checked, checked_id

STATE = Opaque("b", "w", '{ "a" : 1 }')


def of(*blocks: Block, phase: str = "", model: str = "m") -> Assistant:
    return checked(Assistant(blocks, "calls", model, phase, "b"))


def test_what_is_fine_stays_as_it_is() -> None:
    fine = Assistant(
        (Reasoning("x", STATE), Text("a\x1b[1mb\n"), ToolCall("i", "w:0", "Ré", "{\n}", STATE)), "calls", binding="b"
    )
    assert checked(fine) == fine


def test_control_characters_leave_ids_names_and_phase() -> None:
    found = of(ToolCall("i", "a\x1b]0;x\x07b", "Re\nad\u202e", "{}"), phase="fi\x00nal", model="m\r\n")
    assert (found.calls[0].wire_id, found.calls[0].name) == ("a]0;xb", "Read")
    assert (found.phase, found.model) == ("final", "m")


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
    assert checked_id("resp_1\x1b") == "resp_1" and checked_id("x" * ID_BYTES) and checked_id("x" * 257) == ""


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
        assert value.isprintable() and isinstance(value.encode(), bytes)
    assert isinstance((found.text + found.calls[0].args).encode(), bytes)
    assert checked(found) == found

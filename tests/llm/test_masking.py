"""Masking of model events: no secret is shown or stored, however it was cut, and shown is stored."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenyx.core.errors import AgenyxError
from agenyx.core.events import CallDraft, Done, Failure, ModelEvent, ReasoningDelta, Retrying, Started, TextDelta, Usage
from agenyx.core.messages import Assistant, Opaque, Reasoning, Text, ToolCall
from agenyx.core.redact import MASK, Masker
from agenyx.llm.masking import EventMasker, RequestGate

KEY = "sk-abcABC123456789"
OTHER = "abcABC123456789-longer"  # overlaps the first


def masked(*events: ModelEvent, secrets: tuple[str, ...] = (KEY,)) -> list[ModelEvent]:
    masking = EventMasker(Masker(secrets))
    return [shown for event in events for shown in masking.mask(event)]


def texts(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def test_a_key_cut_at_any_place() -> None:
    said = f"Your key is {KEY}, keep it."
    for cut in range(len(said)):
        done = Done(Assistant((Text(said),), "end"))
        events = masked(TextDelta(0, said[:cut]), TextDelta(0, said[cut:]), done)
        assert texts(events) == f"Your key is {MASK}, keep it."
        assert events[-1] == Done(Assistant((Text(f"Your key is {MASK}, keep it."),), "end"))


pieces = st.lists(
    st.one_of(st.sampled_from([KEY, OTHER, KEY[:7], KEY[3:], OTHER[4:], "s", "sk-", MASK]), st.text(max_size=5))
)


@settings(max_examples=300, deadline=None)
@given(pieces, st.lists(st.integers(0, 300), max_size=10))
def test_shown_is_stored_and_holds_no_secret(parts: list[str], cuts: list[int]) -> None:
    said = "".join(parts)
    places = sorted({0, len(said), *(cut % (len(said) + 1) for cut in cuts)})
    deltas = [said[a:b] for a, b in itertools.pairwise(places)]
    done = Done(Assistant((Reasoning(said), Text(said)), "end"))
    events = masked(
        *(ReasoningDelta(0, part) for part in deltas),
        *(TextDelta(1, part) for part in deltas),
        done,
        secrets=(KEY, OTHER),
    )
    last = events[-1]
    assert isinstance(last, Done)
    assert last.assistant.text == texts(events)
    thought = "".join(event.text for event in events if isinstance(event, ReasoningDelta))
    assert last.assistant.blocks[0] == Reasoning(thought) or not said
    for secret in (KEY, OTHER):
        assert secret not in texts(events)


def test_calls_are_masked_also_behind_json_escapes() -> None:
    escaped = "".join(f"\\u{ord(c):04x}" for c in KEY)
    done = Done(
        Assistant(
            (
                ToolCall("", KEY, KEY, json.dumps({"command": f"echo {KEY}"})),
                ToolCall("", "w", "Bash", f'{{"command": "echo {escaped}"}}'),
                ToolCall("", "w", "Bash", f'{{"broken \\\\ {KEY}'),
                ToolCall("", "w", "Bash", '{"path": "a\\\\b"}'),
            ),
            "calls",
        )
    )
    (last,) = masked(done)
    assert isinstance(last, Done)
    first, second, third, fourth = last.assistant.calls
    assert (first.wire_id, first.name, json.loads(first.args)) == (MASK, MASK, {"command": f"echo {MASK}"})
    assert json.loads(second.args) == {"command": f"echo {MASK}"}
    assert third.args == f'{{"broken \\\\ {MASK}'
    assert fourth.args == '{"path": "a\\\\b"}'


def test_provider_state_with_a_secret_is_dropped_as_a_whole() -> None:
    bad, good = Opaque("b", "w", f'{{"x":"{KEY}"}}'), Opaque("b", "w", '{"x":1}')
    blocks = (Reasoning("", bad), ToolCall("", "", "Read", "{}", bad), ToolCall("", "", "Read", "{}", good))
    (last,) = masked(Done(Assistant(blocks, "calls")))
    assert isinstance(last, Done)
    kept = [block.opaque for block in last.assistant.blocks if not isinstance(block, Text)]
    assert kept == [None, None, good]


def test_every_other_event() -> None:
    assert masked(Started(KEY, KEY)) == [Started(MASK, MASK)]
    assert masked(Failure("busy", KEY, KEY, True, 3.0)) == [Failure("busy", MASK, MASK, True, 3.0)]
    assert masked(Retrying(1, 2, 3.0, f"x {KEY}")) == [Retrying(1, 2, 3.0, f"x {MASK}")]
    assert masked(Usage(1, 2, 3, 4, 5)) == [Usage(1, 2, 3, 4, 5)]
    drafts = masked(CallDraft(0, "Bash", KEY[:9]), CallDraft(0, "Bash", KEY[9:]))
    assert "".join(event.text for event in drafts if isinstance(event, CallDraft)) == MASK


def test_the_beginning_of_a_key_is_not_shown_when_the_stream_breaks() -> None:
    assert texts(masked(TextDelta(0, f"ok {KEY[:-1]}"), Failure("truncated", "cut"))) == "ok "
    assert texts(masked(TextDelta(0, "ends in s"), Done(Assistant((Text("ends in s"),), "end")))) == "ends in s"


def test_blocks_without_text_and_deltas_out_of_order_keep_their_places() -> None:
    state = Opaque("b", "w", "{}")
    events = masked(
        ReasoningDelta(3, "second"),
        TextDelta(4, f"b {KEY}"),
        ReasoningDelta(1, "first"),
        TextDelta(2, "a"),
        Done(
            Assistant(
                (Reasoning("", state), Reasoning("first"), Text("a"), Reasoning("second", state), Text(f"b {KEY}")),
                "end",
            )
        ),
    )
    last = events[-1]
    assert isinstance(last, Done)
    shown = [block.text for block in last.assistant.blocks if isinstance(block, Text | Reasoning)]
    assert shown == ["", "first", "a", "second", f"b {MASK}"]
    assert last.assistant.blocks[0] == Reasoning("", state)


def test_state_with_a_secret_behind_escapes_is_dropped() -> None:
    hidden = "".join(f"\\u{ord(c):04x}" for c in KEY)
    for text in (f'{{"a":"{KEY}"}}', f'{{"a":"{hidden}"}}'):
        (found,) = masked(Done(Assistant((Reasoning("", Opaque("b", "w", text)),), "end", phase=KEY)))
        assert isinstance(found, Done) and found.assistant.phase == MASK
        assert found.assistant.blocks == (Reasoning("", None),)
    (kept,) = masked(Done(Assistant((Reasoning("", Opaque("b", "w", '{ "a" : "\\u0041" }')),), "end")))
    assert isinstance(kept, Done) and kept.assistant.blocks == (Reasoning("", Opaque("b", "w", '{ "a" : "\\u0041" }')),)


@pytest.mark.parametrize("cut", range(1, len(KEY)))
def test_a_key_that_begins_in_one_block_and_ends_in_the_next(cut: int) -> None:
    blocks = (Text(f"a {KEY[:cut]}"), Text(f"{KEY[cut:]} b"))
    events = masked(TextDelta(0, blocks[0].text), TextDelta(1, blocks[1].text), Done(Assistant(blocks, "end")))
    last = events[-1]
    assert isinstance(last, Done) and last.assistant.text == texts(events) == f"a {MASK} b"


def test_blocks_that_spell_a_key_only_where_they_stand() -> None:
    blocks = (Text(f"a {KEY[:6]}"), Text(f"{KEY[6:]} b"))
    events = masked(TextDelta(1, blocks[1].text), TextDelta(0, blocks[0].text), Done(Assistant(blocks, "end")))
    last = events[-1]
    assert isinstance(last, Done) and last.assistant.text == f"a {MASK} b"
    assert KEY not in texts(events)


@pytest.mark.parametrize("grown", [b'{"messages":["one"]}', b'{"messages":["one","two"]}'])
def test_a_request_leaves_as_it_is_where_it_holds_no_key(grown: bytes) -> None:
    gate = RequestGate(Masker((KEY,)))
    assert gate.sealed(b'{"messages":["one"]}') == b'{"messages":["one"]}'
    assert gate.sealed(grown) is grown


def test_a_key_in_a_request_is_masked_wherever_it_stands() -> None:
    body = b'{"m":["' + b"x" * 500 + b'"]}'
    for at in range(7, 507):
        gate = RequestGate(Masker((KEY,)))
        gate.sealed(body)
        now = body[:at] + KEY.encode() + body[at:]
        for _ in range(2):
            assert gate.sealed(now) == now.replace(KEY.encode(), MASK.encode())
        assert gate.sealed(body) is body


def test_a_request_whose_framing_spells_a_key_does_not_leave() -> None:
    gate = RequestGate(Masker(('c":"defgh',)))
    with pytest.raises(AgenyxError, match="was not sent"):
        gate.sealed(b'{"abc":"defghij"}')

"""Prunings, summaries and shortened turns as records: what the next request holds after them, whatever the file."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenyx.core.events import Outcome, Usage
from agenyx.core.messages import (
    Assistant,
    Block,
    Entry,
    Opaque,
    Origin,
    Reasoning,
    Step,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    User,
)
from agenyx.llm.anthropic_encode import AnthropicEncoder
from agenyx.llm.anthropic_wire import THINKING
from agenyx.llm.chat_encode import ChatEncoder
from agenyx.llm.dialects import MESSAGES_ANTHROPIC, OPENAI, RESPONSES_OPENAI
from agenyx.llm.encode import Encoder
from agenyx.llm.request import Options
from agenyx.llm.responses_encode import ResponsesEncoder
from agenyx.llm.responses_wire import ITEM
from agenyx.session.records import (
    Binding,
    Body,
    Compacted,
    Finished,
    Opened,
    Prefix,
    Prompt,
    Pruned,
    Reader,
    Record,
    Response,
    Result,
    Trimmed,
    encode,
)
from agenyx.session.state import NeedModel, State, next_action, request_of

HEAD: tuple[Body, ...] = (Opened("s", "/w", "1"), Binding("p", "f", "m"), Prefix("h", Options(), ("sys",), ()))


def ask(text: str, origin: Origin = "typed") -> Prompt:
    return Prompt(User((Text(text),), origin))


def answer(text: str, *ids: str) -> Response:
    blocks = (Text(text), *(ToolCall(i, f"w{i}", "Read", "{}") for i in ids))
    return Response(Assistant(blocks, "calls" if ids else "end"), Usage(fresh=1_000, out=10))


def result(call: str, text: str = "the whole") -> Result:
    return Result(ToolResult(call, "ok", (Text(text),)))


def fold(*bodies: Body) -> State:
    """Record number n has the id `rn`; the head takes the first three. What is written is also what is read back."""
    state, reader = State(), Reader()
    for seq, body in enumerate((*HEAD, *bodies), 1):
        record = Record(1, f"r{seq}", seq, f"r{seq - 1}", 0.0, "t", body)
        assert reader.decode(encode(record)) == record
        state.apply(record)
    return state


def texts(state: State) -> list[str]:
    found: list[str] = []
    for entry in state.view.entries:
        match entry:
            case Step(assistant=assistant, results=results):
                found.append(" ".join([assistant.text, *(one.text for one in results)]))
            case _:
                found.append(entry.text)
    return found


LONG = (ask("first"), answer("one", "c1"), result("c1"), ask("second"), answer("two", "c2"), result("c2"))  # r4 to r9


def test_a_pruned_result_is_short_in_the_request_and_whole_in_the_history() -> None:
    state = fold(*LONG, Pruned((ToolResult("c1", "ok", (Text("[gone]"),), "/spill/c1.txt"),), 500))
    assert texts(state) == ["first", "one [gone]", "second", "two the whole"]
    step = state.entries[1]
    assert isinstance(step, Step) and step.results[0].text == "the whole"
    assert step.results[0].spill == "/spill/c1.txt", "it can be paged"
    assert (state.floor, state.breaks) == (500, {"old results were taken out to make room": 1})


def test_a_summary_stands_for_what_it_covers_and_the_rest_stays() -> None:
    state = fold(*LONG, Compacted("in short", "r6", ("r4",), tokens=300))
    assert texts(state) == ["in short", "first", "second", "two the whole"]
    assert isinstance(state.view.entries[0], Summary) and len(state.entries) == 4
    action = next_action(state)
    assert isinstance(action, NeedModel) and list(action.request.entries) == state.view.entries


def test_summaries_follow_each_other() -> None:
    more = (ask("third"), answer("three"))  # r11, r12
    state = fold(*LONG, Compacted("in short", "r6", ("r4",)), *more, Compacted("shorter", "r12", ("r4", "r11")))
    assert texts(state) == ["shorter", "first", "third"]


def test_only_prompts_are_kept_and_unknown_names_do_no_harm() -> None:
    state = fold(*LONG, Compacted("in short", "r9", ("r4", "r6", "nonsense")))
    assert texts(state) == ["in short", "first"]


def test_a_summary_whose_place_was_lost_stands_for_everything_before_it() -> None:
    state = fold(*LONG, Compacted("in short", "lost", ("r7",)), ask("third"))
    assert texts(state) == ["in short", "second", "third"]


def test_earlier_turns_shortened_to_what_was_said() -> None:
    before = (*LONG, answer("final"), Finished(Outcome("done")))
    state = fold(*before, Trimmed(), ask("third"), answer("three", "c3"), result("c3"))
    assert texts(state) == ["first", "second", "final", "third", "three the whole"]
    assert len(state.entries) == 7 and state.turn_steps()


def test_the_tokens_of_a_summary_count_and_progress_is_told_from_none() -> None:
    first = fold(*LONG, Compacted("a", "r6", by="overflow", usage=Usage(fresh=5, out=2)))
    assert first.usage == Usage(fresh=2_005, out=22) and first.overflowed and first.tries == 1
    assert not fold(*LONG, Compacted("a", "r6", by="user")).tries
    again = fold(*LONG, Compacted("a", "r6"), answer("x"), Compacted("b", "r11"))
    assert again.tries == 2 and not again.overflowed
    state = fold(*LONG, Compacted("a", "r6", by="overflow"))
    state.apply(Record(1, "next", 99, "r10", 0.0, "another turn", ask("go on")))
    assert not state.overflowed and not state.tries, "the person goes on"
    worked = (answer("x"), answer("y"), answer("z"))
    assert fold(*LONG, Compacted("a", "r6", by="overflow"), *worked).tries == 0


def test_an_older_version_passes_over_them() -> None:
    line = encode(Record(1, "r", 1, "", 0.0, "t", Trimmed())).replace(b'"trimmed"', b'"of_a_later_version"')
    assert Reader().decode(line).id == "r"


# --- whatever is done to a conversation, each wire takes it ----------------------------------------------------------


words = st.text(max_size=12)
RAW = '{"type":"thinking","thinking":"hm","signature":"abc"}'
THOUGHT = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"x"}'


@st.composite
def histories(draw: st.DrawFn) -> list[Body]:
    """Turns of any shape, cut anywhere, with results lost, and room made in any way at any time."""
    bodies: list[Body] = []
    calls: list[str] = []
    for number in range(draw(st.integers(1, 14))):
        kind = draw(st.sampled_from(["prompt", "step", "step", "prune", "compact", "trim", "finish"]))
        match kind:
            case "prompt":
                bodies.append(ask(draw(words), draw(st.sampled_from(["typed", "notice", "steer"]))))
            case "step":
                made = [f"c{number}_{n}" for n in range(draw(st.integers(0, 3)))]
                wire = draw(st.sampled_from(["", "same", "functions.Read:0"]))
                opaque = draw(st.sampled_from([None, Opaque("me", THINKING, RAW), Opaque("me", ITEM, THOUGHT)]))
                thought = (Reasoning("hm", opaque),) if opaque or draw(st.booleans()) else ()
                blocks: list[Block] = [*thought, Text(draw(words)), *(ToolCall(c, wire, "Read", "{}") for c in made)]
                stop = "calls" if made else draw(st.sampled_from(["end", "cut", "length"]))
                usage = draw(st.sampled_from([None, Usage(fresh=50, out=5)]))
                bodies.append(Response(Assistant(tuple(blocks), stop, binding="me"), usage))
                bodies += [result(c, draw(words)) for c in made if draw(st.integers(0, 9))]
                calls += made
            case "prune":
                gone = draw(st.lists(st.sampled_from([*calls, "nonsense"]), max_size=4))
                bodies.append(Pruned(tuple(ToolResult(c, "ok", (Text("[gone]"),), "/x") for c in gone), 9))
            case "compact":
                ids = st.sampled_from([f"r{n}" for n in range(len(bodies) + 5)])
                bodies.append(Compacted(draw(words), draw(ids), tuple(draw(st.lists(ids, max_size=4))), tokens=9))
            case "trim":
                bodies.append(Trimmed())
            case _:
                bodies.append(Finished(Outcome("done")))
    return bodies


def chat(body: dict[str, Any]) -> None:
    open_ids: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            assert message["tool_call_id"] == open_ids.pop(0), "each result follows its call, in order"
            continue
        assert not open_ids, "no call without its result"
        assert message["role"] in ("system", "user", "assistant")
        open_ids = [call["id"] for call in message.get("tool_calls", [])]
        assert len(set(open_ids)) == len(open_ids)
        assert message["role"] != "assistant" or open_ids or isinstance(message["content"], str)
    assert not open_ids


def responses(body: dict[str, Any]) -> None:
    calls: list[str] = []
    answered: list[str] = []
    for place, item in enumerate(body["input"]):
        match item["type"]:
            case "function_call":
                calls.append(item["call_id"])
            case "function_call_output":
                answered.append(item["call_id"])
                assert item["call_id"] in calls
            case "reasoning":
                following = body["input"][place + 1]
                assert following["type"] in ("function_call", "message", "reasoning")
                assert following.get("role", "assistant") == "assistant", (
                    "what was thought stands before what came of it"
                )
            case _:
                assert item["type"] == "message"
    assert sorted(calls) == sorted(answered) and len(set(calls)) == len(calls)


def messages(body: dict[str, Any]) -> None:
    expected: list[str] = []
    for message in body["messages"]:
        blocks = message["content"]
        assert blocks and all(block.get("text", "x").strip() for block in blocks)
        given = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert given == expected, "the results stand in the message behind the calls"
        expected = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if message["role"] == "assistant":
            assert any(block["type"] in ("text", "tool_use") for block in blocks), "thinking alone is no message"
    assert not expected


WIRES: dict[str, tuple[Any, Any]] = {
    "chat": (lambda: ChatEncoder(OPENAI, "me"), chat),
    "responses": (lambda: ResponsesEncoder(RESPONSES_OPENAI, "me"), responses),
    "messages": (lambda: AnthropicEncoder(MESSAGES_ANTHROPIC, "me"), messages),
}


@pytest.mark.parametrize("wire", WIRES)
@settings(deadline=None)
@given(histories())
def test_whatever_was_taken_out_the_request_is_valid(wire: str, bodies: list[Body]) -> None:
    make, check = WIRES[wire]
    encoder: Encoder = make()
    state = State()
    for seq, body in enumerate((*HEAD, *bodies), 1):
        state.apply(Record(1, f"r{seq}", seq, f"r{seq - 1}", 0.0, f"t{seq // 6}", body))
        if seq < len(HEAD):
            continue
        made = encoder.encode(request_of(state))
        check(json.loads(made))
        assert made == make().encode(request_of(state)), "what an encoder remembers does not matter"
    view: list[Entry] = state.view.entries
    assert len(view) == len(state.view.ids)
    known = state.view.measured
    assert known is None or known.entries <= len(view)

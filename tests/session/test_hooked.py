"""What hooks said, in the fold: with the call, until the model has seen it, for the turn."""

from __future__ import annotations

from agenyx.core.messages import Assistant, Text, ToolCall, ToolResult, User
from agenyx.session.records import Accepted, Body, Hooked, Opened, Prompt, Reader, Record, Response, Result, encode
from agenyx.session.state import State


def fold(*bodies: Body, state: State | None = None, turn: str = "t1") -> State:
    state = state or State()
    for body in bodies:
        record = Record(1, f"r{state.seq + 1}", state.seq + 1, state.head, 0.0, turn, body)
        assert Reader().decode(encode(record)) == record
        state.apply(record)
    return state


def typed(text: str) -> Prompt:
    return Prompt(User((Text(text),)))


CALL = Assistant((ToolCall("c1", "w1", "Bash", '{"command":"ls"}'),), "calls")
BEGUN = (Opened("s", "/w", "v"), typed("go"), Response(CALL), Accepted("c1"))


def test_an_answer_stands_with_its_call_and_changes_the_arguments_that_count() -> None:
    state = fold(*BEGUN, said := Hooked("PreToolUse", "c1", "allow", args='{"command":"pwd"}'))
    call = state.pending["c1"]
    assert call.hooked == said
    assert call.changed == '{"command":"pwd"}'
    call.edited = '{"command":"id"}'
    assert call.changed == '{"command":"id"}', "what the person wrote counts"


def test_words_for_the_model_wait_until_they_were_said() -> None:
    state = fold(*BEGUN, Hooked("PreToolUse", "c1", context=("one",)), Hooked("PostToolUse", "c1", context=("two",)))
    fold(Result(ToolResult("c1", "ok", ())), state=state)
    assert state.told == ["one", "two"]
    fold(Prompt(User((Text("one\ntwo"),), "hook")), state=state)
    assert state.told == []
    assert state.turn == "t1"


def test_a_turn_is_ended_or_held_and_the_next_one_is_free() -> None:
    state = fold(
        *BEGUN, Hooked("Stop", decision="deny", reason="more"), Hooked("PostToolUse", "c1", reason="x", stop=True)
    )
    assert (state.held, state.halted) == (1, "x")
    fold(Result(ToolResult("c1", "ok", ())), state=state)
    fold(typed("again"), state=state, turn="t2")
    assert (state.held, state.halted) == (0, "")


def test_an_answer_about_no_open_call_changes_nothing() -> None:
    state = fold(*BEGUN, Hooked("PreToolUse", "c9", "deny"))
    assert state.pending["c1"].hooked is None
    assert state.problems == []

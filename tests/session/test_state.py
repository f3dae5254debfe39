"""The fold over records and the pure function on it."""

from __future__ import annotations

import pytest

from agenyx.core.approval import Approval, Decision
from agenyx.core.events import Outcome
from agenyx.core.messages import Assistant, Step, Text, ToolCall, ToolResult, User
from agenyx.core.tools import Effects, Observed
from agenyx.core.verdict import Verdict
from agenyx.llm.request import Options
from agenyx.session.records import (
    Accepted,
    Asked,
    Binding,
    Body,
    Decided,
    EffectsBegun,
    Finished,
    Opened,
    Prefix,
    Prompt,
    Record,
    Response,
    Result,
)
from agenyx.session.state import NeedModel, Over, Settle, State, Waiting, next_action

HEAD: tuple[Body, ...] = (
    Opened("s", "/w", "1"),
    Binding("p", "f", "m"),
    Prefix("h", Options(), ("sys",), ()),
)
ASK = Prompt(User((Text("do it"),), "typed", "p1"))


def fold(*bodies: Body) -> State:
    state = State()
    for seq, body in enumerate((*HEAD, *bodies), 1):
        state.apply(Record(1, f"r{seq}", seq, f"r{seq - 1}", 0.0, "t1", body))
    return state


def response(*ids: str, text: str = "") -> Response:
    blocks = ((Text(text),) if text else ()) + tuple(ToolCall(i, f"w{i}", "Read", "{}") for i in ids)
    return Response(Assistant(blocks, "calls" if ids else "end"))


def result(call: str, text: str = "ok") -> Result:
    return Result(ToolResult(call, "ok", (Text(text),)))


def approval(call: str) -> Approval:
    return Approval(f"a-{call}", ToolCall(call, "w", "Bash", "{}"), Verdict("ask", ()), Effects())


def test_a_session_without_a_prompt_has_nothing_to_do() -> None:
    assert next_action(State()) == Over(Outcome("idle"))


def test_a_prompt_needs_the_model() -> None:
    action = next_action(fold(ASK))
    assert isinstance(action, NeedModel)
    assert (action.request.model, action.request.system, list(action.request.entries)) == (
        "m",
        ("sys",),
        [ASK.user],
    )


def test_calls_without_results_are_settled_in_order() -> None:
    action = next_action(fold(ASK, response("c1", "c2"), Accepted("c1"), Accepted("c2"), result("c1")))
    assert isinstance(action, Settle)
    assert [state.call.id for state in action.calls] == ["c2"]


def test_all_results_make_a_step_and_give_the_model_the_word() -> None:
    state = fold(ASK, response("c1", "c2"), result("c2", "two"), result("c1", "one"))
    step = state.entries[-1]
    assert isinstance(step, Step)
    assert [r.text for r in step.results] == ["one", "two"], "results stand in the order of the calls"
    assert isinstance(next_action(state), NeedModel)


def test_a_final_answer_ends_the_turn_until_the_next_prompt() -> None:
    assert next_action(fold(ASK, response(text="done"))) == Over(None)
    assert next_action(fold(ASK, response(text="done"), Finished(Outcome("done")))) == Over(Outcome("done"))
    again = next_action(fold(ASK, response(text="done"), Finished(Outcome("done")), ASK))
    assert isinstance(again, NeedModel)


def test_a_partial_answer_is_not_a_final_one() -> None:
    cut = Response(Assistant((Text("half"),), "cut"))
    assert isinstance(next_action(fold(ASK, cut)), NeedModel)


def test_a_question_waits_until_it_is_answered_and_the_first_answer_counts() -> None:
    asked = (ASK, response("c1"), Asked(approval("c1")))
    assert next_action(fold(*asked)) == Waiting((approval("c1"),))
    yes, no = Decided(Decision("a-c1", "allow", by="one")), Decided(Decision("a-c1", "deny", by="two"))
    action = next_action(fold(*asked, yes, no))
    assert isinstance(action, Settle)
    assert action.calls[0].decision == yes.decision


def test_an_effect_that_began_is_known() -> None:
    action = next_action(fold(ASK, response("c1", "c2"), EffectsBegun(("c1",), True)))
    assert isinstance(action, Settle)
    assert [(s.begun, s.acts) for s in action.calls] == [(True, True), (False, False)]


def test_observations_of_results_are_remembered() -> None:
    seen = Result(ToolResult("c1", "ok", ()), (Observed("/w/a", "00"),))
    assert fold(ASK, response("c1"), seen).seen == {"/w/a": "00"}


@pytest.mark.parametrize(
    "bodies",
    [
        (ASK, response("c1"), result("zz")),
        (ASK, response("c1"), result("c1"), result("c1")),
        (ASK, response("c1", "c2"), result("c1"), ASK),
        (ASK, response("c1"), response("c2")),
        (ASK, Accepted("c9")),
    ],
)
def test_a_damaged_transcript_still_gives_a_valid_history(bodies: tuple[Body, ...]) -> None:
    state = fold(*bodies)
    assert state.problems
    for entry in state.entries:
        if isinstance(entry, Step):
            assert [c.id for c in entry.assistant.calls] == [r.call for r in entry.results]


def test_a_step_cannot_lack_a_result() -> None:
    with pytest.raises(ValueError, match="exactly one result"):
        Step(response("c1", "c2").assistant, (ToolResult("c1", "ok", ()),))

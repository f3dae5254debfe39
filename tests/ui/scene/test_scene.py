"""The scene: blocks from events, in every order that events may come."""

from __future__ import annotations

from agenyx.core.approval import Decision
from agenyx.core.events import (
    ApprovalAsked,
    ApprovalSettled,
    CallAccepted,
    CallDraft,
    Done,
    EffectStarted,
    Failure,
    Notice,
    Outcome,
    Output,
    ReasoningDelta,
    Retrying,
    StepStarted,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from agenyx.core.messages import Assistant, Text
from agenyx.core.tools import Effects
from agenyx.ui.scene.blocks import Answer, Card, End, Thought, Typed
from support.golden import load
from support.scenes import Stage, agent_of, asked, call, change, finished, outline, path

BEGUN = TurnStarted("go", "m", "default")


def ended(kind: str = "done", text: str = "") -> TurnFinished:
    return TurnFinished(Outcome(kind), text, 1, 1.0)  # type: ignore[arg-type]


def test_the_golden_events_make_one_block_each_that_a_person_should_see() -> None:
    scene = Stage()
    for event in load("work"):
        scene.apply(event)
    assert outline(scene.blocks) == [
        "Note 12 files are ignored",
        "Note This session is kept in memory only.",
        "Thought I should look first.",
        "Answer Let me look.",
        "Card Read over ok",
        "Card Grep over ok",
        "Note the server is busy (429): attempt 1 of 5 in 1.5 s",
        "Card Read over denied",
        "Card Bash over denied",
        "Card Edit over ok",
        "Mark",
        "Note the prompt cache starts anew: compaction",
        "Note permission mode: acceptEdits",
        "Answer Done: a is 2\x1b[31m now.\nBye.",
        "End",
    ]
    assert all(block.over for block in scene.blocks)
    assert scene.files == {"a.py": 1}


def test_each_golden_turn_ends_with_an_end_and_its_text_once() -> None:
    for turn in ("failed", "busy", "limit", "stopped", "cancelled"):
        scene = Stage()
        for event in load(turn):
            scene.apply(event)
        assert isinstance(scene.blocks[-1], End), turn
        assert sum(isinstance(block, Answer) for block in scene.blocks) <= 1, turn


def test_keys_differ_and_versions_grow_with_every_change() -> None:
    scene = Stage()
    scene.events(BEGUN, StepStarted(), TextDelta(0, "a"))
    block = scene.blocks[-1]
    before = block.version
    scene.events(TextDelta(0, "b"))
    assert block.version > before
    for event in load():
        scene.apply(event)
    keys = [block.key for block in scene.blocks]
    assert len(set(keys)) == len(keys)


def test_text_that_is_whole_is_one_piece() -> None:
    scene = Stage()
    scene.events(BEGUN, StepStarted(), *(TextDelta(0, f"{n} ") for n in range(5)))
    scene.events(Done(Assistant((Text("0 1 2 3 4 "),), "end")))
    block = scene.blocks[-1]
    assert isinstance(block, Answer)
    assert block.over and block.pieces == ["0 1 2 3 4 "]


def test_an_answer_that_did_not_stream_is_shown_once() -> None:
    scene = Stage()
    scene.events(BEGUN, StepStarted(), TextDelta(0, "first"), Done(Assistant((Text("first"), call()), "calls")))
    scene.events(CallAccepted(call(), Effects()), finished(call()))
    scene.events(StepStarted(), Done(Assistant((Text("whole"),), "end")), ended(text="whole"))
    assert [block.text for block in scene.blocks if isinstance(block, Answer)] == ["first", "whole"]


def test_thinking_tells_how_long_it_took() -> None:
    scene = Stage()
    scene.events(BEGUN, StepStarted(), ReasoningDelta(0, "hm"))
    scene.time.now += 4
    scene.events(TextDelta(1, "so"))
    thought = scene.blocks[0]
    assert isinstance(thought, Thought)
    assert thought.seconds == 4.0 and thought.over


def test_parallel_calls_of_one_name_keep_their_own_cards() -> None:
    one, other = call("Read", '{"file_path":"a"}', "call_1"), call("Read", '{"file_path":"b"}', "call_2")
    scene = Stage()
    scene.events(BEGUN, StepStarted())
    scene.events(CallDraft(0, "Read", '{"file_path":"a"}'), CallDraft(1, "Read", '{"file_path":"b"}'))
    scene.events(Done(Assistant((one, other), "calls")))
    # The second is taken on first: it is found by what the server called it.
    scene.events(CallAccepted(other, Effects()), CallAccepted(one, Effects()), EffectStarted((other.id, one.id)))
    scene.events(finished(other, "text of b"), finished(one, "text of a"))
    shown = [block for block in scene.blocks if isinstance(block, Card)]
    assert [(c.call and c.call.args, c.result and c.result.text) for c in shown] == [
        ('{"file_path":"a"}', "text of a"),
        ('{"file_path":"b"}', "text of b"),
    ]


def test_a_call_that_is_refused_before_it_is_taken_on_takes_the_first_card_of_its_name() -> None:
    one, other = call("Read", "1", "call_1"), call("Read", "2", "call_2")
    scene = Stage()
    scene.events(BEGUN, StepStarted(), Done(Assistant((one, other), "calls")))
    scene.events(finished(one, "no", "denied"), CallAccepted(other, Effects()), finished(other, "yes"))
    assert outline(scene.blocks) == ["Card Read over denied", "Card Read over ok"]


def test_what_streamed_before_a_retry_is_withdrawn_and_said_again() -> None:
    scene = Stage()
    scene.events(BEGUN, StepStarted(), TextDelta(0, "half"), CallDraft(1, "Bash", "{"))
    scene.events(Retrying(1, 5, 1.0, "busy"), TextDelta(0, "whole"))
    assert outline(scene.blocks) == ["Note busy: attempt 1 of 5 in 1.0 s", "Answer whole"]


def test_a_response_that_fails_leaves_its_text_and_calls_that_never_ran() -> None:
    scene = Stage()
    scene.events(BEGUN, StepStarted(), TextDelta(0, "half"), CallDraft(1, "Bash", "{"))
    scene.events(Failure("idle", "nothing came"), ended("failed"))
    assert outline(scene.blocks) == ["Answer half", "Card Bash over cancelled", "End"]
    assert scene.card().result is None


def test_a_cancelled_turn_closes_what_was_open() -> None:
    scene = Stage()
    scene.calls(call("Bash"), call("Read", id="call_2"))
    scene.events(EffectStarted(("call_00000001",)), Output("call_00000001", b"so far"))
    scene.events(ended("cancelled"))
    assert outline(scene.blocks) == ["Card Bash over cancelled", "Card Read over cancelled", "End"]
    assert all(block.over for block in scene.blocks)
    assert scene.pulse.since is None


def test_a_word_to_a_running_turn_stands_below_what_was_said_so_far() -> None:
    scene = Stage()
    scene.events(BEGUN, StepStarted(), TextDelta(0, "I begin"))
    scene.typed("stop that", steer=True)
    scene.events(TextDelta(0, " and go on"))
    assert outline(scene.blocks) == ["Answer I begin", "Typed stop that", "Answer  and go on"]
    assert isinstance(block := scene.blocks[1], Typed) and block.how == "steer"


def test_a_question_marks_its_card_until_it_is_answered() -> None:
    scene, one = Stage(), call("Bash")
    scene.calls(one)
    scene.events(ApprovalAsked(asked(one)))
    assert scene.card().stage == "asked"
    scene.events(ApprovalSettled(Decision("apr", "allow")))
    assert scene.card().stage == "accepted"
    scene.events(EffectStarted((one.id,)), Output(one.id, b"x" * 5000))
    assert scene.card().stage == "running"
    assert (len(scene.card().output), scene.card().printed) == (4096, 5000)


def test_a_turn_that_waits_for_an_answer_leaves_its_cards_open_and_goes_on_with_them() -> None:
    scene, one, other = Stage(), call("Bash"), call("Read", id="call_2")
    scene.events(BEGUN)
    scene.calls(one)
    scene.events(StepStarted(), Done(Assistant((other,), "calls")))
    scene.events(ApprovalAsked(asked(one)), ended("waiting"))
    assert scene.card("Bash").stage == "asked" and not scene.card("Bash").over
    scene.events(EffectStarted((one.id,)), finished(one, "late"))
    assert scene.card("Bash").status == "ok"
    assert scene.card("Read").stage == "accepted"


def test_what_is_kept_of_effects_is_what_people_see() -> None:
    scene, one = Stage(), call("Edit")
    scene.ran(one, effects=change("a.py", "--- a.py\n+++ a.py\n-1\n+2"))
    effects = scene.card().effects
    assert effects is not None and effects.preview and effects.writes == (path("a.py"),)


def test_blocks_of_a_subagent_stand_in_the_card_of_its_call() -> None:
    scene, task = Stage(), call("Task")
    child, inner = agent_of(task), call("Grep", id="call_inner001")
    scene.events(BEGUN)
    scene.calls(task, effects=Effects(parallel=True))
    scene.events(EffectStarted((task.id,)))
    before = scene.card("Task").version
    scene.events(BEGUN, agent=child)
    scene.ran(inner, "hit", agent=child)
    scene.events(TextDelta(0, "found"), Done(Assistant((Text("found"),), "end")), ended(), agent=child)
    assert scene.card("Task").version > before
    scene.events(finished(task, "report"), ended())
    assert outline(scene.blocks) == ["Card Task over ok", "  Card Grep over ok", "  Answer found", "End"]
    assert scene.blocks[0].over


def test_two_subagents_at_once_do_not_mix() -> None:
    scene, one, other = Stage(), call("Task", id="call_aaaaaaa1"), call("Task", id="call_aaaaaaa2")
    scene.calls(one, other)
    scene.events(TextDelta(0, "from one"), agent=agent_of(one))
    scene.events(TextDelta(0, "from other"), agent=agent_of(other))
    scene.events(TextDelta(0, ", more"), agent=agent_of(one))
    assert outline(scene.blocks) == [
        "Card Task accepted",
        "  Answer from one, more",
        "Card Task accepted",
        "  Answer from other",
    ]


def test_a_subagent_of_a_subagent_nests_deeper_and_changes_all_cards_above() -> None:
    scene, outer, inner = Stage(), call("Task", id="call_outer001"), call("Task", id="call_inner001")
    child = agent_of(outer)
    scene.calls(outer)
    scene.calls(inner, agent=child)
    before = scene.blocks[0].version
    scene.events(TextDelta(0, "deep"), agent=f"{child}/{agent_of(inner, 'helper')}")
    scene.events(TextDelta(0, "er"), agent=f"{child}/{agent_of(inner, 'helper')}")
    assert outline(scene.blocks) == ["Card Task accepted", "  Card Task accepted", "    Answer deeper"]
    assert scene.blocks[0].version >= before + 2


def test_a_subagent_in_the_background_goes_on_after_its_call_and_after_the_turn() -> None:
    scene, task, inner = Stage(), call("Task"), call("Bash", id="call_inner001")
    child = agent_of(task)
    scene.events(BEGUN)
    scene.ran(task, "it works in the background")
    assert scene.blocks[0].over
    scene.events(BEGUN, agent=child)
    assert not scene.blocks[0].over
    scene.calls(inner, agent=child)
    scene.events(ended(), EffectStarted((inner.id,)))
    assert scene.card("Bash").stage == "running", "the end of the turn is not the end of what is beside it"
    scene.typed("next")
    scene.events(finished(inner, "ok"), ended(), agent=child)
    assert outline(scene.blocks) == ["Card Task over ok", "  Card Bash over ok", "End", "Typed next"]
    assert all(block.over for block in scene.blocks)


def test_a_subagent_that_fails_says_so_in_its_card() -> None:
    scene, task = Stage(), call("Task")
    scene.calls(task)
    scene.events(BEGUN, agent=agent_of(task))
    scene.events(TurnFinished(Outcome("failed", "the server is gone"), "", 0, 0.0), agent=agent_of(task))
    assert outline(scene.blocks) == ["Card Task accepted", "  Note the server is gone"]


def test_the_question_of_a_subagent_outlives_the_end_of_the_turn() -> None:
    scene, inner = Stage(), call("Bash", id="call_inner001")
    scene.events(BEGUN)
    scene.calls(inner, agent="helper/a00000009")
    scene.events(ApprovalAsked(asked(inner, agent="helper/a00000009")), agent="helper/a00000009")
    scene.events(ended())
    assert "apr" in scene.pulse.asked


def test_late_events_of_a_turn_that_is_over_are_shown_and_break_nothing() -> None:
    scene, one = Stage(), call("Bash")
    scene.calls(one)
    scene.events(EffectStarted((one.id,)), ended("cancelled"))
    scene.events(Output(one.id, b"late"), finished(one, "late", "cancelled"), Notice("info", "late too"))
    assert outline(scene.blocks)[-1] == "Note late too"
    assert scene.blocks[0].over


def test_events_of_an_unknown_subagent_are_not_lost() -> None:
    scene = Stage()
    scene.events(BEGUN, TextDelta(0, "who am I"), agent="stranger/a0")
    assert outline(scene.blocks) == ["Answer who am I"]


def test_another_conversation_has_other_blocks_and_new_keys() -> None:
    scene = Stage()
    scene.typed("one")
    begun, key = scene.begun, scene.blocks[0].key
    scene.restart()
    scene.typed("two")
    assert (len(scene.blocks), scene.begun) == (1, begun + 1)
    assert scene.blocks[0].key > key


def test_lone_surrogates_are_replaced_where_they_come_in() -> None:
    scene = Stage()
    scene.typed("a\udc80")
    scene.say("b\udc80")
    assert outline(scene.blocks) == ["Typed a\ufffd", "Said b\ufffd"]

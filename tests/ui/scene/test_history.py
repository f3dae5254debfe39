"""The blocks of earlier conversations: made of real records in real files."""

from __future__ import annotations

from pathlib import Path

import pytest

from agenyx.core.approval import Approval
from agenyx.core.messages import Assistant, Media, Reasoning, Step, Summary, Text, ToolCall, ToolResult, User
from agenyx.core.tools import Effects
from agenyx.core.verdict import Verdict
from agenyx.session.load import load
from agenyx.session.records import Accepted, Asked, Compacted, Prompt, Response
from agenyx.session.state import State
from agenyx.ui.scene.blocks import Answer, Card, Mark, Typed
from agenyx.ui.scene.history import FIRST, blocks_of, past_of, waiting_of
from agenyx.ui.scene.scene import Scene
from support.scenes import Stage, call, finished, outline
from support.stored import store_session, turn


def recall(scene: Scene, state: State) -> None:
    past = past_of(state, scene.key)
    scene.restart([*past.take(FIRST), *waiting_of(state, scene.key)], past.take)


def test_a_stored_session_is_shown_as_it_was_said(tmp_path: Path) -> None:
    folder = store_session(
        tmp_path / "home", tmp_path, "s", [turn("look", "found it", '{"file_path":"a"}'), turn("thanks")]
    )
    scene = Stage()
    recall(scene, load(str(folder)))
    assert outline(scene.blocks) == [
        "Typed look",
        "Card Read over ok",
        "Answer found it",
        "Typed thanks",
        "Answer done",
    ]
    assert scene.card().result is not None and scene.card().result.text == "what the tool said"
    scene.typed("go on")
    keys = [block.key for block in scene.blocks]
    assert len(set(keys)) == len(keys)


def test_every_kind_of_entry() -> None:
    one = ToolCall("call_1", "w", "Bash", "{}")
    entries = (
        User((Text("for the model"),), "notice"),
        User((Text("from a hook"),), "hook"),
        User((Text("expanded words"),), "typed", shown="/review"),
        User((Text("see "), Media("image", "image/png", "0" * 64, 3, "p.png")), "typed"),
        User((Text("faster"),), "steer"),
        Step(Assistant((Reasoning("hm"), Text("so"), one), "calls"), (ToolResult("call_1", "denied", (Text("no"),)),)),
        Step(Assistant((Text("half"),), "cut")),
        Summary("in short", "r1"),
    )
    assert outline(blocks_of(entries, 10)) == [
        "Typed /review",
        "Typed see \n[image p.png]",
        "Typed faster",
        "Thought hm",
        "Answer so",
        "Card Bash over denied",
        "Answer half",
        "Note This answer broke off: the connection was lost, or the turn was stopped.",
        "Mark",
    ]
    assert [block.key for block in blocks_of(entries, 10)] == list(range(10, 19))


def test_a_long_session_shows_its_end_first_and_the_rest_when_it_is_wanted(tmp_path: Path) -> None:
    turns = [turn(f"prompt {number}") for number in range(1600)]
    folder = store_session(tmp_path / "home", tmp_path, "s", turns)
    scene = Stage()
    recall(scene, load(str(folder)))
    assert FIRST <= len(scene.blocks) < FIRST + 10
    assert isinstance(last := scene.blocks[-2], Typed) and last.text == "prompt 1599"
    while scene.has_older:
        scene.more()
    assert len(scene.blocks) == 3200
    assert [block.text for block in scene.blocks if isinstance(block, Typed)] == [f"prompt {n}" for n in range(1600)]


def test_a_summary_stands_where_it_was_made(tmp_path: Path) -> None:
    home = tmp_path / "home"
    folder = store_session(home, tmp_path, "s", [turn("one"), turn("two")])
    upto = load(str(folder)).view.ids[-1]
    store_session(home, tmp_path, "s", [[Compacted(summary="in short", upto=upto)], turn("three")])
    scene = Stage()
    recall(scene, load(str(folder)))
    assert outline(scene.blocks) == [
        "Typed one",
        "Answer done",
        "Typed two",
        "Answer done",
        "Mark",
        "Typed three",
        "Answer done",
    ]
    assert isinstance(mark := scene.blocks[4], Mark) and mark.summary == "in short"


def test_a_call_that_waits_for_an_answer_takes_up_its_events(tmp_path: Path) -> None:
    one = call("Bash", '{"command":"make"}')
    asked = Approval("apr", one, Verdict("ask", ()), Effects(script="make"))
    bodies = [Prompt(User((Text("build"),), "typed", "p")), Response(Assistant((one,), "calls"), None)]
    folder = store_session(tmp_path / "home", tmp_path, "s", [[*bodies, Accepted(one.id), Asked(asked)]])
    scene = Stage()
    recall(scene, load(str(folder)))
    assert outline(scene.blocks) == ["Typed build", "Card Bash asked"]
    scene.events(finished(one, "built"))
    assert outline(scene.blocks) == ["Typed build", "Card Bash over ok"]
    assert all(block.over for block in scene.blocks)


@pytest.mark.parametrize("count", [0, 1])
def test_a_session_without_much_in_it(tmp_path: Path, count: int) -> None:
    folder = store_session(tmp_path / "home", tmp_path, "s", [turn("hi")] * count)
    scene = Stage()
    recall(scene, load(str(folder)))
    assert len(scene.blocks) == 2 * count
    assert scene.more() == 0
    assert [type(block) for block in scene.blocks] == [Typed, Answer] * count
    assert not [block for block in scene.blocks if isinstance(block, Card)]

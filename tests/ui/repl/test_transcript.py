"""Events as lines: the golden turns, and what is drawn while things go on."""

from __future__ import annotations

from agenyx.core.events import (
    AgentEvent,
    Body,
    CallAccepted,
    EffectStarted,
    Output,
    Retrying,
    StepStarted,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from agenyx.core.events import Outcome as Ended
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Effects, PathRef
from agenyx.ui.repl.transcript import Transcript
from agenyx.ui.spans import ASCII, cells, plain
from support.golden import load


def transcript(columns: int = 80) -> Transcript:
    return Transcript(lambda: columns, ASCII, lambda: 5.0)


def said(view: Transcript) -> list[str]:
    return [plain(spans) for spans in view.take()]


def apply(view: Transcript, *bodies: Body) -> None:
    for body in bodies:
        view.apply(AgentEvent(1, "s", "t", 1, body))


def test_the_golden_turn() -> None:
    view = transcript()
    for event in load("work"):
        view.apply(event)
        assert all(cells(plain(row)) < 80 for row in view.live(10))
    lines = said(view)
    text = "\n".join(lines)
    assert lines[0] == "! 12 files are ignored"
    for words in (
        "Let me look.",
        "* Grep def main",
        "  Grep: ok, 1 line",
        "! the server is busy (429): attempt 1 of 5 in 1.5 s",
        "* Bash rm -rf build\\x1b[2J",
        "  Bash: denied (not that)",
        "  Edit: ok, 1 line, 1.2 s",
        "! permission mode: acceptEdits",
        "Done: a is 2\\x1b[31m now.",
        "Bye.",
        "3 steps, 4.5 s, 370 in, of them 210 from the cache; 62 out, of them 5 reasoning",
    ):
        assert words in text
    assert lines.count("Bye.") == 1
    assert "\x1b" not in text
    assert view.live(10) == []
    assert said(view) == []


def test_turns_that_do_not_end_well_say_why() -> None:
    for turn, words in (
        ("failed", "! the key was refused\n  Set OPENAI_API_KEY again."),
        ("limit", "! Stopped after 7"),
    ):
        view = transcript()
        for event in load(turn):
            view.apply(event)
        assert words in "\n".join(said(view))


def test_text_is_taken_line_by_line_and_the_rest_is_live() -> None:
    view = transcript()
    apply(view, TurnStarted("p", "m", "default"), StepStarted(), TextDelta(0, "one\ntw"))
    assert said(view) == ["one"]
    assert [plain(row) for row in view.live(5)] == ["tw", "", "0 s | Ctrl+C stops | answering"]
    apply(view, TextDelta(0, "o"), TurnFinished(Ended("done"), "one\ntwo", 1, 1.0))
    assert said(view) == ["two", "", "1 step, 1.0 s"]


def test_an_answer_that_was_not_streamed_is_shown_once() -> None:
    view = transcript()
    apply(view, TurnStarted("p", "m", "default"), StepStarted(), TurnFinished(Ended("done"), "**all** of it", 1, 1.0))
    assert said(view)[0] == "all of it"


def test_a_retry_ends_the_line_that_was_open() -> None:
    view = transcript()
    apply(view, TurnStarted("p", "m", "default"), StepStarted(), TextDelta(0, "half"), Retrying(1, 2, 0.5, "gone"))
    assert said(view) == ["half", "", "! gone: attempt 1 of 2 in 0.5 s"]


def test_running_calls_show_the_end_of_their_output() -> None:
    view = transcript()
    call = ToolCall("c1", "w1", "Bash", '{"command":"make"}')
    apply(view, TurnStarted("p", "m", "default"), StepStarted(), CallAccepted(call, Effects()), EffectStarted(("c1",)))
    apply(view, Output("c1", b"a\nb\nc\nd\x1b[2J\r\nhalf"))
    assert [plain(row) for row in view.live(9)][1:] == [
        "  c",
        "  d\\x1b[2J",
        "  half",
        "0 s | Ctrl+C stops | running Bash make",
    ]
    assert len(view.live(2)) == 2


def test_an_edit_that_is_not_asked_about_shows_its_difference() -> None:
    view = transcript()
    path = PathRef("a.py", b"/w/a.py", "/w")
    call = ToolCall("c1", "w1", "Edit", '{"file_path":"a.py"}')
    preview = "@@ -1 +1 @@\n-old\u202e\n+new\n" + "+x\n" * 60
    apply(view, TurnStarted("p", "m", "acceptEdits"), CallAccepted(call, Effects(writes=(path,), preview=preview)))
    apply(view, EffectStarted(("c1",)))
    lines = said(view)
    assert lines[:4] == ["* Edit a.py", "  @@ -1 +1 @@", "  -old\\u202e", "  +new"]
    assert lines[-1] == "  ... 23 more lines"


def test_words_of_the_program_keep_their_columns() -> None:
    view = transcript(30)
    view.say("name      a text that has to be wrapped")
    assert said(view) == ["name      a text that has to", "          be wrapped"]


def test_the_line_of_a_call_breaks_between_words() -> None:
    view = transcript(40)
    call = ToolCall("c1", "w", "Bash", '{"command":"npm run build && npm run test && npm run lint"}')
    apply(view, TurnStarted("p", "m", "default"), CallAccepted(call, Effects()))
    rows = said(view)
    assert all(cells(row) <= 40 for row in rows)
    assert rows[0].startswith("* Bash npm run build")
    assert " ".join(" ".join(rows).split()) == "* Bash npm run build && npm run test && npm run lint"


def test_each_subagent_has_a_line_while_it_works_and_no_words() -> None:
    view = transcript()
    apply(view, TurnStarted("go", "m", "default"), StepStarted())

    def child(agent: str, *bodies: Body) -> None:
        for body in bodies:
            view.apply(AgentEvent(1, "s", "t", 1, body, agent))

    for number in range(10):
        child(f"explore/a{number}", TurnStarted("find", "m", "default"), StepStarted(), TextDelta(0, "WORDS"))
    call = ToolCall("c", "w", "Grep", '{"pattern":"main"}')
    child("explore/a9", CallAccepted(call, Effects(parallel=True)))
    rows = [plain(row).strip() for row in view.live(20)]
    assert rows[-2:-1] == ["explore/a9: Grep main"]
    assert sum(row.startswith("explore/") for row in rows) == 8
    assert len(view.live(4)) <= 4
    for number in range(10):
        child(f"explore/a{number}", TurnFinished(Ended("done"), "WORDS", 1, 1.0))
    assert not any("explore" in plain(row) for row in view.live(20))
    assert "WORDS" not in "\n".join(said(view))
    apply(view, TurnFinished(Ended("done"), "ok", 1, 1.0))
    said(view)
    child("plan/a1", TurnStarted("x", "m", "default"), TurnFinished(Ended("failed", "no"), "", 1, 1.0))
    assert "  plan/a1: failed" in said(view), "one in the background that ends between two turns"

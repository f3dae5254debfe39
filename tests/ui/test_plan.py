"""Plan mode and questions from start to end: the real program, a scripted model, answers here, elsewhere or nowhere."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from support.pty_screen import Screen

from .test_approvals import DONE, Place, bash, place, script, tools

__all__ = ["place"]

PLAN = "# Steps\n\n1. Write **made.txt**\n2. Check it"
ARGV = [sys.executable, "-m", "agenyx", "-p"]


def asks(*questions: dict[str, Any], **more: Any) -> tuple[str, dict[str, object]]:
    return "AskUserQuestion", {"questions": list(questions), **more}


def presents(plan: str = PLAN, **more: object) -> tuple[str, dict[str, object]]:
    return "ExitPlanMode", {"plan": plan, **more}


def writes(name: str = "made.txt") -> tuple[str, dict[str, object]]:
    return "Write", {"file_path": name, "content": "one\n"}


BASE = {
    "question": "Which database?",
    "header": "Database",
    "options": [{"label": "Postgres", "description": "a server"}, {"label": "SQLite", "description": "one file"}],
}
EXTRAS = {
    "question": "Which extras?",
    "header": "Extras",
    "multi_select": True,
    "options": [{"label": "Auth"}, {"label": "Logging"}, {"label": "Metrics"}],
}

ONE = script(tools(asks(BASE)), DONE)
BOTH = script(tools(asks(BASE, EXTRAS)), DONE)


@contextmanager
def terminal(place: Place, *argv: str, term: str = "xterm", rows: int = 30) -> Generator[Screen]:
    with Screen([*ARGV, *argv], place.work, {**place.env, "TERM": term}, columns=100, rows=rows) as screen:
        yield screen


def press(screen: Screen, keys: str, prompt: str) -> None:
    """Once the question is there and listens: it is deaf for its first 300 ms."""
    screen.see(prompt)
    end = time.monotonic() + 0.4
    screen.until(lambda: time.monotonic() > end, "the question listens")
    screen.type(keys)


# --- questions -------------------------------------------------------------------------------------------------------


@ONE
def test_where_nobody_is_the_model_is_told_to_go_on(place: Place) -> None:
    done = place.run("-p", "go")
    assert (done.returncode, done.stdout) == (0, "All is done.\n")
    (told,) = place.results()
    assert told == (
        "Denied: nobody is here to answer. Go on with your best judgement, and say in your answer what you assumed."
    )


@ONE
@pytest.mark.parametrize("mode", ["acceptEdits", "plan", "dontAsk"])
def test_no_mode_answers_a_question(place: Place, mode: str) -> None:
    assert place.run("-p", "--permission-mode", mode, "go").returncode == 0
    (told,) = place.results()
    assert told.startswith("Denied: ") and "Postgres" not in told


@ONE
def test_bypassing_permissions_answers_no_question(place: Place) -> None:
    place.run("-p", "--dangerously-skip-permissions", "--allowed-tools", "AskUserQuestion", "go")
    assert place.results()[0].startswith("Denied: nobody is here to answer")


@ONE
def test_a_choice_by_its_number_at_a_terminal(place: Place) -> None:
    with terminal(place, "go") as screen:
        screen.see("The model asks")
        screen.see("Database: Which database?")
        screen.see("2  SQLite: one file")
        press(screen, "2", "Press 1-3, or Esc to decline:")
        assert screen.end() == 0
        assert not any("[y] once" in row for row in screen.everything())
    assert place.results() == ["The user answered:\nWhich database? SQLite"]


@BOTH
def test_two_questions_one_of_them_with_several_choices_and_own_words(place: Place) -> None:
    with terminal(place, "go") as screen:
        screen.see("The model asks (1 of 2)")
        press(screen, "1", "Press 1-3, or Esc")
        screen.see("The model asks (2 of 2)")
        press(screen, "3", "Press 1-4 for each")
        screen.see("Chosen: 3. Enter when done")
        screen.type("1")
        screen.see("Chosen: 3, 1. Enter when done")
        screen.type("3")
        screen.see("Chosen: 1. Enter when done")
        screen.type("4")
        screen.see("In your own words")
        screen.type("tracing, please\n")
        press(screen, "\r", "Chosen: 1, 4 (tracing, please). Enter when done")
        assert screen.end() == 0
    assert place.results() == [
        "The user answered:\nWhich database? Postgres\nWhich extras? Auth; in their own words: tracing, please"
    ]


@ONE
def test_own_words_at_a_terminal_and_the_way_back(place: Place) -> None:
    with terminal(place, "go") as screen:
        press(screen, "3", "Press 1-3, or Esc to decline:")
        screen.see("In your own words")
        screen.type("\n")
        screen.until(lambda: sum("Press 1-3" in row for row in screen.everything()) == 2, "asked again")
        press(screen, "3", "Press 1-3, or Esc to decline:")
        screen.until(lambda: sum("In your own" in row for row in screen.everything()) == 2, "the line")
        screen.type("DuckDB\n")
        assert screen.end() == 0
    assert place.results() == ["The user answered:\nWhich database? in their own words: DuckDB"]


@script(tools(asks(EXTRAS)), DONE)
def test_a_terminal_that_knows_no_escapes_is_asked_in_plain_lines(place: Place) -> None:
    with terminal(place, "go", term="dumb") as screen:
        press(screen, "2", "Press 1-4 for each that you choose, Esc to decline:")
        screen.see("\nChosen: 2. Enter when done")
        screen.type("\r")
        assert screen.end() == 0
        assert b"\x1b" not in screen.data
    assert place.results() == ["The user answered:\nWhich extras? Logging"]


@ONE
def test_ctrl_c_at_a_question_stops_the_turn_and_the_question_is_over(place: Place) -> None:
    with terminal(place, "go") as screen:
        press(screen, "\x03", "Press 1-3, or Esc to decline:")
        assert screen.end() == 130
        assert screen.modes() == screen.found
    assert place.waiting() == [] and len(place.server.requests) == 1


@script(tools(presents("\n".join(f"{n}. step" for n in range(1, 60)))), DONE)
def test_a_long_plan_is_shown_whole_and_the_question_stays_to_be_seen(place: Place) -> None:
    with terminal(place, "--permission-mode", "plan", "go", rows=20) as screen:
        screen.see("scroll up to read all of it")
        press(screen, "1", "Press 1-3, or Esc to keep planning:")
        assert screen.end() == 0
        assert all(any(f" {n}. step" in row for row in screen.everything()) for n in range(1, 60))


@ONE
def test_esc_declines_and_the_turn_goes_on(place: Place) -> None:
    with terminal(place, "go") as screen:
        press(screen, "\x1b", "Press 1-3, or Esc to decline:")
        assert screen.end() == 0
    assert place.results()[0].startswith("Denied: the user did not want to answer.")


FORGED = tools(asks(BASE, answers={"Which database?": "Postgres"}))


@script(FORGED, DONE, FORGED, FORGED, DONE)
def test_what_a_model_says_to_have_been_answered_counts_nowhere(place: Place) -> None:
    place.run("-p", "go")
    assert place.results()[0].startswith("Denied: nobody is here")
    place.defer("go")
    (waits,) = place.waiting()
    refused = place.run("approvals", "allow", waits["id"])
    assert refused.returncode == 2 and "needs an answer, not a yes" in refused.stderr
    with terminal(place, "again") as screen:
        press(screen, "2", "Press 1-3, or Esc to decline:")
        assert screen.end() == 0
    assert place.results()[-1] == "The user answered:\nWhich database? SQLite"


def test_the_model_is_not_told_of_answers_and_modes(tmp_path: Path) -> None:
    made = Place(tmp_path, DONE)
    with made.server:
        made.run("-p", "hi")
    known = {tool["function"]["name"]: tool["function"] for tool in made.server.requests[0].json["tools"]}
    for name in ("AskUserQuestion", "ExitPlanMode"):
        assert len(json.dumps({"type": "function", "function": known[name]}, separators=(",", ":"))) <= 700
    assert list(known["AskUserQuestion"]["parameters"]["properties"]) == ["questions"]
    assert list(known["ExitPlanMode"]["parameters"]["properties"]) == ["plan"]


@script(tools(asks({**BASE, "options": [{"label": "A\u202e"}, {"label": "B\nPress 1-3, or Esc to decline: "}]})), DONE)
def test_text_of_the_model_cannot_pass_for_ours(place: Place) -> None:
    with terminal(place, "go") as screen:
        screen.see("  1  A\\u202e")
        screen.see("WARNING: it holds hidden characters")
        screen.see("  2  B Press 1-3, or Esc to decline:")
        press(screen, "\x1b", "\nPress 1-3, or Esc to decline:")
        assert screen.end() == 0


@script(tools(asks({**BASE, "question": "  "})), tools(asks(BASE, BASE)), tools(asks({**BASE, "options": []})), DONE)
def test_questions_that_nobody_could_answer_are_refused(place: Place) -> None:
    place.defer("go")
    said = place.results()
    assert "one of the questions is blank" in said[0] and "two of the questions are the same" in said[1]
    assert "not valid" in said[2] and place.waiting() == []


@BOTH
def test_after_kill_9_another_process_answers_and_the_model_is_not_asked_again(place: Place) -> None:
    with terminal(place, "go") as screen:
        screen.see("Press 1-3, or Esc to decline:")
        pid = screen.process.pid
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()
        for each in (pid, *map(int, children)):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGKILL)
        screen.process.wait()
    (waits,) = place.waiting()
    assert [one["header"] for one in waits["questions"]] == ["Database", "Extras"]
    assert waits["questions"][1]["multi_select"] is True
    shown = place.run("approvals", "show", waits["id"]).stdout
    assert "AskUserQuestion asks you" in shown and "1. [Database] Which database?" in shown
    assert "- SQLite: one file" in shown and "(several may be chosen)" in shown
    assert '{"answers":["Postgres","Auth"]}' in shown, "an example"
    answer = '{"answers": {"Database": "SQLite", "Which extras?": ["Auth", "Metrics"]}}'
    done = place.run("approvals", "allow", waits["id"], "--edit", answer, "--resume", cwd=place.top)
    assert (done.returncode, done.stdout) == (0, "All is done.\n"), done.stderr
    assert len(place.server.requests) == 2
    assert place.results() == ["The user answered:\nWhich database? SQLite\nWhich extras? Auth; Metrics"]
    sent = place.server.requests[1].json["messages"][-2]["tool_calls"][0]["function"]["arguments"]
    assert "answers" not in json.loads(sent), "what the model sent stays"


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ('{"answers": ["SQLite"]}', "2 answers are needed"),
        ('{"answers": {"Database": "SQLite"}}', "an answer to 'Which extras?' is missing"),
        ('{"answers": [["Postgres", "SQLite"], "Auth"]}', "takes one answer only"),
        ('{"answers": ["", "Auth"]}', "is missing"),
        ('{"answers": {"Other": "x", "Database": "a", "Extras": "b"}}', "there is no question 'Other'"),
        ('{"answers": "SQLite"}', "an object by question, or a list"),
        ('{"questions": []}', "only its member answers can be given"),
        ('{"answers": ["a", "b"], "mode": "acceptEdits"}', "only its member answers can be given"),
        ("{}", "only its member answers"),
        ("[]", "only its member answers"),
        ("{", "does not hold"),
    ],
)
@BOTH
def test_what_is_no_answer_is_refused_and_the_question_stays(place: Place, answer: str, says: str) -> None:
    place.defer("go")
    (waits,) = place.waiting()
    refused = place.run("approvals", "allow", waits["id"], "--edit", answer)
    assert refused.returncode == 2 and says in refused.stderr
    assert [one["id"] for one in place.waiting()] == [waits["id"]]


@script(tools(asks(BASE), asks(EXTRAS)), DONE)
def test_two_calls_that_ask_are_answered_in_any_order(place: Place) -> None:
    assert place.defer("go").returncode == 3
    first, second = place.waiting()
    assert place.run("approvals", "allow", second["id"], "--edit", '{"answers": {"1": "Logging"}}').returncode == 0
    done = place.run("approvals", "deny", first["id"], "--message", "you choose", "--resume")
    assert (done.returncode, done.stdout) == (0, "All is done.\n"), done.stderr
    assert place.results() == ["Denied: you choose", "The user answered:\nWhich extras? Logging"]


# --- plan mode -------------------------------------------------------------------------------------------------------


@script(tools(presents(), writes()), DONE)
def test_where_nobody_is_the_plan_is_the_answer(place: Place) -> None:
    done = place.run("-p", "--permission-mode", "plan", "go")
    assert done.returncode == 0 and not (place.work / "made.txt").exists()
    told, refused = place.results()
    assert told == "Denied: nobody is here to approve a plan. Present the plan as your final answer."
    assert "plan mode only looks" in refused
    assert "by ExitPlanMode where you have it" in str(place.server.requests[0].json["messages"])


@script(tools(presents(mode="acceptEdits")), DONE)
def test_outside_plan_mode_there_is_nothing_to_leave(place: Place) -> None:
    place.run("-p", "go")
    assert place.results() == ["Plan mode is not on, so there is nothing to leave: go on with the task."]


@script(tools(presents(mode="acceptEdits"), writes()), DONE)
def test_a_model_cannot_choose_the_mode(place: Place) -> None:
    """The person says yes and no more: what the model put into its arguments is not the answer."""
    place.defer("--permission-mode", "plan", "go")
    (waits,) = place.waiting()
    done = place.run("approvals", "allow", waits["id"], "--resume")
    assert done.returncode == 3, "the edit is asked about"
    assert [one["tool"] for one in place.waiting()] == ["Write"] and not (place.work / "made.txt").exists()


@script(tools(presents(), writes("made.txt"), bash("touch other")), tools(writes("next.txt")), DONE)
def test_a_plan_that_is_approved_with_edits_runs_them_unasked_at_once(place: Place) -> None:
    with terminal(place, "--permission-mode", "plan", "go") as screen:
        screen.see("The model presents a plan")
        screen.see("1. Write **made.txt**")
        screen.see("3  No, keep planning; say what to change")
        press(screen, "2", "Press 1-3, or Esc to keep planning:")
        press(screen, "n", "[q] no, and stop")  # what is no edit is asked about
        assert screen.end() == 0
        assert any("permission mode: acceptEdits" in row for row in screen.everything())
    assert (place.work / "made.txt").read_text() == (place.work / "next.txt").read_text() == "one\n"
    assert not (place.work / "other").exists()
    approved = place.results()[0]
    assert approved.startswith("The user approved the plan. The mode is acceptEdits now.")


@script(tools(presents()), tools(writes()), DONE)
def test_a_plan_that_is_approved_to_go_on_asking(place: Place) -> None:
    with terminal(place, "--permission-mode", "plan", "go") as screen:
        press(screen, "1", "Press 1-3, or Esc to keep planning:")
        press(screen, "y", "[q] no, and stop")
        assert screen.end() == 0
    assert (place.work / "made.txt").exists()
    assert "The mode is default now" in place.results()[0]


@script(tools(presents()), tools(writes()), DONE)
def test_a_plan_that_is_refused_says_what_to_change_and_the_mode_stays(place: Place) -> None:
    with terminal(place, "--permission-mode", "plan", "go") as screen:
        press(screen, "3", "Press 1-3, or Esc to keep planning:")
        screen.see("What to change")
        screen.type("use a database\n")
        assert screen.end() == 0
    said = place.results()
    assert place.results(1) == ["Denied: use a database"], "the next request holds it"
    assert "plan mode only looks" in said[1] and not (place.work / "made.txt").exists()


@script(tools(presents()), DONE)
def test_esc_keeps_planning(place: Place) -> None:
    with terminal(place, "--permission-mode", "plan", "go") as screen:
        press(screen, "\x1b", "Press 1-3, or Esc to keep planning:")
        assert screen.end() == 0
    assert place.results()[0].startswith("Denied: the user wants to keep planning.")


@script(tools(presents(), writes()), DONE, DONE)
def test_the_mode_is_the_answer_of_another_process_and_the_session_knows_it(place: Place) -> None:
    assert place.defer("--permission-mode", "plan", "go").returncode == 3
    (waits,) = place.waiting()
    shown = place.run("approvals", "show", waits["id"]).stdout
    assert "2. Check it" in shown and '--edit \'{"mode":"default"}\'' in shown
    for wrong in ("bypassPermissions", "plan", "dontAsk"):
        refused = place.run("approvals", "allow", waits["id"], "--edit", json.dumps({"mode": wrong}))
        assert refused.returncode == 2 and "mode has to be one of: default, acceptEdits" in refused.stderr
    other = place.run("approvals", "allow", waits["id"], "--edit", '{"mode": "default", "plan": "rm -rf"}')
    assert other.returncode == 2 and "only its member mode can be given" in other.stderr
    done = place.run("approvals", "allow", waits["id"], "--edit", '{"mode": "acceptEdits"}', "--resume")
    assert (done.returncode, done.stdout) == (0, "All is done.\n"), done.stderr
    assert (place.work / "made.txt").exists() and len(place.server.requests) == 2
    records = [
        json.loads(line)
        for path in place.top.rglob("transcript.jsonl")
        for line in path.read_text().split("\n")
        if line
    ]
    modes = [record["body"]["mode"] for record in records if record["body"]["kind"] == "terms"]
    assert modes == ["plan", "acceptEdits"]
    plan = place.run("-p", "--continue", "/plan show")
    assert plan.stdout == f"{PLAN}\n" and len(place.server.requests) == 2


@script(DONE)
def test_where_no_plan_was_presented_there_is_none_to_show(place: Place) -> None:
    place.run("-p", "hi")
    shown = place.run("-p", "--continue", "--output-format", "json", "/plan show")
    assert json.loads(shown.stdout)["data"] == {"plan": None}

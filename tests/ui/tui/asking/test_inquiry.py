"""Questions of the model and its plans on the full screen."""

from __future__ import annotations

import json

import pytest
from textual import events

from agenyx.core.approval import Approval
from agenyx.core.tools import Effects, Inquiry, Option, Question
from support.tui import rows, see, style_of, text

from .place import Clock, approval, place

STORAGE = Question("Which database?", (Option("SQLite", "one file"), Option("Postgres", "a server")), "Storage")
EXTRAS = Question("Which extras?", (Option("Auth"), Option("Logs"), Option("CI")), "", many=True)
GO_ON = Question(
    "Go on with this plan?", (Option("Yes, and ask", "", "default"), Option("Yes, accept edits", "", "acceptEdits"))
)
PLAN = "# The plan\n\n1. Read `a.py`\n2. Change **it**\n"


def inquiry(*questions: Question) -> Approval:
    effects = Effects(interact=True, inquiry=Inquiry(questions, "answers", "nobody"))
    return approval(effects, name="AskUserQuestion", args='{"questions":[]}', offer=())


def plan(body: str = PLAN) -> Approval:
    effects = Effects(interact=True, preview=body, inquiry=Inquiry((GO_ON,), "mode", "nobody"))
    return approval(effects, name="ExitPlanMode", args='{"plan":"p"}', offer=())


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (["1"], "SQLite"),
        (["2"], "Postgres"),
        (["enter"], "SQLite"),
        (["down", "enter"], "Postgres"),
        (["down", "up", "down", "enter"], "Postgres"),
    ],
)
async def test_one_is_chosen_by_number_or_mark(keys: list[str], said: str) -> None:
    async with place() as room:
        task = await room.ask(inquiry(STORAGE))
        shown = rows(room.app)
        assert "The model asks" in shown and "  Storage: Which database?" in shown
        assert "    2  Postgres: a server" in shown and "    3  something else, in your own words" in shown
        await room.press(*keys)
        decision = await room.answer(task)
        assert decision.choice == "allow" and decision.by == "terminal"
        assert json.loads(decision.args or "")["answers"] == {"Which database?": said}


async def test_several_may_be_chosen_and_taken_back() -> None:
    async with place() as room:
        task = await room.ask(inquiry(EXTRAS))
        await room.press("enter")  # nothing is chosen yet
        assert not task.done()
        await room.press("1", "3", "2", "1")
        assert "  > 1  [ ] Auth" in rows(room.app) and "    3  [x] CI" in rows(room.app)
        await room.press("enter")
        answers = json.loads((await room.answer(task)).args or "")["answers"]
        assert answers == {"Which extras?": ["CI", "Logs"]}


async def test_words_of_their_own_beside_choices() -> None:
    async with place() as room:
        task = await room.ask(inquiry(EXTRAS))
        await room.press("2", "4")
        room.panel.field.post_message(events.Paste("a dark theme"))
        await see(room.pilot, "> a dark theme")
        await room.press("enter")
        assert "  [x] a dark theme" in text(room.app)
        await room.press("enter")
        answers = json.loads((await room.answer(task)).args or "")["answers"]
        assert answers == {"Which extras?": ["Logs", "a dark theme"]}


async def test_several_questions_come_one_after_the_other_and_are_answered_together() -> None:
    async with place() as room:
        task = await room.ask(inquiry(STORAGE, EXTRAS))
        assert "The model asks (1 of 2)" in text(room.app)
        await room.press("2")
        assert "The model asks (2 of 2)" in text(room.app) and not task.done()
        await room.press("1", "enter")
        answers = json.loads((await room.answer(task)).args or "")["answers"]
        assert answers == {"Which database?": "Postgres", "Which extras?": ["Auth"]}


async def test_the_second_question_is_deaf_at_first_too() -> None:
    clock = Clock()
    async with place(deaf=0.3, clock=clock) as room:
        task = await room.ask(inquiry(STORAGE, STORAGE))
        clock.now += 1
        await room.press("1")
        await see(room.pilot, "(2 of 2)")
        await room.press("1")
        assert not task.done()


async def test_declining_tells_the_model() -> None:
    async with place() as room:
        task = await room.ask(inquiry(STORAGE))
        await room.press("escape")
        decision = await room.answer(task)
        assert decision.choice == "deny" and decision.message.startswith("the user did not want to answer")


async def test_words_of_their_own_may_be_given_up() -> None:
    async with place() as room:
        task = await room.ask(inquiry(STORAGE))
        await room.press("3", "escape")
        assert "The model asks" in text(room.app) and not task.done()
        await room.press("3", "enter")  # none go back
        assert "The model asks" in text(room.app) and not task.done()


async def test_a_plan_is_shown_as_its_markdown_means_it_and_left_for_a_mode() -> None:
    async with place() as room:
        task = await room.ask(plan())
        shown = rows(room.app)
        assert "The model presents a plan" in shown and "  1. Read a.py" in shown
        assert style_of(room.app, "The plan") == "bold #d6a5f2 on #171c23"
        await room.press("2")
        decision = await room.answer(task)
        assert (decision.choice, json.loads(decision.args or "")["mode"]) == ("allow", "acceptEdits")


async def test_planning_goes_on_with_words() -> None:
    async with place() as room:
        task = await room.ask(plan())
        await room.press("3")
        assert "What to change" in text(room.app)
        for key in "smaller":
            await room.pilot.press(key)
        await room.press("enter")
        decision = await room.answer(task)
        assert (decision.choice, decision.message, decision.args) == ("deny", "smaller", None)


async def test_planning_goes_on_without_words() -> None:
    async with place() as room:
        task = await room.ask(plan())
        await room.press("escape")
        assert (await room.answer(task)).message.startswith("the user wants to keep planning")


@pytest.mark.parametrize("key", ["1", "2", "enter"])
async def test_a_plan_is_taken_only_when_its_end_was_seen(key: str) -> None:
    async with place((60, 15)) as room:
        task = await room.ask(plan(PLAN + "\n".join(f"- item {at}" for at in range(60)) + "\n- rm -rf everything\n"))
        await room.press(key)
        assert not task.done() and "rm -rf everything" not in text(room.app)
        await room.press("down", "pagedown")
        assert room.panel.sheet.top > 1 and not task.done()
        await room.press("end", key)
        assert (await room.answer(task)).choice == "allow"


async def test_a_question_cannot_look_like_ours_or_move_the_screen() -> None:
    bad = Question("Fine?\n\nBash asks for approval\x1b[2J", (Option("[b]y[/b]es\u202e"), Option("n\u043e")))
    async with place((100, 24)) as room:
        await room.ask(inquiry(bad))
        shown = text(room.app)
        assert "  Fine? Bash asks for approval\\x1b[2J" in shown
        assert "  > 1  [b]y[/b]es\\u202e" in shown
        assert "WARNING: it holds hidden characters" in shown and "look-alike letters" in shown
        assert not set(shown) & {"\x1b", "\u202e"}

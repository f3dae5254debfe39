"""What a person may give as an answer, and what comes of it as arguments of the call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.core import json
from agenyx.core.tools import Inquiry, Option, Question
from agenyx.tools.answers import answers_in, edited, example, filled, value_in

ONE = Question("Which?", (Option("a"), Option("b")), "Base")
MANY = Question("What else?", (Option("x"), Option("y")), "", many=True)
ASKS = Inquiry((ONE, MANY), "answers", "nobody")
PLAN = Inquiry((Question("Go?", (Option("Yes", value="default"), Option("More", value="acceptEdits"))),), "mode", "no")


@pytest.mark.parametrize(
    "answers",
    [
        ["a", "x"],
        ["a", ["x"]],
        {"Which?": "a", "What else?": ["x"]},
        {"Base": "a", "2": "x"},
        {"1": ["a"], "2": [" x ", "x"]},
    ],
)
def test_every_way_to_say_it_comes_to_the_same(answers: object) -> None:
    args = filled(ASKS, '{"questions":[],"answers":"forged"}', answers)
    assert json.decode(args) == {"questions": [], "answers": {"Which?": "a", "What else?": ["x"]}}
    assert answers_in(ASKS.questions, args) == {"Which?": "a", "What else?": ["x"]}


@pytest.mark.parametrize("args", [None, "{}", "[]", "{", '{"answers":{"Which?":"a"}}', '{"answers":7}'])
def test_what_holds_no_answers(args: str | None) -> None:
    assert answers_in(ASKS.questions, args) is None
    assert value_in(args, "mode") is None


def test_a_mode_is_one_of_those_offered() -> None:
    assert value_in(filled(PLAN, '{"plan":"p","mode":"plan"}', "acceptEdits"), "mode") == "acceptEdits"
    for wrong in ("bypassPermissions", "plan", "", None, ["default"], {"mode": "default"}):
        with pytest.raises(ValueError, match="mode has to be one of: default, acceptEdits"):
            filled(PLAN, '{"plan":"p"}', wrong)


def test_an_edit_changes_the_answer_only() -> None:
    assert json.decode(edited(PLAN, '{"plan":"p"}', {"plan": "p", "mode": "default"}))["mode"] == "default"
    for wrong in ({"plan": "q", "mode": "default"}, {"mode": "default", "answers": []}, {}, []):
        with pytest.raises(ValueError, match="only its member mode can be given"):
            edited(PLAN, '{"plan":"p"}', wrong)


def test_the_example_is_an_answer() -> None:
    for inquiry in (ASKS, PLAN):
        edited(inquiry, '{"plan":"p"}', json.decode(example(inquiry)))


NEST = st.recursive(
    st.none() | st.integers() | st.text(max_size=5), lambda one: st.lists(one) | st.dictionaries(st.text(), one)
)


@given(NEST)
def test_whatever_is_given_is_an_answer_or_a_sentence(given_: object) -> None:
    for inquiry in (ASKS, PLAN):
        try:
            filled(inquiry, "{}", given_)
        except ValueError as error:
            assert str(error)

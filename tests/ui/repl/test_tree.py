"""/tree, /branch and /rewind: what is drawn, and that the model sees the branch that was chosen."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from agenyx.app.commands.tree import drawn
from agenyx.core.errors import AgenyxError
from agenyx.session.tree import Tree, Turn
from agenyx.ui.chat.commands.rewind import chosen
from support.pty_screen import Screen
from support.raw_server import RawServer

from .conftest import GREETED
from .served import answer

Start = Callable[..., Screen]


def turn(number: int, after: int, text: str, branch: str = "", *, active: bool = False) -> Turn:
    return Turn(number, f"t{number}", 1.0, text, f"b{number}", f"e{number}", after, branch, active)


TREE = Tree(
    (
        turn(1, 0, "fix it", active=True),
        turn(2, 1, "test it"),
        turn(3, 2, "commit\nit"),
        turn(4, 1, "other way", "idea", active=True),
        turn(5, 0, "start anew"),
        turn(6, 4, "x" * 100, "idea", active=True),
    ),
    6,
    "idea",
)


def test_branches_stand_beside_what_they_left() -> None:
    assert drawn(TREE).splitlines()[:-1] == [
        "     5  start anew",
        "*  1  fix it",
        "*    4  other way  [idea]",
        f"*    6  {'x' * 57}...  <- here",
        "   2  test it",
        "   3  commit it",
    ]


def test_the_head_is_marked_wherever_it_is() -> None:
    assert drawn(Tree((), 0, "")) == "there are no turns yet"
    assert drawn(Tree((turn(1, 0, "a"),), 0, "")).startswith("<- here, before the first turn\n")
    assert "a  <- here, branch new begins" in drawn(Tree((turn(1, 0, "a", active=True),), 1, "new"))


def test_a_turn_is_chosen_by_its_number() -> None:
    assert chosen(TREE, "").number == 6
    assert chosen(TREE, "2").number == 2
    for wrong in ("7", "0", "-1", "x", "9" * 50, "²"):
        with pytest.raises(AgenyxError, match="there is no turn"):
            chosen(TREE, wrong)
    with pytest.raises(AgenyxError, match="no turn to go back before"):
        chosen(Tree((turn(1, 0, "a"),), 0, ""), "")


def typed(server: RawServer, request: int) -> list[str]:
    """What a person said in the request, without the notice in front."""
    body: dict[str, Any] = json.loads(server.requests[request].body)
    said = [message["content"] for message in body["messages"] if message["role"] in ("user", "assistant")]
    return [text for text in said[1:] if "moved this conversation" not in text]


def test_a_rewound_prompt_comes_back_for_editing(repl: Start) -> None:
    with RawServer([answer("first answer"), answer("second answer"), answer("third answer")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("one\r")
        screen.see("first answer")
        screen.see("1 step")
        screen.type("two\r")
        screen.see("second answer")
        screen.until(lambda: screen.data.count(b"1 step") >= 2, "the turn is over")
        screen.type("/rewind\r")
        screen.see("goes on before turn 2: two")
        screen.until(lambda: screen.text.count("> two") >= 2, "the prompt is in the input again")
        screen.type(" and a half\r")
        screen.see("third answer")
        screen.type("/tree\r")
        screen.see("<- here")
        screen.type("\x04")
        assert screen.end() == 0
        assert typed(server, 2) == ["one", "first answer", "two and a half"]


def test_branches_at_a_plain_terminal(repl: Start) -> None:
    with RawServer([answer(f"answer {number}.") for number in range(4)]) as server:
        screen = repl(server.url, TERM="dumb")
        screen.see(GREETED)

        def say(text: str, seen: str) -> None:
            screen.until(lambda: screen.data.endswith(b"> "), "it asks")
            screen.type(f"{text}\r")
            screen.see(seen)

        say("/branch early", "there is nothing to branch from yet")
        say("/rewind", "there is no turn to go back before")
        say("/tree", "there are no turns yet")
        say("one", "answer 0.")
        say("/branch idea", "the next turn begins the branch idea")
        say("two", "answer 1.")
        say("/branch idea", "there is a branch idea already")
        say("/tree 1", "goes on after turn 1: one")
        say("three", "answer 2.")
        say("/tree", "*    3  three  <- here")
        say("/tree idea", "goes on after turn 2: two")
        say("four", "answer 3.")
        say("/tree 9", "there is no turn and no branch 9")
        screen.type("\x04")
        assert screen.end() == 0
        assert typed(server, 2) == ["one", "answer 0.", "three"]
        assert typed(server, 3) == ["one", "answer 0.", "two", "answer 1.", "four"]

"""What an input is: words, a command, or a mistake that no model is asked about."""

from __future__ import annotations

import pytest

from agenyx.app.commands.grammar import Call, Mistake, Words, read

KNOWN = ("help", "mode", "model", "exit")


def at(text: str, *paths: str) -> Words | Call | Mistake:
    return read(text, KNOWN, lambda path: path in paths)


@pytest.mark.parametrize("text", ["hello", " and /help", "", "1/2", "/usr/bin/env is what?", "/a/b", "/a\\b", "//x"])
def test_words(text: str) -> None:
    assert at(text) == Words(text)


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("/help", Call("help", "")),
        ("  /mode   plan  ", Call("mode", "plan")),
        ("/MODE\tplan now\nand then", Call("mode", "plan now\nand then")),
    ],
)
def test_calls(text: str, call: Call) -> None:
    assert at(text) == call


def test_an_existing_path_is_words() -> None:
    assert at("/tmp", "/tmp") == Words("/tmp")
    assert isinstance(at("/tmp"), Mistake)
    assert isinstance(at("/tmp now", "/tmp"), Mistake)  # only the whole input counts


@pytest.mark.parametrize(
    ("text", "hint"),
    [("/hepl", "/help?"), ("/mod", "/mode?"), ("/exot", "/exit?"), ("/modle", "/model?"), ("/mdoe", "/mode?")],
)
def test_an_unknown_name_is_a_mistake_that_names_the_nearest(text: str, hint: str) -> None:
    mistake = at(text)
    assert isinstance(mistake, Mistake)
    assert hint in mistake.fix


@pytest.mark.parametrize("text", ["/zzz", "/q", "/modest-proposal"])
def test_nothing_near_is_not_guessed_at(text: str) -> None:
    mistake = at(text)
    assert isinstance(mistake, Mistake)
    assert mistake.fix == "/help lists them all."


@pytest.mark.parametrize("text", ["/", " / ", "/ help", "/é", "/*", "/" + "a" * 257])
def test_what_is_no_name_is_a_mistake(text: str) -> None:
    assert isinstance(at(text, "/"), Mistake)

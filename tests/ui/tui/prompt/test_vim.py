"""Keys of vi, key by key."""

from __future__ import annotations

import pytest
from textual.events import Key

from agenyx.ui.tui.prompt.buffer import Buffer
from agenyx.ui.tui.prompt.vim import Vim
from support.tui import rows
from ui.tui.prompt.bench import Bench, Earlier

NAMED = {"<esc>": "escape", "<c-r>": "ctrl+r"}


def play(text: str, keys: str) -> tuple[str, int, str]:
    """Text, caret and mode after `keys` in normal mode, from the begin of `text`."""
    buffer = Buffer(text)
    vim = Vim(buffer, lambda by: None)
    vim.key("escape")
    buffer.move(0)
    at = 0
    while at < len(keys):
        name = next((name for name in NAMED if keys.startswith(name, at)), keys[at])
        at += len(name)
        key = NAMED.get(name, name)
        if not vim.key(key) and vim.mode == "insert":
            buffer.insert(key)
    return buffer.text, buffer.at, vim.mode


@pytest.mark.parametrize(
    ("keys", "at"),
    [
        ("l", 1),
        ("3l", 3),
        ("99l", 15),
        ("$", 15),
        ("$h", 14),
        ("w", 4),
        ("2w", 7),
        ("W", 4),
        ("2W", 11),
        ("e", 2),
        ("2e", 6),
        ("E", 2),
        ("2E", 9),
        ("$b", 11),
        ("$2b", 8),
        ("$B", 11),
        ("ww0", 0),
        ("fx", 11),
        ("fr", 6),
        ("tr", 5),
        ("2fo", 2),
        ("fo;", 2),
        ("fo;,", 1),
        ("$Fb", 8),
        ("$Tb", 9),
    ],
)
def test_motions(keys: str, at: int) -> None:
    assert play("foo bar.br xoyzz", keys)[1:] == (at, "normal")


def test_motions_between_lines() -> None:
    text = "one\n  two\n\nfour"
    assert play(text, "G")[1] == 11
    assert play(text, "2G")[1] == 6
    assert play(text, "Ggg")[1] == 0
    assert play(text, "2G0^")[1] == 6
    assert play(text, "3w")[1] == 11
    assert play(text, "2w")[1] == 10  # an empty line is a word


@pytest.mark.parametrize(
    ("text", "keys", "left", "at"),
    [
        ("one two three", "dw", "two three", 0),
        ("one two three", "2dw", "three", 0),
        ("one two three", "d2w", "three", 0),
        ("one two three", "wd$", "one ", 3),
        ("one two three", "wD", "one ", 3),
        ("one two three", "$db", "one two e", 8),
        ("one two three", "de", " two three", 0),
        ("one two three", "wdiw", "one  three", 4),
        ("one two three", "wdaw", "one three", 4),
        ("one two three", "dtw", "wo three", 0),
        ("one two three", "dft", "wo three", 0),
        ("one two three", "x", "ne two three", 0),
        ("one two three", "3x", " two three", 0),
        ("one two three", "$x", "one two thre", 11),
        ("one two three", "$X", "one two thre", 11),
        ("say (a, b) now", "f(di(", "say () now", 5),
        ('say "a b" now', 'wda"', "say  now", 4),
        ("one\ntwo\nthree", "dd", "two\nthree", 0),
        ("one\ntwo\nthree", "2dd", "three", 0),
        ("one\ntwo\nthree", "Gdd", "one\ntwo", 4),
        ("one\ntwo\nthree", "dj", "three", 0),
        ("one\ntwo\nthree", "Gdgg", "", 0),
        ("one\ntwo\nthree", "wdw", "one\n\nthree", 4),
        ("one\ntwo", "J", "one two", 3),
        ("one", "rX", "Xne", 0),
        ("one", "3ra", "aaa", 2),
        ("one", "~~", "ONe", 2),
        ("漢字e\u0301x", "xx", "e\u0301x", 0),
        ("漢字e\u0301x", "$hx", "漢字x", 2),
    ],
)
def test_changes(text: str, keys: str, left: str, at: int) -> None:
    assert play(text, keys) == (left, at, "normal")


@pytest.mark.parametrize(
    ("text", "keys", "left"),
    [
        ("one two", "cwthree<esc>", "three two"),
        ("one two", "wciwX<esc>", "one X"),
        ("one two", "wCx<esc>", "one x"),
        ("one\ntwo", "ccx<esc>", "x\ntwo"),
        ("one", "ia<esc>", "aone"),
        ("one", "aa<esc>", "oane"),
        ("  one", "Ia<esc>", "  aone"),
        ("one", "Aa<esc>", "onea"),
        ("one\ntwo", "oa<esc>", "one\na\ntwo"),
        ("one\ntwo", "jGOa<esc>", "one\na\ntwo"),
        ("one", "sX<esc>", "Xne"),
        ("one", "SX<esc>", "X"),
        ("a b", "cwx<esc>", "x b"),
    ],
)
def test_typing(text: str, keys: str, left: str) -> None:
    assert play(text, keys)[::2] == (left, "normal")


@pytest.mark.parametrize(
    ("text", "keys", "left"),
    [
        ("one two", "dwP", "one two"),
        ("one two", "dw$p", "twoone "),
        ("one\ntwo", "yyp", "one\none\ntwo"),
        ("one\ntwo", "Gyyggp", "one\ntwo\ntwo"),
        ("one\ntwo", "ddp", "two\none"),
        ("one\ntwo", "GddP", "two\none"),
        ("one\ntwo", "2yyGp", "one\ntwo\none\ntwo"),
        ("ab", "xp", "ba"),
        ("one two", "yw2P", "one one one two"),
        ("one two", "vey$p", "one twoone"),
        ("one two", "ved", " two"),
        ("one two", "vlcX<esc>", "Xe two"),
        ("one two", "wviwx", "one "),
    ],
)
def test_cutting_putting_and_selecting(text: str, keys: str, left: str) -> None:
    assert play(text, keys)[0] == left


@pytest.mark.parametrize(
    ("text", "keys", "left"),
    [
        ("one two three", "dwu", "one two three"),
        ("one two three", "dwdwuu<c-r>", "two three"),
        ("one two three", "dw.", "three"),
        ("one two three", "cwx<esc>w.", "x x three"),
        ("one\ntwo\nthree", "dd.", "three"),
        ("abc", "x..", ""),
        ("a\nb", "Ax y<esc>G.", "ax y\nbx y"),
        ("one", "ome and more<esc>u", "one"),
        ("one two", "cwa b c<esc>u", "one two"),
    ],
)
def test_undo_and_again(text: str, keys: str, left: str) -> None:
    assert play(text, keys)[0] == left


def test_what_is_no_command_does_nothing() -> None:
    assert play("one", "dqzgx")[0] == "one"  # dq, z and gx are no commands
    assert play("one", "d<esc>x")[0] == "ne"
    assert play("", "dwxddpu")[0] == ""


async def test_modes_in_the_box() -> None:
    app = Bench(vim=True, history=Earlier("earlier"))
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.press(*"one two", "escape", "b")
        await pilot.pause()
        assert rows(app)[-1] == " N one two"
        await pilot.press("v")
        await pilot.pause()
        assert rows(app)[-1] == " V one two"
        await pilot.press("e", "d", "i", *"2")
        await pilot.pause()
        assert rows(app)[-1] == " > one2"
        await pilot.press("escape", "enter")
        await pilot.pause()
        assert app.told == [("sent", "one2 ")]
        assert rows(app)[-1].startswith(" > ")
        await pilot.press("escape", "k", "k")
        await pilot.pause()
        assert app.text == "earlier"


async def test_escape_that_means_nothing_here_is_for_others() -> None:
    heard: list[str] = []

    class Hears(Bench):
        def on_key(self, event: Key) -> None:
            heard.append(event.key)

    app = Hears(vim=True)
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.press("a", "escape")
        await pilot.pause()
        assert heard == []
        await pilot.press("escape")
        await pilot.pause()
        assert heard == ["escape"]

"""The table of keys: what of the settings is taken over, and that help, docs and widgets agree with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agenyx.ui.tui.keymap import ACTIONS, ANSWERS, Keymap, markdown, spelt

ROOT = Path(__file__).parents[3]
TUI = ROOT / "src" / "agenyx" / "ui" / "tui"


def test_the_page_is_current() -> None:
    assert (ROOT / "docs" / "keys.md").read_text("utf-8") == markdown(), "run: python docs/keys.py"


def test_every_action_is_somebody_s() -> None:
    sources = "".join(path.read_text("utf-8") for path in TUI.rglob("*.py") if path.name != "keymap.py")
    assert [action.name for action in ACTIONS if f'"{action.name}"' not in sources] == []


def test_no_key_means_two_things_in_one_place() -> None:
    seen: dict[tuple[str, str], str] = {}
    for action in ACTIONS:
        for key in action.keys:
            assert seen.setdefault((action.place, key), action.name) == action.name


def test_the_usual_keys() -> None:
    keymap = Keymap()
    assert keymap.action("global", "ctrl+c") == "interrupt"
    assert keymap.action("prompt", "enter") == "send" and keymap.action("picker", "enter") == "pick"
    assert keymap.action("prompt", "f1") == "" and not keymap.problems
    assert keymap.shown("mode-next") == "Shift+Tab" and keymap.shown("help") == "F1"


def test_other_keys() -> None:
    keymap = Keymap({"editor": "ctrl+x, F12", "side": "", "top": "?", "steer": "Shift+Ctrl+s"})
    assert not keymap.problems
    assert keymap.keys("editor") == ("ctrl+x", "f12")
    assert keymap.action("prompt", "ctrl+g") == "" and keymap.action("prompt", "f12") == "editor"
    assert keymap.keys("side") == () and keymap.shown("side") == ""
    assert keymap.action("transcript", "question_mark") == "top"
    assert keymap.keys("steer") == ("ctrl+shift+s",)


@pytest.mark.parametrize(
    ("name", "keys", "told"),
    [
        ("fly", "f3", "keys.fly: there is no such action"),
        ("interrupt", "f12", "this key cannot be changed, it stays Ctrl+C"),
        ("cancel", "", "this key cannot be changed, it stays Esc"),
        ("send", "f12", "this key cannot be changed, it stays Enter"),
        ("editor", "ctrl+c", "Ctrl+C is the key of interrupt"),
        ("editor", "f1", "F1 is the key of help"),
        ("editor", "ctrl+s", "Ctrl+S is the key of steer"),
        ("editor", "x", "x is a character that is typed"),
        ("help", "x", "x is a character that is typed"),
        ("ask-down", "y", "y would be an answer"),
        ("editor", "hyper+x", "'hyper+x' is no key"),
        ("editor", "f99", "'f99' is no key"),
        ("editor", "\x1b[31m", "is no key"),
    ],
)
def test_what_cannot_be_is_told_and_the_usual_key_stays(name: str, keys: str, told: str) -> None:
    keymap = Keymap({name: keys})
    assert any(told in text for text in keymap.problems)
    usual = Keymap()
    assert all(keymap.keys(action.name) == usual.keys(action.name) for action in ACTIONS)


def test_a_key_that_was_given_away_is_free() -> None:
    keymap = Keymap({"effort": "f12", "tasks": "f3"})
    assert not keymap.problems and keymap.action("global", "f3") == "tasks"


def test_how_keys_are_written() -> None:
    keys = ("escape", "ctrl+c", "shift+tab", "pageup", "f1", "g", "G", "alt+enter", "space")
    assert [spelt(key) for key in keys] == [
        "Esc",
        "Ctrl+C",
        "Shift+Tab",
        "PageUp",
        "F1",
        "g",
        "G",
        "Alt+Enter",
        "Space",
    ]


def test_help_has_the_answers_too() -> None:
    rows = Keymap().rows("ask")
    assert rows[-len(ANSWERS) :] == list(ANSWERS)

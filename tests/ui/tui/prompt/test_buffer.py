"""A text under edit: by characters that a person sees, with cuts, selections and the way back."""

from __future__ import annotations

import pytest

from agenyx.ui.tui.prompt import graphemes as g
from agenyx.ui.tui.prompt.buffer import STEPS, Buffer
from agenyx.ui.tui.prompt.editing import EDITS

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
FLAG = "\U0001f1e9\U0001f1ea"
ACCENT = "e\u0301"
HINDI = "\u0915\u094d\u0937\u093f"
HEBREW = "\u05e9\u05b8\u05c1\u05dc\u05d5\u05dd"  # points belong to the letters before them
UNIT = g.UNITS[0]


def press(buffer: Buffer, *keys: str) -> Buffer:
    for key in keys:
        EDITS[key](buffer)
    return buffer


@pytest.mark.parametrize("one", ["a", ACCENT, FAMILY, FLAG, "漢", UNIT, "👍🏽"])
def test_a_character_is_what_a_person_sees(one: str) -> None:
    text = f"x{one}y"
    assert g.after(text, 1) == 1 + len(one) == g.before(text, len(text) - 1) + len(one)
    buffer = Buffer(text)
    press(buffer, "left", "backspace")
    assert (buffer.text, buffer.at) == ("xy", 1)
    assert press(Buffer(text), "home", "right", "delete").text == "xy"


def test_a_unit_never_joins_what_stands_beside_it() -> None:
    text = f"{UNIT}\u0301a\u0301{UNIT}\u200db"
    assert list(g.graphemes(text)) == [UNIT, "\u0301", "a\u0301", UNIT, "\u200d", "b"]
    assert g.without_units(f"a{UNIT}b\uffff") == "a\ufffdb\ufffd"
    assert g.units_of(text) == [UNIT, UNIT]


def test_marks_of_right_to_left_and_indic_letters_go_with_their_letters() -> None:
    buffer = Buffer(HEBREW)
    press(buffer, "home", "right")
    assert buffer.at == 3  # the letter with both of its points
    assert press(Buffer(HEBREW), "home", "delete").text == HEBREW[3:]
    steps, buffer = 0, Buffer(HINDI)
    while buffer.at:
        press(buffer, "left")
        steps += 1
    assert steps == len(list(g.graphemes(HINDI))) < len(HINDI)


def test_words() -> None:
    text = f"git commit --amend {UNIT} füße"
    buffer, met = Buffer(text), []
    while buffer.at:
        press(buffer, "ctrl+left")
        met.append(text[buffer.at :].split()[0] if buffer.at < len(text) else "")
    assert met == ["füße", UNIT, "amend", "commit", "git"]
    buffer.move(0)
    assert press(buffer, "alt+d").text == f" commit --amend {UNIT} füße"
    assert press(Buffer("say x/y.z  "), "ctrl+w").text == "say "
    assert press(Buffer("say x/y.z"), "alt+backspace").text == "say x/y."


def test_cutting_and_putting_back() -> None:
    buffer = Buffer("one two\nthree")
    press(buffer, "ctrl+u")
    assert buffer.text == "one two\n"
    press(buffer, "ctrl+u", "ctrl+u")  # the line end, then the line before: all three are one cut
    assert (buffer.text, buffer.kill) == ("", "one two\nthree")
    press(buffer, "ctrl+y")
    assert buffer.text == "one two\nthree"
    buffer.move(0)
    press(buffer, "ctrl+k")
    assert (buffer.text, buffer.kill) == ("\nthree", "one two")
    press(buffer, "ctrl+y", "alt+y")
    assert buffer.text == "one two\nthree\nthree"
    press(buffer, "alt+y")
    assert buffer.text == "one two\nthree"


def test_cuts_with_a_move_between_them_are_two() -> None:
    buffer = Buffer("a b c")
    press(buffer, "ctrl+w", "left", "right", "ctrl+w")
    assert (buffer.text, buffer.kill) == ("a ", "b ")


def test_selecting_and_typing_over_it() -> None:
    buffer = Buffer("one two")
    press(buffer, "ctrl+shift+left")
    assert buffer.selected == "two"
    buffer.insert("2")
    assert (buffer.text, buffer.mark) == ("one 2", None)
    press(buffer, "shift+home", "backspace")
    assert buffer.text == ""
    buffer = press(Buffer("abc"), "shift+left", "shift+left", "left")
    assert (buffer.at, buffer.mark) == (1, None)


def test_undo_goes_word_by_word_and_comes_back() -> None:
    buffer = Buffer()
    for char in "one two":
        buffer.insert(char)
    press(buffer, "ctrl+k", "ctrl+w")
    assert buffer.text == "one "
    seen = []
    while buffer.undo():
        seen.append(buffer.text)
    assert seen == ["one two", "one", ""]
    press(buffer, "alt+r", "alt+r", "alt+r")
    assert buffer.text == "one "
    buffer.undo()
    buffer.insert("x")
    assert not buffer.redo()


def test_undo_is_bounded() -> None:
    buffer = Buffer()
    for number in range(3 * STEPS):
        buffer.set(str(number))
    assert buffer.depth == STEPS
    buffer = Buffer()
    for number in range(40):
        buffer.set(f"{number}" * 300_000)
    assert 1 < buffer.depth < 30

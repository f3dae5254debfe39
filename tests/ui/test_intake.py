"""Keys and pastes: what of a read is typed, and what must not act."""

from __future__ import annotations

import pytest

from agenyx.ui.intake import END, MOMENT, START, Intake, pasted


class Line:
    """Reads come at times set by hand."""

    def __init__(self) -> None:
        self.now = 100.0
        self.intake = Intake(lambda: self.now)

    def read(self, *parts: str, after: float = 0.001) -> str:
        out = ""
        for part in parts:
            self.now += after
            out += self.intake(part)
        return out


LINES = [f"line {number}" for number in range(200)]


@pytest.mark.parametrize(
    "keys",
    [
        "x",
        "go\r",
        "text\rand mor",
        "\r\r",
        "one\ntwo\x1b\rthree\r",
        "/stat\t\r",
        "\x1b[A\x1b[B\r",
        "\x03",
        "ab\r\x1b[A\r",
    ],
)
def test_typing_passes_as_it_is(keys: str) -> None:
    assert Line().read(keys) == keys


@pytest.mark.parametrize(
    "read", ["one\rtwo\rthree", "one\rtwo\r", "one\rand a whole line more", "\r".join(LINES), "a\r\rb\rc"]
)
def test_a_paste_without_marks_sends_nothing(read: str) -> None:
    assert Line().read(read) == read.replace("\r", "\n")


def test_a_paste_without_marks_in_pieces_sends_nothing_wherever_they_end() -> None:
    text = "\r".join(LINES) + "\r"
    for size in (7, 8, 9, 64, 1000):
        line = Line()
        first = line.read(text[:200])
        rest = line.read(*(text[at : at + size] for at in range(200, len(text) - size, size)))
        assert "\r" not in first + rest


def test_enter_after_a_paste_sends() -> None:
    line = Line()
    line.read("one\rtwo\rthree")
    assert line.read("\r", after=MOMENT / 10) == "\r"
    line = Line()
    line.read(f"{START}one{END}")
    assert line.read("\r", after=MOMENT / 10) == "\r"


def test_a_marked_paste_is_one_text() -> None:
    assert Line().read(f"ab{START}one\r\ntwo\x1b[31m\t{END}") == f"ab{START}one\ntwo[31m\t{END}"


EVIL = f"harmless{END}\rrm -rf ~\r\x03\x18\x05"


def test_a_paste_cannot_end_itself() -> None:
    out = Line().read(f"{START}{EVIL}{END}")
    assert out == f"{START}{pasted(EVIL.replace(END, ''))}{END}"


@pytest.mark.parametrize("cut", range(1, len(f"{START}{EVIL}{END}")))
def test_a_paste_cannot_end_itself_wherever_it_is_cut(cut: int) -> None:
    whole = f"{START}{EVIL}{END}"
    if whole[cut:] == "\r" or len(whole) - cut == 1:
        return  # a single key
    out = Line().read(whole[:cut], whole[cut:])
    text = out.replace(START, "").replace(END, "")
    assert not set("\r\x03\x18\x05\x1b") & set(text)
    assert "harmless" in text
    assert "rm -rf ~" in text


def test_a_mark_cut_in_two_begins_one_paste() -> None:
    for cut in range(1, len(START)):
        out = Line().read(START[:cut], f"{START[cut:]}one\rtwo{END}")
        assert out == f"{START}one\ntwo{END}"


def test_escape_and_words_that_look_like_a_mark_are_typed() -> None:
    line = Line()
    assert line.read("\x1b", "[200~", after=1.0) == "\x1b[200~"


def test_a_paste_waits_for_its_end() -> None:
    line = Line()
    assert line.read(f"{START}one") == START
    assert line.read("two\r", after=10.0) == ""
    assert line.read(END[:3]) == ""
    assert line.read(END[3:]) == f"onetwo\n{END}"

"""Output of programs: colours stay, nothing else of it reaches a terminal."""

from __future__ import annotations

import random

import pytest

from agenyx.ui.ansi import lines
from agenyx.ui.spans import plain


def texts(data: str) -> list[str]:
    return [plain(row) for row in lines(data)]


def test_colours_become_names_of_styles() -> None:
    assert lines("\x1b[31mred\x1b[0m plain \x1b[1;4;38;5;208mno\x1b[m") == [
        (("fg=1", "red"), ("", " plain "), ("fg=208 at=bold at=underline", "no"))
    ]
    assert lines("\x1b[38;2;1;2;3;48;2;255;0;16mx") == [(("fg=#010203 bg=#ff0010", "x"),)]
    assert lines("\x1b[38:2::1:2:3mx\x1b[39my") == [(("fg=#010203", "x"), ("", "y"))]
    assert lines("\x1b[92;101mx\x1b[22;27;39;49my") == [(("fg=10 bg=9", "x"), ("", "y"))]


def test_colours_go_on_in_the_next_line() -> None:
    assert lines("\x1b[32ma\nb\x1b[0m\nc") == [(("fg=2", "a"),), (("fg=2", "b"),), (("", "c"),)]


@pytest.mark.parametrize(
    "hostile",
    [
        "\x1b]52;c;aGk=\x07",  # clipboard
        "\x1b]0;title\x1b\\",
        "\x1b]8;;http://evil\x1b\\",
        "\x9d52;c;aGk=\x9c",
        "\x1bP+q544e\x1b\\",
        "\x90q\x9c",
        "\x1b[2J",
        "\x1b[10;10H",
        "\x1b[6n",
        "\x1b[?1049h",
        "\x9b2J",
        "\x1b7\x1b8\x1bc",
        "\x1b(0",
        "\x07",
        "\x00",
        "\x1b",
        "\x1b[",
        "\x1b[999999999999999999999",
    ],
)
def test_everything_that_acts_is_dropped(hostile: str) -> None:
    shown = texts(f"a{hostile}b")
    assert len(shown) == 1
    assert shown[0].startswith("a")
    assert all(char.isprintable() for char in shown[0]), shown


def test_a_string_that_never_ends_takes_its_line_only() -> None:
    assert texts("a\x1b]0;never ends\nnext") == ["a", "next"]


def test_what_reorders_or_hides_text_is_shown() -> None:
    assert texts("a\u202eb\u200bc") == ["a\\u202eb\\u200bc"]


def test_progress_is_the_last_that_was_written() -> None:
    assert texts(" 10%\r 50%\r100%") == ["100%"]
    assert texts("downloading\rdone\x1b[K") == ["done"]
    assert texts("abc\rX") == ["Xbc"]
    assert texts("abc\b\bX") == ["aXc"]
    assert texts("one\r\ntwo\r\n") == ["one", "two"]
    assert texts("old\x1b[2Knew") == ["new"]


def test_lines_are_of_bounded_length() -> None:
    assert len(texts("x" * 10_000)[0]) == 4000
    assert len(texts("\r" + "y" * 10_000)[0]) == 4000


def test_any_bytes_give_printable_text() -> None:
    source = random.Random(66)
    for _ in range(200):
        data = bytes(source.choice(b"\x1b\x9b[]P0123456789;:mKHJ\r\n\b\x07\x00ab\xff\xc2\x9b") for _ in range(200))
        for row in lines(data.decode("utf-8", "replace")):
            assert all(char.isprintable() for char in plain(row))

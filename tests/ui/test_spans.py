"""Styled lines: their width, wrapping that loses nothing, escape sequences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.ui.spans import ASCII, Glyphs, ansi, cells, glyphs_for, line, plain, wrap

WORDS = st.text(st.sampled_from("ab 日本👩‍👧é한-."), max_size=80)


@pytest.mark.parametrize(
    ("text", "columns"),
    [("abc", 3), ("日本", 4), ("é", 1), ("e\u0301", 1), ("👩‍👩‍👧", 2), ("한글", 4), ("\t", 4), ("", 0)],
)
def test_width_is_that_of_graphemes(text: str, columns: int) -> None:
    assert cells(text) == columns


def test_words_stay_whole_and_the_rest_is_indented() -> None:
    rows = wrap((("bold", "one two"), ("", " three four")), 9, "  ")
    assert [plain(row) for row in rows] == ["one two", "  three", "  four"]
    assert rows[0] == (("bold", "one two"),)


def test_a_word_longer_than_a_line_is_broken_and_wide_text_anywhere() -> None:
    assert [plain(row) for row in wrap(line("abcdefgh"), 3)] == ["abc", "def", "gh"]
    assert [plain(row) for row in wrap(line("日本語日本語"), 5)] == ["日本", "語日", "本語"]


@given(WORDS, st.integers(2, 20))
def test_wrapping_loses_nothing_but_blanks_and_fits(text: str, width: int) -> None:
    rows = [plain(row) for row in wrap(line(text), width)]
    assert "".join("".join(rows).split()) == "".join(text.split())
    assert all(cells(row) <= width for row in rows)


def test_escape_sequences_only_where_colour_is_wanted() -> None:
    spans = (("bold error", "x"), ("", "y"), ("unknown", "z"))
    assert ansi(spans) == "\x1b[1;31mx\x1b[0myz"
    assert ansi(spans, {}) == "xyz"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp936x", "ISO-8859-15"])
def test_streams_that_cannot_carry_our_signs_get_plain_ones(encoding: str) -> None:
    assert glyphs_for(encoding) == ASCII
    assert glyphs_for("utf-8") == Glyphs()


def test_what_is_carried_over_behind_an_indent_fits_too() -> None:
    rows = wrap(line("! " + "x" * 100), 20, "    ")
    assert "".join(plain(row).strip() for row in rows) == "!" + "x" * 100
    assert all(cells(plain(row)) <= 20 for row in rows)

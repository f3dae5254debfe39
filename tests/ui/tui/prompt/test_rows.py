"""A text in rows: what fits, where the caret stands, and that nothing is lost."""

from __future__ import annotations

import random

import pytest

from agenyx.ui.spans import cells
from agenyx.ui.tui.prompt.graphemes import UNITS, graphemes
from agenyx.ui.tui.prompt.rows import Rows

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
LABELS = {UNITS[0]: "[Pasted text #1, 240 lines]"}


def shown(rows: Rows) -> list[str]:
    return ["".join(cell.shown for cell in rows.cells(row)) for row in range(len(rows))]


def test_lines_break_at_blanks_and_long_words_inside() -> None:
    assert shown(Rows("the quick brown fox", 10, {})) == ["the quick ", "brown fox"]
    assert shown(Rows("abcdefghijklm", 5, {})) == ["abcde", "fghij", "klm"]
    assert shown(Rows("one\n\ntwo\n", 5, {})) == ["one", "", "two", ""]
    assert shown(Rows("漢字かな交じり", 6, {})) == ["漢字か", "な交じ", "り"]
    assert shown(Rows("über uns steht", 9, {})) == ["über uns ", "steht"]


def test_what_cannot_be_seen_is_shown() -> None:
    text = "a\u202eb\u200bc\x1bd\u0301\n\u0301"
    assert shown(Rows(text, 40, {})) == ["a\\u202eb\\u200bc\\x1bd\u0301", "\\u0301"]
    assert shown(Rows("\tx", 40, {})) == ["    x"]


def test_a_unit_is_its_label_and_cut_where_there_is_no_room() -> None:
    assert shown(Rows(f"see {UNITS[0]}.", 60, LABELS)) == ["see [Pasted text #1, 240 lines]."]
    assert shown(Rows(f"see {UNITS[0]}.", 20, LABELS)) == ["see ", "[Pasted text #1, 24…", "."]


@pytest.mark.parametrize("width", [4, 7, 20, 33])
def test_no_row_is_too_wide_and_the_caret_stands_everywhere(width: int) -> None:
    random.seed(7)
    pieces = ["a", "bc ", "漢", FAMILY, " ", "\n", "e\u0301", "\t", UNITS[0], "שלום", "\u202e", "xyzzyxyzzyxyzzy"]
    for _ in range(60):
        text = "".join(random.choices(pieces, k=30))
        rows = Rows(text, width, LABELS)
        assert "".join(text[slice(*rows.span(row))] for row in range(len(rows))) == text.replace("\n", "")
        for row in range(len(rows)):
            wide = sum(cell.width for cell in rows.cells(row))
            assert wide <= width + 1 or len(rows.cells(row)) == 1
        at = 0
        for piece in [*graphemes(text), ""]:
            row, column = rows.place(at)
            begin, end = rows.span(row)
            assert begin <= at <= end and column <= max(width, 10)
            if column < width:
                assert rows.offset(row, column) == at or text[at : at + 1] == " "
            at += len(piece)


def test_columns_of_wide_characters() -> None:
    rows = Rows("漢a字\nשלום", 20, {})
    assert [rows.place(at) for at in range(4)] == [(0, 0), (0, 2), (0, 3), (0, 5)]
    assert rows.place(7) == (1, 3)  # in the order of reading; the terminal turns the letters
    assert (rows.offset(0, 1), rows.offset(0, 2), rows.offset(0, 99)) == (0, 1, 3)
    assert cells("漢a字") == 5


def test_many_lines_and_one_long_line() -> None:
    text = "\n".join(f"line {number}" for number in range(5_000))
    rows = Rows(text, 40, {})
    assert (len(rows), rows.place(len(text))) == (5_000, (4_999, 9))
    rows = Rows("x" * 200_000 + " é" * 1_000, 40, {})
    assert rows.place(200_000) == (4_999, 40)  # the blank hangs behind the row
    assert sum(end - begin for begin, end in map(rows.span, range(len(rows)))) == 202_000

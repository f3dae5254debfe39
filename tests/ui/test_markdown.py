"""Markdown as terminal lines: the same whatever way the text came in pieces."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.ui.markdown import Markdown, render
from agenyx.ui.spans import ASCII, Glyphs, Line, cells, plain

TEXT = """# Title `x`

Words **bold *both*** and _italic_, `co*d*e`, [label](https://example.org/a_(b)), <https://e.org>, snake_case, 2*3*4.

- item one that is long enough to be wrapped somewhere
  - [x] nested
2. numbered

| A | B |
|---|--:|
| 1 | 日本 |

~~~py
# no *heading*
| no | table |
~~~
   ```diff
   -old
   +new
   ```
> quoted
***
end\r
"""
PIECES = st.lists(
    st.sampled_from(
        ["# h", "**", "*", "`", "```", "\n", " ", "- a", "|a|b|", "|-|-|", "[x](y)", "日本", "word", "\x1b["]
    )
)


def shown(text: str, width: int = 60) -> list[str]:
    return [plain(spans) for spans in render(text, width, Glyphs())]


def fed(text: str, cuts: list[int], width: int = 60) -> list[Line]:
    markdown, lines, at = Markdown(width, Glyphs()), list[Line](), 0
    for cut in [*sorted(cuts), len(text)]:
        markdown.live(5)  # looking changes nothing
        lines += markdown.feed(text[at:cut])
        at = cut
    return lines + markdown.end()


@given(st.lists(st.integers(0, len(TEXT)), max_size=30))
def test_every_split_renders_the_same_lines(cuts: list[int]) -> None:
    assert fed(TEXT, cuts) == render(TEXT, 60, Glyphs())


@given(PIECES, st.lists(st.integers(0, 40), max_size=8))
def test_every_split_of_any_text_renders_the_same_lines(pieces: list[str], cuts: list[int]) -> None:
    text = "".join(pieces)
    assert fed(text, [min(cut, len(text)) for cut in cuts]) == render(text, 60, Glyphs())


def test_finished_lines_come_at_once_and_never_again() -> None:
    markdown = Markdown(60, Glyphs())
    assert [plain(row) for row in markdown.feed("one\ntw")] == ["one"]
    assert [plain(row) for row in markdown.live(3)] == ["tw"]
    assert [plain(row) for row in markdown.feed("o\n```\ncode")] == ["two", "```"]
    assert [plain(row) for row in markdown.feed("\nmore")] == ["code"]
    assert [plain(row) for row in markdown.end()] == ["more"]


def test_the_whole_of_it() -> None:
    assert shown(TEXT) == [
        "Title x",
        "",
        "Words bold both and italic, co*d*e, label",
        "(https://example.org/a_(b)), https://e.org, snake_case,",
        "2*3*4.",
        "",
        "• item one that is long enough to be wrapped somewhere",
        "  • [x] nested",
        "2. numbered",
        "",
        "A │ B",
        "──┼─────",
        "1 │ 日本",
        "",
        "~~~py",
        "# no *heading*",
        "| no | table |",
        "~~~",
        "```diff",
        "-old",
        "+new",
        "```",
        "│ quoted",
        "─" * 40,
        "end",
    ]


def test_styles() -> None:
    assert render("**b** `c` *i* ~~s~~", 60, ASCII) == [
        (("bold", "b"), ("", " "), ("code", "c"), ("", " "), ("italic", "i"), ("", " "), ("strike", "s"))
    ]
    assert render("## h", 60, ASCII) == [(("heading", "h"),)]
    assert render("```diff\n+a\n-b", 60, ASCII)[1:] == [(("ok", "+a"),), (("error", "-b"),)]


def test_the_address_of_a_link_is_always_shown() -> None:
    assert shown("[https://good.example](https://bad.example)") == ["https://good.example (https://bad.example)"]


@pytest.mark.parametrize("width", [10, 20, 60])
def test_tables_and_lists_fit_the_width(width: int) -> None:
    table = "| some name | a longer text that has to be wrapped | 日本語日本語日本語 |\n|---|---|---|\n| a | b | c |\n"
    rows = render(table + "- a list item of many words\n", width, ASCII)
    drawn = [plain(row) for row in rows if "|---" not in plain(row)]
    assert drawn
    if width >= 20:
        assert all(cells(row) <= width for row in drawn)


def test_a_table_without_a_rule_and_one_cut_off_are_shown_as_they_are() -> None:
    assert shown("| a | b |\n| c | d |") == ["| a | b |", "| c | d |"]
    assert shown("| a | b |") == ["| a | b |"]


def test_foreign_controls_do_not_reach_the_terminal() -> None:
    text = "\x1b]52;c;AAAA\x07 **\x1b[2J** `\x9b31m`\n```\n\x1b[1A\r\n```\n| \x1b | b |\n|--|--|\n"
    markdown = Markdown(60, Glyphs())
    live = markdown.feed(text[:-1]) + markdown.live(9) + markdown.feed(text[-1:]) + markdown.end()
    assert not any(char in plain(row) for row in live for char in "\x1b\x07\x9b\r")
    assert "\\x1b]52;c;AAAA\\x07" in plain(live[0])


def test_the_live_part_is_bounded_however_long_the_line() -> None:
    markdown = Markdown(40, Glyphs())
    markdown.feed("word " * 100_000)
    rows = markdown.live(5)
    assert len(rows) == 5
    assert all(cells(plain(row)) <= 40 for row in rows)


def test_hostile_lines_take_no_time() -> None:
    begun = time.monotonic()
    for piece in ("**a ", "[a](", "`" * 3, "_", "*a_", "|", "| a", "- ", "> ", "\\", "[" * 9):
        for size in (3_900, 400_000):
            render(piece * (size // len(piece)), 80, Glyphs())
    assert time.monotonic() - begun < 20

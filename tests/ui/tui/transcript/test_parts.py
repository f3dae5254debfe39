"""The pure parts of the transcript: heights, drafts, differences, hits, rows."""

from __future__ import annotations

import random

import pytest

from agenyx.core import json
from agenyx.ui.spans import Line, cells, plain
from agenyx.ui.tui.transcript import diffs, hits
from agenyx.ui.tui.transcript.draft import Draft
from agenyx.ui.tui.transcript.heights import Heights
from agenyx.ui.tui.transcript.rows import PLAIN, Signs, flat, hard, split

SIGNS = Signs()
DIFF = "--- a.py\n+++ a.py\n@@ -9,3 +9,4 @@\n keep = 1\n-x = old_name + 2\n+x = new_name + 2\n+y = 3\n end\n"


def shown(rows: list[Line]) -> list[str]:
    return [plain(row).rstrip() for row in rows]


# --- heights -------------------------------------------------------------------------------------------------------


def test_sums_and_places_are_those_of_a_plain_list() -> None:
    source = random.Random(5)
    heights, own = Heights(), list[int]()
    for _ in range(400):
        match source.randrange(4):
            case 0 | 1:
                own.append(source.randrange(9))
                heights.append(own[-1])
            case 2 if own:
                at = source.randrange(len(own))
                own[at] = source.randrange(9)
                heights.set(at, own[at])
            case 3 if source.random() < 0.1:
                del own[len(own) // 2 :]
                heights.cut(len(own))
            case _:
                continue
        assert heights.total == sum(own)
        index = source.randrange(len(own) + 1)
        assert heights.above(index) == sum(own[:index])
        if sum(own):
            row = source.randrange(sum(own))
            index, inner = heights.at(row)
            assert sum(own[:index]) + inner == row and 0 <= inner < own[index]
    assert [Heights(own)[at] for at in range(len(own))] == own
    assert Heights(own).total == sum(own)


def test_places_outside_are_the_nearest() -> None:
    heights = Heights([2, 3])
    assert (heights.at(-5), heights.at(99)) == ((0, 0), (1, 2))
    assert Heights().at(3) == (0, 0)


# --- drafts --------------------------------------------------------------------------------------------------------

ARGS = json.encode(
    {"file_path": 'src/a "b".py', "n": [1, {"content": "inner"}], "content": "def a():\n\treturn '\\ü😀'\n", "z": None}
).decode()


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_a_call_is_read_while_it_streams_wherever_it_is_cut(size: int) -> None:
    draft = Draft()
    for at in range(0, len(ARGS), size):
        draft.feed(ARGS[at : at + size])
    assert {name: member.head for name, member in draft.members.items()} == {
        "file_path": 'src/a "b".py',
        "content": "def a():\n\treturn '\\ü😀'\n",
    }
    assert draft.members["content"].lines == 2


def test_escapes_of_two_halves_and_lone_ones() -> None:
    draft = Draft()
    for piece in ('{"a":"\\ud83d', "\\ude00", " \\ud83d", 'x \\udc00 \\uZZZZ \\q"'):
        draft.feed(piece)
    assert draft.members["a"].head == "\U0001f600 \ufffdx \ufffd \ufffd q"


def test_a_text_that_is_not_whole_shows_what_came() -> None:
    draft = Draft()
    draft.feed('{"file_path":"a.py","content":"one\\ntw')
    assert draft.members["content"].tail == "one\ntw"


def test_of_a_long_text_the_ends_are_kept() -> None:
    draft = Draft()
    draft.feed('{"content":"' + "x" * 100_000)
    member = draft.members["content"]
    assert member.size == 100_000
    assert len(member.head) + len(member.tail) < 3000


@pytest.mark.parametrize("text", ["", "[]", "null", '"text"', "}{", '{"a":1,', "}" * 50 + '"', "\\", '{"a":"\\'])
def test_what_is_no_object_has_no_members(text: str) -> None:
    draft = Draft()
    draft.feed(text)
    assert all(not member.size for member in draft.members.values())


# --- differences ---------------------------------------------------------------------------------------------------


def test_lines_have_their_numbers_and_changed_words_are_marked() -> None:
    rows = diffs.drawn(DIFF, 60, SIGNS)
    assert shown(rows) == [
        "@@ -9,3 +9,4 @@",
        " 9   keep = 1",
        "10 - x = old_name + 2",
        "10 + x = new_name + 2",
        "11 + y = 3",
        "12   end",
    ]
    assert ("removed-word", "old_name") in rows[2]
    assert ("added-word", "new_name") in rows[3]
    assert ("added", "y = 3") in rows[4]


def test_both_sides_stand_beside_each_other_where_there_is_room() -> None:
    rows = diffs.drawn(DIFF, diffs.WIDE, SIGNS)
    middle = [row for row in shown(rows) if "│" in row]
    assert middle[1].split("│")[0].strip() == "10 - x = old_name + 2"
    assert middle[1].split("│")[1].strip() == "10 + x = new_name + 2"
    assert middle[2].split("│")[0].strip() == ""
    assert all(cells(row) <= diffs.WIDE for row in shown(rows))


def test_a_removed_line_of_dashes_is_no_head() -> None:
    text = "--- a.sql\n+++ a.sql\n@@ -1,2 +1,1 @@\n--- a comment\n-- keep\n+++ x\n"
    assert diffs.counts(text) == (1, 2)


def test_long_lines_are_wrapped_and_no_row_is_too_wide() -> None:
    text = f"--- a\n+++ a\n@@ -1,1 +1,1 @@\n-{'日本' * 60}\n+{'x' * 300}\n"
    for width in (20, 60, 150):
        assert all(cells(row) <= width for row in shown(diffs.drawn(text, width, SIGNS)))


def test_words_about_a_difference_are_kept() -> None:
    assert "(binary content differs)" in shown(diffs.drawn("--- a\n+++ a\n(binary content differs)", 60, SIGNS))


# --- hits ----------------------------------------------------------------------------------------------------------


def test_hits_stand_below_their_path_with_the_pattern_marked() -> None:
    rows = hits.drawn(["a.py:3:def main", "a.py-4-    pass", "--", "b.py:9:main()", "[2 results]"], 60, "main")
    assert rows is not None
    assert shown(rows) == ["a.py", "     3 def main", "     4     pass", "--", "b.py", "     9 main()", "[2 results]"]
    assert ("bold warn", "main") in rows[1]


def test_other_text_is_not_taken_for_hits() -> None:
    assert hits.drawn(["a.py", "b.py"], 60) is None
    assert hits.drawn(["some words", "more: words", "12:30"], 60) is None
    assert hits.drawn([], 60) is None


# --- rows ----------------------------------------------------------------------------------------------------------


def test_hard_rows_break_at_the_width_and_never_inside_a_grapheme() -> None:
    line: Line = (("a", "日本語" * 5), ("b", "👩‍👩‍👧x"))
    rows = hard(line, 7)
    assert "".join(plain(row) for row in rows) == plain(line)
    assert all(cells(plain(row)) <= 7 for row in rows)
    assert hard((), 7) == [()]


def test_lines_of_a_text_are_bounded_in_number_and_length() -> None:
    lines, more = split("x\n" * 10, 4)
    assert (lines, more) == (["x"] * 4, 6)
    assert split("a\nb\n") == (["a", "b"], 0)
    assert split("") == ([""], 0)
    long, _ = split("y" * 10_000)
    assert long[0].endswith("[… 6,000 more characters]")


def test_a_flat_text_fits() -> None:
    for width in range(30):
        assert cells(flat("some  words\nand 日本語 behind", width)) <= max(width, 0)
    assert flat("short", 10) == "short"


def test_plain_signs_are_ascii() -> None:
    assert all(getattr(PLAIN, name).isascii() for name in PLAIN.__struct_fields__)

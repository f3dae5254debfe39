"""Edits change what was asked and no other byte, whatever the file's form; failures say why."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.core.redact import MASK, Masker
from agenyx.core.spellings import MASKS
from agenyx.workspace.edit import Edited, Unmatched, masked_line, replace

FORMS = {
    "utf-8": ("utf-8", b""),
    "utf-8 with mark": ("utf-8", b"\xef\xbb\xbf"),
    "latin": ("cp1252", b""),
    "utf-16-le": ("utf-16-le", b"\xff\xfe"),
    "utf-16-be": ("utf-16-be", b"\xfe\xff"),
}
words = st.text(alphabet="abcé \t”", max_size=8).filter(lambda word: "é”" not in word)
"""Without what in cp1252 is made of bytes that are UTF-8 too: nobody can tell these apart."""


@st.composite
def files(draw: st.DrawFn) -> tuple[list[str], list[str], str]:
    """Lines, the line end of each ("" for a last line without one), and the form."""
    style = draw(st.sampled_from(["\n", "\r\n", "\r", "mixed"]))
    lines = draw(st.lists(words, min_size=1, max_size=8))
    ends = [draw(st.sampled_from(["\n", "\r\n"])) if style == "mixed" else style for _ in lines]
    if not draw(st.booleans()):
        ends[-1] = ""
    return lines, ends, draw(st.sampled_from(sorted(FORMS)))


def raw(text: str, form: str) -> bytes:
    return text.encode(FORMS[form][0])


def edited(data: bytes, old: str, new: str, every: bool = False) -> Edited:
    result = replace(data, old, new, every)
    assert isinstance(result, Edited), result
    return result


def refused(data: bytes, old: str, new: str = "new", every: bool = False) -> Unmatched:
    result = replace(data, old, new, every)
    assert isinstance(result, Unmatched), result
    return result


@given(files(), st.data())
def test_untouched_bytes_are_identical_and_every_mode_agrees(
    file: tuple[list[str], list[str], str], data: st.DataObject
) -> None:
    lines, ends, form = file
    at = data.draw(st.integers(0, len(lines) - 1))
    count = data.draw(st.integers(1, len(lines) - at))
    marked = [*lines[:at], "FIRST", *lines[at + 1 :]]  # makes the place unique
    before = "".join(line + end for line, end in zip(marked[:at], ends[:at], strict=True))
    inner = list(zip(marked[at : at + count], ends[at : at + count], strict=True))
    behind = "".join(line + end for line, end in zip(marked[at + count :], ends[at + count :], strict=True))
    middle = "".join(line + end for line, end in inner[:-1]) + inner[-1][0]
    head = FORMS[form][1] + raw(before, form)
    tail = raw(inner[-1][1] + behind, form)
    content = head + raw(middle, form) + tail
    old = "\n".join(line for line, _ in inner)
    new = "\n".join(["SECOND", *(line for line, _ in inner[1:])])
    one = edited(content, old, new)
    assert one == edited(content, old, new, every=True)
    assert one.count == 1
    assert one.data == head + raw("SECOND" + middle[len("FIRST") :], form) + tail
    back = edited(one.data, "SECOND", "FIRST")
    assert back.data == content


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("form", sorted(FORMS))
def test_inserted_lines_get_the_line_end_of_the_place(end: str, form: str) -> None:
    mark = FORMS[form][1]
    content = mark + raw(f"one{end}two{end}", form)
    assert edited(content, "one\n", "one\nnew\n").data == mark + raw(f"one{end}new{end}two{end}", form)
    assert edited(content, "two", "two\nthree").data == mark + raw(f"one{end}two{end}three{end}", form)
    assert edited(content, "one\r\ntwo", "one\r\nx\r\ntwo").data == mark + raw(f"one{end}x{end}two{end}", form)


def test_in_a_mixed_file_each_place_keeps_its_own() -> None:
    content = b"a\r\nb\nc\r\nd"
    assert edited(content, "a\nb\nc\n", "a\nB\nc\n").data == b"a\r\nB\nc\r\nd"
    assert edited(content, "a", "a\nx").data == b"a\r\nx\r\nb\nc\r\nd"
    assert edited(content, "b", "b\nx").data == b"a\r\nb\nx\nc\r\nd"
    twice = edited(b"x\r\ny\nx\ny\r\n", "x\ny", "x\nz\ny", every=True)
    assert twice.data == b"x\r\nz\ny\nx\nz\r\ny\r\n"


def test_the_two_bytes_of_a_line_end_are_never_two_lines() -> None:
    assert refused(b"a\r\nb", "a\n\nb").reason == "missing"


def test_a_final_line_end_is_neither_added_nor_removed() -> None:
    assert edited(b"a\nb", "b", "c").data == b"a\nc"
    assert edited(b"a\nb\n", "b", "c").data == b"a\nc\n"


def test_replacement_text_is_taken_as_it_is() -> None:
    new = "“curly” – hard break  \n\ttab\u00a0nbsp e\u0301"
    assert edited(b"x\n", "x", new).data == (new + "\n").encode()


def test_bytes_that_are_no_utf8_survive() -> None:
    content = "señor: ".encode("latin-1") + b"x = 1\n" + bytes(range(128, 256)) + b"\n"
    assert edited(content, "x = 1", "x = 2").data == content.replace(b"x = 1", b"x = 2")
    assert edited(content, "señor", "señora").data == content.replace("señor".encode("latin-1"), b"se\xf1ora")
    stray = "grüße, señor, 日本 ".encode() + b"\xff x = 1\n"
    assert edited(stray, "x = 1", "日 = 2").data == stray.replace(b"x = 1", "日 = 2".encode())
    for result in (edited(content, "x = 1", "x = 2"), edited(stray, "x = 1", "x = 2")):
        assert "\ufffd".encode() not in result.data


def test_what_the_encoding_cannot_hold_is_refused() -> None:
    result = refused("café\n".encode("latin-1"), "café", "日本")
    assert result.reason == "encoding"
    assert "windows-1252" in result.text and "日" in result.text


def test_several_places_are_named_by_line() -> None:
    result = refused(b"x\ny\nx\nz\nx\n", "x")
    assert (result.reason, result.lines) == ("several", (1, 3, 5))
    assert "3 times" in result.text and "1, 3, 5" in result.text
    many = refused(b"x\n" * 5000, "x")
    assert "more than once" in many.text and len(many.text) < 300
    assert edited(b"x\ny\nx\n", "x", "z", every=True).data == b"z\ny\nz\n"


def test_overlapping_places_are_not_one() -> None:
    assert refused(b"aaa", "aa").reason == "several"
    assert edited(b"aaa", "aa", "b", every=True).data == b"ba"


@pytest.mark.parametrize(
    ("content", "old", "words"),
    [
        (b"def f():\n\treturn 1\n", "def f():\n    return 1\n", ["white space", "line 1", "\\treturn 1"]),
        (b"a  \nb\n", "a\nb", ["end of a line"]),
        ("say “hi”\n".encode(), 'say "hi"', ["typographic", "line 1"]),
        (b'return "_".join(x)\n', "return '_'.join(x)", ["quotes", "line 1", 'return "_"']),
        (b"Hello World\n", "hello world", ["upper and lower case"]),
        ("e\u0301te\n".encode(), "éte", ["Unicode"]),
        (b"one\ntwo\n", "     1→one\n     2→two", ["line numbers"]),
        (b"one\ntwo", "two\n", ["does not end with a line end"]),
        (b"a = 1\nb = 2\nc = 3\n", "a = 1\nb = 9\nc = 3", ["line 2", "b = 2", "b = 9"]),
        (b"def compute_total(items):\n", "def compute_totals(item):", ["similar", "1:"]),
        (b"alpha\n", "zzz qqq", ["right file"]),
        (b"", "x", ["empty"]),
        (b"key = sk-123456789\n", f"key = {MASK}", ["secret"]),
    ],
)
def test_a_failed_match_says_why(content: bytes, old: str, words: list[str]) -> None:
    result = refused(content, old)
    assert result.reason == "missing"
    for word in words:
        assert word in result.text, result.text


def test_a_mask_is_not_stored_over_a_secret() -> None:
    assert refused(b"key = 'sk-123456789'\n", "key = 'sk-123456789'", f"key = '{MASK}'").reason == "masked"
    assert refused(b"a=1\nkey=sk-123456789;\n", "sk-123456789", MASK).reason == "masked"
    fine = edited(b"MASKS = []\nhide('some words')\n", "MASKS = []", f"MASKS = ['{MASK}']")
    assert MASK.encode() in fine.data


def test_equal_and_empty_texts_are_refused() -> None:
    assert refused(b"x", "x", "x").reason == "same"
    assert refused(b"x", "", "y").reason == "missing"
    assert refused(b"\0\0", "x").reason == "binary"


def test_growth_and_counts_are_bounded_and_quick() -> None:
    started = time.monotonic()
    big = b"a" * (8 << 20)
    assert refused(big, "a", "b" * 1000, every=True).reason == "size"
    assert refused(big, "a").reason == "several"
    assert refused(b"a\n" * (2 << 20), "a\n" * 100_000 + "b").reason == "missing"
    lines = b"".join(b"line %d\r\n" % number for number in range(400_000))
    assert edited(lines, "line 399999\n", "last\nlines\n").data.endswith(b"last\r\nlines\r\n")
    assert time.monotonic() - started < 30


PEM = "-----BEGIN KEY-----\nMIIEabcdef0123456789\n-----END KEY-----"


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("key=sk-123456789\n", "key={mask}\n"),
        ("key=sk-123456789\n", "key={mask} # mine\n"),
        ('{{"key": "sk-123456789"}}\n', '{{"key": "{mask}",\n "x": 1}}\n'),
        ("- sk-123456789\n", "- {mask}\n"),
        ("sk-123456789\n", "{mask}\n"),
        (f'key="{PEM}"\nb\n', 'key="{mask}"\nc\n'),
        ("a=1 key=sk-123456789 b=2\n", "a=1 key={mask} b=3\n"),
    ],
)
def test_every_form_of_mask_over_a_secret(mask: str, before: str, after: str) -> None:
    before, after = before.format(mask=mask), after.format(mask=mask)
    assert masked_line(before, after) == 1
    assert masked_line(before, after, Masker(("sk-123456789", PEM))) == 1


def test_with_the_masker_it_is_exact() -> None:
    masker = Masker(("sk-123456789",))
    assert masked_line("key=nothing-secret\n", f"key={MASK}\n", masker) == 0, "no secret is lost"
    assert masked_line("key=sk-123456789\n", f"key=sk-123456789\nx={MASK}\n", masker) == 0
    assert masked_line(f"m={MASK}\nkey=sk-123456789\n", f"m={MASK}\n", masker) == 0, "a line was taken out"
    assert masked_line("a\nkey=sk-123456789\n", f"something else\n{MASK}\n", masker) == 2
    data = b"key=sk-123456789\n"
    assert isinstance(replace(data, "key=sk-123456789", f"key={MASK}", masker=masker), Unmatched)

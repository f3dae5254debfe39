"""Lines in and out: any split, the caps, what is not fit for a line."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.core.json import decode
from agenyx.ui.wire.framing import OUT_CHARS, Lines, TooLong, line

WHOLE = b'{"a":1}\n\n  \n{"b":"\xe2\x80\xa8"}\r\n{"c":3}'


@given(st.lists(st.integers(0, len(WHOLE)), max_size=8))
def test_lines_come_whole_however_they_are_split(cuts: list[int]) -> None:
    lines, edges = Lines(), [0, *sorted(cuts), len(WHOLE)]
    found = [one for start, stop in itertools.pairwise(edges) for one in lines.feed(WHOLE[start:stop])]
    assert [*found, lines.end()] == [b'{"a":1}', b'{"b":"\xe2\x80\xa8"}', b'{"c":3}']


def test_a_line_of_exactly_the_cap_is_taken() -> None:
    assert list(Lines(10).feed(b"x" * 10 + b"\n")) == [b"x" * 10]


@pytest.mark.parametrize("pieces", [[b"x" * 11 + b"\n"], [b"x" * 6, b"x" * 5]])
def test_a_line_above_the_cap_ends_it(pieces: list[bytes]) -> None:
    lines = Lines(10)
    with pytest.raises(TooLong):
        for piece in pieces:
            list(lines.feed(piece))


def never(data: bytes) -> str:
    raise AssertionError("nothing was too long")


def test_line_ends_of_other_kinds_are_escaped() -> None:
    data = line({"text": "a\u2028b\u2029c\nd"}, never)
    assert data.count(b"\n") == 1 and "\u2028".encode() not in data
    assert decode(data) == {"text": "a\u2028b\u2029c\nd"}


def test_lone_surrogates_do_no_harm() -> None:
    assert decode(line({"text": "a\ud800"}, never)) == {"text": "a\ufffd"}


def test_what_is_too_long_is_kept_elsewhere_and_named() -> None:
    kept: list[bytes] = []

    def spill(data: bytes) -> str:
        kept.append(data)
        return "/somewhere/1.json"

    record = {"type": "user", "message": {"content": [{"text": "x" * 2_000_000}, {"text": "short"}]}}
    data = line(record, spill)
    assert len(data) <= OUT_CHARS + 1
    shown: Any = decode(data)
    assert shown["spill"] == "/somewhere/1.json"
    assert shown["message"]["content"][0]["text"].endswith("more; the whole record is in /somewhere/1.json")
    assert shown["message"]["content"][1]["text"] == "short"
    assert decode(kept[0]) == record


def test_very_many_members_fit_as_well() -> None:
    record = {"type": "user", "uuid": "u", "message": {"content": [{"n": number} for number in range(200_000)]}}
    data = line(record, lambda _: "/somewhere/1.json")
    assert decode(data) == {"type": "user", "uuid": "u", "spill": "/somewhere/1.json"}


@given(st.dictionaries(st.text(max_size=5), st.text(max_size=300), max_size=5))
def test_a_line_is_never_longer_than_the_cap(texts: dict[str, str]) -> None:
    assert len(line({"type": "x", "texts": texts}, lambda _: "p", 400)) <= 401

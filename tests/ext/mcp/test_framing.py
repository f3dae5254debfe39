from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.ext.mcp.framing import Lines, TooLong


@given(st.binary(max_size=200), st.lists(st.integers(1, 20), max_size=30))
def test_lines_are_the_same_however_they_arrive(data, sizes):
    lines, found, at = Lines(1000), [], 0
    for size in [*sizes, len(data)]:
        found += lines.feed(data[at : at + size])
        at += size
    found += lines.feed(data[at:] + b"\n")
    assert found == [line.strip() for line in data.split(b"\n") if line.strip()]


def test_a_line_of_the_limit_passes_and_a_longer_one_does_not():
    assert Lines(10).feed(b"x" * 10 + b"\n") == [b"x" * 10]
    with pytest.raises(TooLong):
        Lines(10).feed(b"x" * 11 + b"\n")
    with pytest.raises(TooLong):
        Lines(10).feed(b"x" * 11)
    lines = Lines(10)
    lines.feed(b"x" * 6)
    with pytest.raises(TooLong):
        lines.feed(b"x" * 5)
    with pytest.raises(TooLong):
        Lines(10).feed(b"a\n" + b"x" * 11 + b"\nb\n")

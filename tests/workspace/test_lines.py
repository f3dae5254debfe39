"""A part of a file of any size, in bounded time and memory."""

from __future__ import annotations

import os
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.workspace import lines
from agenyx.workspace.lines import window


def read(path: Path, offset: int, limit: int, keep: int = 1000, seconds: float = 60.0) -> lines.Window:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return window(descriptor, offset, limit, keep, seconds)
    finally:
        os.close(descriptor)


@given(
    st.lists(st.text(alphabet="abé", max_size=5), max_size=12), st.integers(1, 14), st.integers(1, 14), st.booleans()
)
def test_the_same_lines_as_reading_it_whole(
    tmp_path_factory: pytest.TempPathFactory, wanted: list[str], offset: int, limit: int, final: bool
) -> None:
    path = tmp_path_factory.mktemp("lines") / "f"
    text = "\n".join(wanted) + ("\n" if final and wanted else "")
    path.write_text(text, "utf-8")
    expected = text.split("\n")
    if expected[-1] == "":
        expected.pop()
    old, lines._CHUNK = lines._CHUNK, 3  # so that lines and characters cross reads
    try:
        found = read(path, offset, limit)
    finally:
        lines._CHUNK = old
    assert [line.text for line in found.lines] == expected[offset - 1 : offset - 1 + limit]
    assert found.more is (offset - 1 + limit < len(expected) and bool(found.lines))


def test_a_hundred_megabytes_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with open(path, "wb") as file:
        for _ in range(100):
            file.write(b"x" * (1 << 20))
        file.write(b"\r\nsecond\r\n")
    tracemalloc.start()
    started = time.monotonic()
    found = read(path, 1, 5)
    seconds = time.monotonic() - started
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [(len(line.text), line.size) for line in found.lines] == [(1000, (100 << 20) + 1), (6, 6)]
    assert peak < 16 << 20
    assert seconds < 10


def test_time_and_binary_data_end_it(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"a\n" * (2 << 20))
    assert read(path, 3 << 20, 1, seconds=-1).late
    path.write_bytes(b"a\0b")
    assert read(path, 1, 1).binary
    path.write_bytes(b"\xef\xbb\xbfa\n")
    assert read(path, 1, 1).lines[0].text == "a"

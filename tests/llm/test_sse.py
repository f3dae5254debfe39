"""Server-sent events: the standard's line rules, at every split, with bounded memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.llm.sse import SseError, SseReader

STREAM = (
    b"\xef\xbb\xbf: a comment\n"
    b"event: message\ndata: one\nid: 7\n\n"
    b"data:two\r\ndata: too\r\n\r\n"
    b"data: three\rdata: lines\rdata\r\r"
    b"retry: 10\n\n\n"
    b"data:  kept space\n\n"
    b"database: not data\n\n"
    b"data: \xc3\xa9\xf0\x9f\x98\x80\n\n"
    b"data: last"
)
EVENTS = [b"one", b"two\ntoo", b"three\nlines\n", b" kept space", "é😀".encode(), b"last"]


def read(parts: list[bytes]) -> list[bytes]:
    reader = SseReader()
    events = [event for part in parts for event in reader.feed(part)]
    return events + reader.end()


def test_the_line_rules_of_the_standard() -> None:
    assert read([STREAM]) == EVENTS


def test_every_split_gives_the_same_events() -> None:
    for cut in range(len(STREAM) + 1):
        assert read([STREAM[:cut], STREAM[cut:]]) == EVENTS, cut
    assert read([STREAM[i : i + 1] for i in range(len(STREAM))]) == EVENTS


@given(st.lists(st.sampled_from([b"data: a", b"data", b"\r", b"\n", b"\r\n", b"\n\n", b": x", b"", b"data:b"])))
def test_any_split_of_any_line_ends(parts: list[bytes]) -> None:
    assert read(parts) == read([b"".join(parts)])


def test_an_event_is_given_out_when_its_blank_line_arrives() -> None:
    reader = SseReader()
    assert reader.feed(b"data: now\r") == []
    assert reader.feed(b"\r") == [b"now"]


@pytest.mark.parametrize("piece", [b"x" * 1000, b"data: " + b"x" * 1000 + b"\n", b"data:\n" * 100, b"data\r" * 100])
def test_an_event_without_end_is_refused(piece: bytes) -> None:
    reader = SseReader(limit=100_000)
    with pytest.raises(SseError):
        for _ in range(1000):
            reader.feed(piece)


def test_a_large_event_in_small_pieces_is_read_in_linear_time() -> None:
    reader = SseReader()
    reader.feed(b"data: ")
    for _ in range(100_000):
        reader.feed(b"0123456789" * 10)
    assert [len(event) for event in reader.feed(b"\n\n")] == [10_000_000]

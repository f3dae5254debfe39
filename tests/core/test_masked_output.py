"""Output masked while it comes: the same as the whole masked at its end, whatever the cuts and wherever lines end."""

from __future__ import annotations

import base64
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenyx.core.masked_output import OutputMasker
from agenyx.core.redact import MASK, Masker

KEY = "sk-live-0123456789"
TWO_LINES = "-----BEGIN\nq8w7e6r5t4\n-----END"


def masked(masker: Masker, data: bytes, cuts: list[int]) -> bytes:
    stream, shown, at = OutputMasker(masker), b"", 0
    for cut in sorted(cut % (len(data) + 1) for cut in cuts):
        shown += stream.feed(data[at:cut])
        at = cut
    return shown + stream.feed(data[at:]) + stream.end()


def whole(masker: Masker, data: bytes) -> bytes:
    return masker.latin.wrapped(data.decode("latin-1")).encode("latin-1")


pieces = st.lists(
    st.sampled_from([KEY, KEY[:7], KEY[5:], "s", "aaaaaaaaaa", "aaa", "-", MASK, "ö", "\n", "\n\n", TWO_LINES]),
    max_size=16,
)


@settings(max_examples=500, deadline=None)
@given(pieces, st.lists(st.integers(0, 300), max_size=12), st.lists(st.integers(0, 300), max_size=6))
def test_any_cuts_and_any_line_ends_give_what_the_whole_gives(
    parts: list[str], cuts: list[int], ends: list[int]
) -> None:
    masker = Masker((KEY, KEY[8:] + "aaa", "aaaaaaaa", TWO_LINES))
    text = "".join(parts)
    for end in ends:
        text = text[: end % (len(text) + 1)] + "\n" + text[end % (len(text) + 1) :]
    data = text.encode()
    shown = masked(masker, data, cuts)
    assert shown == whole(masker, data)
    assert not masker.found(shown) and not masker.found(shown.replace(b"\n", b""))


@pytest.mark.parametrize("width", [1, 17, 76])
def test_what_base64_prints_is_held_back_over_its_lines(width: int) -> None:
    masker = Masker((KEY,))
    text = base64.b64encode(f"abc{KEY}defg".encode()).decode() * 2
    data = "\n".join(text[at : at + width] for at in range(0, len(text), width)).encode() + b"\nthe end\n"
    stream, shown = OutputMasker(masker), list[bytes]()
    for at in range(len(data)):
        shown.append(stream.feed(data[at : at + 1]))
        assert not masker.found(b"".join(shown).replace(b"\n", b"")), "at no moment anything was let through"
    assert b"".join([*shown, stream.end()]) == whole(masker, data)
    assert MASK.encode() in b"".join(shown)


def test_bytes_that_are_no_text_pass_as_they_are() -> None:
    data = random.Random(1).randbytes(1 << 16) + b"\xff" * 9 + KEY.encode() + b"\x00\xc3"
    assert masked(Masker((KEY,)), data, [5, 9000, 65_540]) == whole(Masker((KEY,)), data)
    assert masked(Masker(), data, [7]) == data


def test_what_is_held_back_has_a_limit() -> None:
    stream = OutputMasker(Masker((KEY,)))
    shown = stream.feed(KEY[:5].encode()) + b"".join(stream.feed(b"\n" * 4096) for _ in range(64))
    assert len(shown) > 4096, "line ends without end are let through"
    assert shown + stream.end() == KEY[:5].encode() + b"\n" * (64 * 4096)

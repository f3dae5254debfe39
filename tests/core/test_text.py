"""Terminal safety and masking."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.core.redact import MASK, Masker, StreamMasker
from agenyx.core.tty import safe

SECRET = "sk-live-0123456789"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext é 😀", "plain\n\ttext é 😀"),
        ("\x1b]52;c;ZXZpbA==\x07", "\\x1b]52;c;ZXZpbA==\\x07"),
        ("over\rwrite", "over\\rwrite"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb", "a\\u202eb"),
        ("\udcff", "\\udcff"),
    ],
)
def test_controls_are_shown_not_sent(text: str, shown: str) -> None:
    assert safe(text) == shown


@given(st.text())
def test_nothing_that_a_terminal_obeys_gets_through(text: str) -> None:
    assert all(c in "\n\t" or (ord(c) >= 32 and not 127 <= ord(c) < 160) for c in safe(text))


@given(st.lists(st.integers(1, 30), max_size=8), st.text("sk-live0123456789 ", max_size=20), st.text(max_size=20))
def test_a_secret_is_found_wherever_the_stream_is_cut(cuts: list[int], before: str, after: str) -> None:
    whole = before + SECRET + after
    masker = Masker((SECRET,))
    stream = StreamMasker(masker)
    shown, position = "", 0
    for size in cuts:
        shown += stream.feed(whole[position : position + size])
        assert SECRET not in shown
        position += size
    shown += stream.feed(whole[position:]) + stream.end()
    assert SECRET not in shown
    assert shown == masker.text(whole)


def test_masks_are_recognisable_and_short_placeholders_are_no_secrets() -> None:
    assert Masker((SECRET,)).text(f"key={SECRET}!") == f"key={MASK}!"
    assert Masker(("x",)).text("xylophone") == "xylophone"


def test_a_secret_inside_another_is_masked_as_the_longer_one() -> None:
    assert Masker((SECRET, SECRET + "-more")).text(SECRET + "-more") == MASK

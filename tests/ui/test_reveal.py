"""Texts that try to look like something else when somebody has to approve them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.ui.reveal import reveal


@pytest.mark.parametrize(
    ("text", "shown", "warning"),
    [
        ("rm\u200b -rf", "rm\\u200b -rf", "hidden characters: U+200B zero width space x1"),
        ("a\u202eb", "a\\u202eb", "right-to-left override"),
        ("a\u00a0b", "a\\xa0b", "no-break space"),
        ("a\u3164b", "a\\u3164b", "hangul filler"),
        ("a\U000e0041b", "a\\U000e0041b", "tag latin capital letter a"),
        ("a\u00adb", "a\\xadb", "soft hyphen"),
        ("a\rb", "a\\x0db", "U+000D"),
        ("\x1b[2J", "\\x1b[2J", "U+001B"),
        ("x\u2028y", "x\\u2028y", "line separator"),
        ("a\ufe01", "a\\ufe01", "variation selector"),
        ("curl p\u0430ypal.com", "curl p\u0430ypal.com", "cyrillic small letter a"),
        ("ls" + " " * 500 + "; rm x", "ls[500 blanks]; rm x", "padding"),
        ("ls" + "\n" * 100 + "rm x", "ls\n[99 blank lines]\nrm x", "padding"),
    ],
)
def test_what_hides_is_shown_and_told(text: str, shown: str, warning: str) -> None:
    revealed = reveal(text)
    assert revealed.text == shown
    assert warning in " ".join(revealed.warnings)


@pytest.mark.parametrize(
    "text",
    [
        "plain\n\tindented " + "x" * 500,
        " " * 60 + "deeply indented",
        "naïve Müller 日本語 русский текст",
        "heart \u2764\ufe0f",
        "a\n\n\nb",
    ],
)
def test_honest_text_stays_as_it_is(text: str) -> None:
    assert reveal(text).text == text
    assert reveal(text).warnings == ()


@given(st.text())
def test_no_control_byte_passes(text: str) -> None:
    assert all(char.isprintable() or char in "\n\t" or ord(char) > 0x9F for char in reveal(text).text)

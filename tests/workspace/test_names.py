"""Names go out as clean text and come back as the same bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agenyx.workspace.names import parse, show


@given(st.binary(max_size=40))
def test_every_name_comes_back(name: bytes) -> None:
    shown = show(name)
    assert parse(shown) == name
    assert shown.encode("utf-8").decode() == shown
    assert shown.isprintable() or not any(c in shown for c in "\n\r\t\x1b\u2028\u202e")


@given(st.text(alphabet="\\x0123456789abcdefé\n", max_size=20))
def test_names_that_look_like_escapes_come_back(name: str) -> None:
    assert parse(show(name.encode())) == name.encode()


def test_ordinary_names_are_shown_as_they_are() -> None:
    for name in ("a.py", "grüße/日本.txt", "C:\\dir", "a b'c\"", "back\\slash"):
        assert show(name.encode()) == name


def test_what_would_corrupt_a_listing_is_escaped() -> None:
    assert show(b"caf\xe9") == "caf\\xe9"
    assert show(b"a\nb") == "a\\x0ab"
    assert show("a\u202eb".encode()) == "a\\xe2\\x80\\xaeb"
    assert show(b"a\\x41") == "a\\x5cx41"

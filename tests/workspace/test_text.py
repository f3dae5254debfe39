"""Every byte comes back, whatever the encoding; what is no text is said to be none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.workspace.text import decode, encode, lacks, line, line_ends, printable, remark, viewed


def comes_back(data: bytes) -> None:
    document = decode(data)
    if document is not None:
        assert document.bom + encode(document.text, document.encoding) == data


@given(st.binary(max_size=200))
def test_every_byte_comes_back(data: bytes) -> None:
    comes_back(data)


@given(st.binary(max_size=60), st.sampled_from([b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b""]))
def test_every_byte_comes_back_after_a_mark(data: bytes, bom: bytes) -> None:
    comes_back(bom + data)


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"", "utf-8"),
        ("grüße".encode(), "utf-8"),
        ("grüße".encode("latin-1"), "windows-1252"),
        ("€ „x“".encode("cp1252"), "windows-1252"),
        (bytes(range(1, 256)), "windows-1252"),
        ("grüße, señor ".encode() + b"\xff", "utf-8 with invalid bytes"),
        ("grüße".encode("utf-16"), "utf-16-le"),
        ("\ufeffgrüße".encode("utf-16-be"), "utf-16-be"),
    ],
)
def test_encodings_are_recognised(data: bytes, encoding: str) -> None:
    document = decode(data)
    assert document is not None
    assert document.encoding == encoding


def test_western_text_reads_as_it_was_written() -> None:
    document = decode("„Grüße“ – 5 €".encode("cp1252"))
    assert document is not None
    assert document.text == "„Grüße“ – 5 €"


@pytest.mark.parametrize("data", [b"\x89PNG\0", b"text\0text", b"\xff\xfe\0\0a\0\0\0", b"\xff\xfeabc"])
def test_binary_is_not_text(data: bytes) -> None:
    assert decode(data) is None


def test_a_foreign_character_is_named() -> None:
    assert lacks("café", "windows-1252") == ""
    assert lacks("a → b", "windows-1252") == "→"
    assert lacks("\x80", "windows-1252") == "\x80"
    assert lacks("x\ud800", "utf-8") == "\ud800"


@pytest.mark.parametrize(
    ("text", "ends"),
    [("a", "none"), ("a\nb", "lf"), ("a\r\nb\r\n", "crlf"), ("a\rb", "cr"), ("a\r\nb\n", "mixed"), ("a\rb\n", "mixed")],
)
def test_line_ends(text: str, ends: str) -> None:
    assert line_ends(text) == ends


def test_lines_are_counted_as_editors_count_them() -> None:
    assert viewed("a\r\nb\nc") == "a\nb\nc"
    assert viewed("a\rb\rc") == "a\nb\nc"
    assert viewed("progress 1\rprogress 2\nend") == "progress 1\rprogress 2\nend"


def test_bytes_that_are_no_text_are_shown_not_replaced() -> None:
    document = decode("é é ".encode() + b"\xff")
    assert document is not None
    assert printable(document.text) == "é é \\xff"
    assert line("aé".encode()[:-1], cut=True) == "a"
    assert line("caf\xe9".encode("latin-1")) == "café"
    assert line("caf\xe9".encode("latin-1") + b"!") == "café!"


def test_unusual_forms_are_put_into_words() -> None:
    document = decode(b"\xef\xbb\xbfa\r\nb\r\n")
    assert document is not None
    assert remark(document) == "UTF-8 with byte order mark, CRLF line ends"
    plain = decode(b"a\nb\n")
    assert plain is not None
    assert remark(plain) == ""

"""What bytes are is told from the bytes, and what is broken, huge or something else is no image."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenyx.core.pictures import PIXELS, SIDE, Broken, Picture, picture
from support import pictures
from support.pictures import GIF, IMAGES, JPEG, PDF, PNG, WEBP, png


@pytest.mark.parametrize(("mime", "data"), [(mime, data) for mime, found in IMAGES.items() for data in found])
def test_images_as_a_library_writes_them(mime: str, data: bytes) -> None:
    found = picture(data)
    assert found is not None
    assert (found.kind, found.mime, found.width, found.height) == ("image", mime, 24, 16)


def test_a_document() -> None:
    assert picture(PDF) == Picture("document", "application/pdf", "PDF document")
    with pytest.raises(Broken, match="cut off"):
        picture(PDF.replace(b"%%EOF", b""))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"text",
        b'<svg xmlns="http://www.w3.org/2000/svg"/>',
        b'<?xml version="1.0"?><svg/>',
        b"\x89PNG",
        b"RIFF\x10\0\0\0WAVEfmt ",
        b"PK\x03\x04" + PNG,
        b"\n" + PDF,
        b"BM" + bytes(60),
        b"%PDF-9",
    ],
)
def test_what_is_none(data: bytes) -> None:
    assert picture(data) is None


@pytest.mark.parametrize("data", [data for found in IMAGES.values() for data in found])
def test_what_is_cut_off_anywhere_is_refused(data: bytes) -> None:
    for end in range(12, len(data)):
        with pytest.raises(Broken):
            picture(data[:end])


@pytest.mark.parametrize(
    ("width", "height"), [(SIDE + 1, 1), (1, SIDE + 1), (SIDE, PIXELS // SIDE + 1), (2**32 - 1, 2**32 - 1)]
)
def test_huge_sizes_in_the_header_are_refused_without_decoding(width: int, height: int) -> None:
    with pytest.raises(Broken, match=r"pixels.*smaller copy"):
        picture(png(width, height))


def test_the_largest_that_is_taken() -> None:
    assert picture(png(SIDE, PIXELS // SIDE)) is not None
    with pytest.raises(Broken, match="no size"):
        picture(png(0, 5))


def test_a_polyglot_is_what_it_begins_as_or_nothing() -> None:
    found = picture(PNG + b"<script>alert(1)</script>PK\x03\x04")
    assert found is not None and found.mime == "image/png"
    assert picture(b"<html>" + PNG) is None
    with pytest.raises(Broken):
        picture(b"GIF89a=1;alert(1)//" + JPEG)


def test_endless_parts_end() -> None:
    began = time.monotonic()
    for data in (
        PNG[:33] + pictures.chunk(b"tEXt", b"") * 300_000 + PNG[33:],
        b"\xff\xd8" + b"\xff\xe0\0\2" * 300_000 + JPEG[2:],
        GIF[:-1] + b"!\xfe\0" * 300_000 + b";",
    ):
        with pytest.raises(Broken, match="too many"):
            picture(data)
    assert time.monotonic() - began < 5


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from([PNG, JPEG, GIF, WEBP]), st.lists(st.tuples(st.integers(0, 645), st.integers(0, 255)), max_size=8)
)
def test_whatever_is_damaged_it_is_an_image_a_refusal_or_nothing(data: bytes, changes: list[tuple[int, int]]) -> None:
    damaged = bytearray(data)
    for at, value in changes:
        damaged[at % len(damaged)] = value
    try:
        found = picture(bytes(damaged))
    except Broken:
        return
    assert found is None or (0 < found.width <= SIDE and 0 < found.height <= SIDE)

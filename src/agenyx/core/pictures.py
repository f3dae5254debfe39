"""What the bytes of an image or a document are, told from them alone: kind, size in pixels, whether they are whole.

Pure, without a library: nothing is decoded, only headers and the lengths of parts are followed. A name or a declared
media type counts for nothing. SVG is text and no image here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

SIDE = 8_000  # pixels of the longer side that servers take (AgentX §10: 8,192; Anthropic: 8,000)
PIXELS = 20_000_000  # of one image (AgentX §10)
PIECES = 100_000  # parts of one file that are followed

_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # markers that hold the size
_JPEG_ALONE = frozenset((0x01, *range(0xD0, 0xD9)))  # markers without a length
_PNG = b"\x89PNG\r\n\x1a\n"


class Picture(Struct, frozen=True):
    """`words` name it for people, such as "PNG image". Width and height in pixels, 0 for a document."""

    kind: Literal["image", "document"]
    mime: str
    words: str
    width: int = 0
    height: int = 0


class Broken(Exception):
    """It begins like an image and is none that can be shown; the text says why, as what follows "it"."""


def picture(data: bytes) -> Picture | None:
    """What the bytes are, None for anything else. Raises Broken."""
    if data.startswith(_PNG):
        return _sized("image/png", "PNG image", *_png(data))
    if data.startswith(b"\xff\xd8\xff"):
        return _sized("image/jpeg", "JPEG image", *_jpeg(data))
    if data.startswith((b"GIF87a", b"GIF89a")):
        return _sized("image/gif", "GIF image", *_gif(data))
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return _sized("image/webp", "WebP image", *_webp(data))
    if data.startswith((b"%PDF-1.", b"%PDF-2.")):
        if b"%%EOF" not in data[-2048:]:
            raise Broken("is cut off")
        return Picture("document", "application/pdf", "PDF document")
    return None


def _sized(mime: str, words: str, width: int, height: int) -> Picture:
    if not width or not height:
        raise Broken("has no size")
    if max(width, height) > SIDE or width * height > PIXELS:
        raise Broken(
            f"has {width:,} x {height:,} pixels, and at most {SIDE:,} a side and {PIXELS:,} in all can be shown; "
            "make a smaller copy with a shell command, then look at that"
        )
    return Picture("image", mime, words, width, height)


def _png(data: bytes) -> tuple[int, int]:
    if data[12:16] != b"IHDR" or len(data) < 33:
        raise Broken("has no header")
    at = len(_PNG)
    for _ in range(PIECES):
        size, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        at += 12 + size
        if at > len(data) or len(kind) < 4:
            raise Broken("is cut off")
        if kind == b"IEND":
            return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    raise Broken("has too many parts")


def _jpeg(data: bytes) -> tuple[int, int]:
    for marker, start, end in _segments(data):
        if marker in _JPEG_FRAMES:
            if end - start < 5:
                raise Broken("has no size")
            if data.rfind(b"\xff\xd9", end) < 0:
                raise Broken("is cut off")
            high, wide = data[start + 1 : start + 3], data[start + 3 : start + 5]
            return int.from_bytes(wide, "big"), int.from_bytes(high, "big")
    raise Broken("has no size")


def _segments(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Marker, and where its content begins and ends, up to the compressed data."""
    at = 2
    for _ in range(PIECES):
        if data[at : at + 1] != b"\xff":
            raise Broken("is cut off" if at >= len(data) else "is damaged")
        while data[at : at + 1] == b"\xff":
            at += 1
        if at >= len(data):
            raise Broken("is cut off")
        marker = data[at]
        at += 1
        if marker in _JPEG_ALONE:
            continue
        if marker in (0xD9, 0xDA):
            return
        size = int.from_bytes(data[at : at + 2], "big")
        if size < 2 or at + size > len(data):
            raise Broken("is cut off" if size >= 2 else "is damaged")
        yield marker, at + 2, at + size
        at += size
    raise Broken("has too many parts")


def _gif(data: bytes) -> tuple[int, int]:
    if len(data) < 14:
        raise Broken("is cut off")
    at = 13 + _palette(data[10])
    for _ in range(PIECES):
        match data[at : at + 1]:
            case b";":
                return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")
            case b"!":
                at = _blocks(data, at + 2)
            case b"," if at + 10 < len(data):
                at = _blocks(data, at + 11 + _palette(data[at + 9]))
            case _:
                raise Broken("is cut off" if at + 10 >= len(data) else "is damaged")
    raise Broken("has too many parts")


def _palette(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _blocks(data: bytes, at: int) -> int:
    """Where the list of blocks that begins at `at` has ended."""
    while at < len(data) and data[at]:
        at += 1 + data[at]
    if at >= len(data):
        raise Broken("is cut off")
    return at + 1


def _webp(data: bytes) -> tuple[int, int]:
    if int.from_bytes(data[4:8], "little") + 8 > len(data) or len(data) < 30:
        raise Broken("is cut off")
    match data[12:16]:
        case b"VP8X":
            return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
        case b"VP8L" if data[20] == 0x2F:
            bits = int.from_bytes(data[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 " if data[23:26] == b"\x9d\x01\x2a":
            return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF
        case _:
            raise Broken("is damaged")

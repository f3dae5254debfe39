"""The text in a file's bytes, and back without changing a byte: encodings, byte order marks, line ends.

Pure functions. Knows no file and no tool. `encode(decode(data)) == data` for everything that is text at all.
"""

from __future__ import annotations

import codecs
import re
from contextlib import suppress
from typing import Literal

from msgspec import Struct

Encoding = Literal["utf-8", "utf-8 with invalid bytes", "windows-1252", "utf-16-le", "utf-16-be"]
Ends = Literal["none", "lf", "crlf", "cr", "mixed"]

BINARY_WINDOW = 8192
_UTF16: dict[bytes, Encoding] = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_UTF32 = (b"\xff\xfe\0\0", b"\0\0\xfe\xff")
_STRAY = re.compile("[\udc80-\udcff]")
_FOREIGN = re.compile("[^\0-\x7f\udc80-\udcff]")
_SURROGATE = re.compile("[\ud800-\udfff]")

# windows-1252 as browsers read it (WHATWG): the five bytes it leaves out are themselves, so that all 256 map both ways.
_HIGH = "€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9dž\x9f"
_FROM_WESTERN = {0x80 + at: char for at, char in enumerate(_HIGH)}
# What a byte stands for goes back to it; a control that no byte stands for goes to what Latin-1 refuses.
_TO_WESTERN = dict.fromkeys(_FROM_WESTERN, "\uffff") | {ord(char): chr(0x80 + at) for at, char in enumerate(_HIGH)}


class Document(Struct, frozen=True):
    """Text without its byte order mark, line ends as they stand. A surrogate stands for a byte that is no text."""

    text: str
    encoding: Encoding
    bom: bytes

    @property
    def ends(self) -> Ends:
        return line_ends(self.text)


def line_ends(text: str) -> Ends:
    pairs = text.count("\r\n")
    found = {"crlf": pairs, "lf": text.count("\n") - pairs, "cr": text.count("\r") - pairs}
    kinds = [name for name, count in found.items() if count]
    if not kinds:
        return "none"
    match kinds:
        case ["lf"]:
            return "lf"
        case ["crlf"]:
            return "crlf"
        case ["cr"]:
            return "cr"
        case _:
            return "mixed"


def decode(data: bytes) -> Document | None:
    """None when the data is binary: a NUL near its beginning, UTF-32, or a torn UTF-16."""
    if data[:4] in _UTF32:
        return None
    if wide := _UTF16.get(data[:2]):
        try:
            return Document(data[2:].decode(wide, "surrogatepass"), wide, data[:2])
        except UnicodeDecodeError:
            return None
    if b"\0" in data[:BINARY_WINDOW]:
        return None
    bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
    body = data[len(bom) :]
    text, encoding = _bytewise(body)
    return Document(text, encoding, bom)


def _bytewise(data: bytes) -> tuple[str, Encoding]:
    try:
        return data.decode(), "utf-8"
    except UnicodeDecodeError:
        text = data.decode("utf-8", "surrogateescape")
    # Mostly good UTF-8 keeps its reading, with the strays untouched; else each byte is a character of its own.
    if len(_FOREIGN.findall(text)) >= len(_STRAY.findall(text)):
        return text, "utf-8 with invalid bytes"
    return data.decode("latin-1").translate(_FROM_WESTERN), "windows-1252"


def line(data: bytes, cut: bool = False) -> str:
    """One line of a file for the model. Of a line that was `cut`, a torn character at the end is left out."""
    for torn in range(4 if cut else 1):
        with suppress(UnicodeDecodeError):
            return data[: len(data) - torn].decode()
    return printable(_bytewise(data)[0])


def encode(text: str, encoding: Encoding) -> bytes:
    """Bytes of a piece of a document. Raises UnicodeEncodeError where the encoding lacks a character."""
    match encoding:
        case "utf-8":
            return text.encode()
        case "utf-8 with invalid bytes":
            return text.encode("utf-8", "surrogateescape")
        case "windows-1252":
            return text.translate(_TO_WESTERN).encode("latin-1")
        case "utf-16-le" | "utf-16-be":
            return text.encode(encoding, "surrogatepass")


def lacks(text: str, encoding: Encoding) -> str:
    """The first character of `text` that the encoding cannot hold; "" if it holds all."""
    try:
        encode(text, "utf-8" if encoding == "utf-8 with invalid bytes" else encoding)
    except UnicodeEncodeError as error:
        return text[error.start]
    return ""


def viewed(text: str) -> str:
    r"""The text with \n as its only line end, as lines are counted. A lone \r ends a line only if nothing else does."""
    if "\r" not in text:
        return text
    text = text.replace("\r\n", "\n")
    return text if "\n" in text else text.replace("\r", "\n")


def printable(text: str) -> str:
    r"""Text for the model: what is no character is shown as `\xNN` or `\udNNN`; nothing becomes U+FFFD."""

    def escape(match: re.Match[str]) -> str:
        code = ord(match[0])
        return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"

    return _SURROGATE.sub(escape, text)


def remark(document: Document) -> str:
    """What is unusual about a file's form, in words; "" for plain UTF-8 with LF."""
    notes: list[str] = []
    if document.encoding != "utf-8":
        notes.append(f"encoding {document.encoding}")
    elif document.bom:
        notes.append("UTF-8 with byte order mark")
    if document.ends not in ("none", "lf"):
        notes.append(f"{document.ends.upper() if document.ends != 'mixed' else 'mixed'} line ends")
    return ", ".join(notes)

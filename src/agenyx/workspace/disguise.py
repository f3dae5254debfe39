"""Whether a word is text in disguise (Base64, Base32, hexadecimal) or random. Pure, linear; knows no address."""

from __future__ import annotations

import binascii
import re
from itertools import pairwise

_RUN = re.compile(r"[A-Za-z0-9+/_-]{20,}={0,2}")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:[0-9a-f]{24,}|[0-9A-F]{24,})(?![0-9A-Za-z])")
_BASE32 = re.compile(r"(?<![0-9A-Za-z])(?:[A-Z2-7]{24,}|[a-z2-7]{24,})(?![0-9A-Za-z])")
_PARTS = re.compile(r"[A-Za-z0-9+]+")
_DIGESTS = (96, 128)  # characters of the digests in hexadecimal that are longer than ordinary names
STRICT, LOOSE = 0.42, 0.3  # how often the kind of character changes; in CamelCase at every third place
_SHORTEST = 15  # bytes; of shorter ones too many read as text by chance


def disguised(text: str) -> bool:
    """Whether a part of the text, decoded, is text again: chance makes that of 15 random bytes once in a million."""
    for found in _HEX.finditer(text):
        if _reads(binascii.unhexlify(found[0][: len(found[0]) // 2 * 2])):
            return True
    for found in _BASE32.finditer(text):
        if _reads(_base32(found[0].upper())):
            return True
    return any(_base64(run) for found in _RUN.finditer(text) for run in (found[0], *_PARTS.findall(found[0])))


def _base64(run: str) -> bool:
    word = run.rstrip("=").replace("-", "+").replace("_", "/")
    if len(word) < 20:
        return False
    for start in range(4):  # something may stand before it
        piece = word[start:]
        piece = piece[: len(piece) // 4 * 4]
        if _reads(binascii.a2b_base64(piece)):
            return True
    return False


def _base32(word: str) -> bytes:
    bits, size, out = 0, 0, bytearray()
    for char in word:
        bits = (bits << 5 | ("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".index(char))) & 0xFFFF
        size += 5
        if size >= 8:
            size -= 8
            out.append(bits >> size & 0xFF)
    return bytes(out)


def _reads(data: bytes) -> bool:
    """Whether bytes are text. A torn character at the end is left out."""
    if len(data) < _SHORTEST:
        return False
    for torn in range(4):
        try:
            text = data[: len(data) - torn].decode()
        except UnicodeDecodeError:
            continue
        return all(char.isprintable() or char in "\n\r\t" for char in text)
    return False


def random_part(text: str, limit: float) -> str:
    """What looks random in a text, "" where that is less than 32 characters.

    Words and numbers change their kind of character seldom, random ones at every second place; `limit` is how often
    is too often for words in mixed letters, STRICT or LOOSE. LOOSE also takes what signs cut into short parts.
    """
    parts = _PARTS.findall(text)
    found = "".join(part for part in parts if len(part) >= 10 and _random([part], limit))
    if len(found) < 32 and limit == LOOSE and _random(parts, STRICT):
        found = "".join(parts)
    return found if len(found) >= 32 else ""


def _random(parts: list[str], limit: float) -> bool:
    whole = "".join(parts)
    if whole.isdigit():
        return len(whole) >= 32 and len(parts) == 1
    pairs = [pair for part in parts for pair in pairwise(map(_kind, part))]
    changes = sum(a != b for a, b in pairs) / max(len(pairs), 1)
    mixed = whole.lower() != whole and whole.upper() != whole
    return changes > (limit if mixed else 0.2 if len(parts) == 1 else limit)


def _kind(char: str) -> int:
    return 0 if char.islower() else 1 if char.isupper() else 2


def is_digest(run: str) -> bool:
    """Whether a long random part is a digest."""
    return len(run) in _DIGESTS and re.fullmatch(r"[0-9a-f]+", run) is not None

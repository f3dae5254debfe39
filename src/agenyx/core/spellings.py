"""How a secret may stand in bytes that leave, and the mask that stands in its place. Pure.

The spellings are a bounded list of what programs use every day, not a proof: whoever may run commands can write a
secret in ways of their own (reversed, in pieces).
"""

from __future__ import annotations

import binascii
import re
from urllib.parse import quote

from agenyx.core import json
from agenyx.core.errors import ConfigError

SHORTEST = 8  # bytes; a shorter spelling would be found inside ordinary words
MASK = "[REDACTED]"
# Where the usual mask could touch a secret: ten of one sign that hardly any text holds.
MASKS = (MASK, *(sign * 10 for sign in "▩▨▧▦▥▤▣"))
_ANY = re.compile("|".join(map(re.escape, MASKS)))
_HTML = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}


def spellings(secret: str) -> tuple[str, ...]:
    """The secret itself, then its spellings in JSON, addresses, HTML, Base64 (at each alignment) and hexadecimal."""
    text = json.scrub(secret)
    data = text.encode()
    once = json.encode(text).decode()[1:-1]
    percent = quote(text, safe="")
    plain = (
        secret,
        text,
        once,
        json.encode(once).decode()[1:-1],
        once.replace("/", "\\/"),
        _ascii(once),
        percent,
        _lower(percent),
        "".join(_HTML.get(c, c) for c in text),
    )
    forms = (*plain, *_base64(data), data.hex(), data.hex().upper())
    return tuple(dict.fromkeys(form for form in forms if len(form.encode("utf-8", "surrogatepass")) >= SHORTEST))


def _ascii(once: str) -> str:
    """JSON text as encoders write it that keep to ASCII."""
    if once.isascii():
        return once
    units = ((once[at], once[at].encode("utf-16-be").hex()) for at in range(len(once)))
    return "".join(c if c.isascii() else "".join(f"\\u{u[i : i + 4]}" for i in range(0, len(u), 4)) for c, u in units)


def _lower(percent: str) -> str:
    """The same with small hexadecimal digits."""
    head, *others = percent.split("%")
    return head + "".join(f"%{part[:2].lower()}{part[2:]}" for part in others)


def _base64(data: bytes) -> list[str]:
    """The characters that the secret alone decides, wherever it lies in what was encoded, in both alphabets."""
    forms: list[str] = []
    for before in range(3):
        encoded = binascii.b2a_base64(b"\0" * before + data, newline=False).decode()
        whole = encoded[(before * 8 + 5) // 6 : (before + len(data)) * 8 // 6]
        forms += (whole, whole.replace("+", "-").replace("/", "_"))
    return forms


def mask_in(text: str) -> str:
    """The first mask of any kind that a text holds, "" if it holds none."""
    found = _ANY.search(text)
    return found[0] if found else ""


def safe_mask(literals: tuple[str, ...]) -> str:
    """A mask that neither holds a literal nor can become one together with the text beside it. Raises ConfigError."""
    for mask in MASKS:
        if not any(_touches(mask, literal) for literal in literals):
            return mask
    raise ConfigError("the secrets hold every sign that could mask them", "Use keys of plain ASCII characters.")


def _touches(mask: str, literal: str) -> bool:
    if literal in mask or mask in literal:
        return True
    sizes = range(1, min(len(mask), len(literal)))
    return any(mask[-size:] == literal[:size] or literal[-size:] == mask[:size] for size in sizes)

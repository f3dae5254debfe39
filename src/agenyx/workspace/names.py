r"""File names as text and back. Names are bytes to the system; a name that is not clean UTF-8 is shown with `\xNN`.

Owns the escaping only; knows no folder. `parse(show(name)) == name` for every name, so what a tool prints can be given
back to a tool.
"""

from __future__ import annotations

import re

from agenyx.core.json import scrub

# Bytes that are no UTF-8 (as surrogates), controls, line separators and bidirectional marks would corrupt a listing;
# a backslash is escaped only where it would read as an escape itself.
_UNCLEAN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\udc80-\udcff]|\\\\(?=x[0-9a-fA-F]{2})")
_ESCAPE = re.compile(rb"\\x([0-9a-fA-F]{2})")


def show(name: bytes) -> str:
    """Text that can be printed in one line and encoded as UTF-8."""

    def escape(match: re.Match[str]) -> str:
        return "".join(f"\\x{byte:02x}" for byte in match[0].encode("utf-8", "surrogateescape"))

    return _UNCLEAN.sub(escape, name.decode("utf-8", "surrogateescape"))


def literal(text: str) -> bytes:
    """The bytes of a name exactly as it is spelled, escapes not read."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return scrub(text).encode()


def parse(text: str) -> bytes:
    """The name that `show` printed as this text."""
    return _ESCAPE.sub(lambda match: bytes((int(match[1], 16),)), literal(text))

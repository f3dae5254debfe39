"""Makes foreign text safe for a terminal: only our own renderer emits control bytes."""

from __future__ import annotations

import re

_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def safe(text: str) -> str:
    r"""Show C0 and C1 controls, bidirectional overrides and lone surrogates as `\x1b`-like escapes; \n and \t pass."""

    def show(match: re.Match[str]) -> str:
        code = ord(match[0])
        return "\\r" if code == 13 else f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"

    return _UNSAFE.sub(show, text)

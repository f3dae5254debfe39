"""Makes foreign text safe for a terminal, where only our own renderer emits control bytes; makes the unseen visible."""

from __future__ import annotations

import re
from collections import Counter

# What reorders text or takes no room (Unicode: Bidi_Control, Default_Ignorable_Code_Point, line separators, tags).
# The emoji selectors U+FE0E and U+FE0F pass; joiners pass behind a letter or sign that they belong to.
_UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-"
    "\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_JOINED = "[\u0590-\u0eff\u1000-\u109f\u1780-\u18af\u2190-\u2bff\ufe0f\U0001f000-\U0001faff]"
_STRAY = f"(?<!{_JOINED})[\u200c\u200d]"

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f]")  # all that text in ASCII can hold
_UNSAFE = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_UNSEEN}\ud800-\udfff]|{_STRAY}")
_INVISIBLE = re.compile(f"[{_UNSEEN}]|{_STRAY}")
_MORE = re.compile(f"[\x7f-\x9f{_UNSEEN}\u200c\u200d]")


def safe(text: str) -> str:
    r"""Show C0 and C1 controls, lone surrogates and what `visible` shows as `\x1b`-like escapes; \n and \t pass."""
    return (_CONTROLS if text.isascii() else _UNSAFE).sub(_escape, text)


def visible(text: str) -> str:
    r"""Text for the model: characters that reorder it or cannot be seen as `\u202e`-like escapes; controls pass."""
    return text if text.isascii() else _INVISIBLE.sub(_escape, text)


def unseen(text: str) -> str:
    """What `visible` would change, in words: "U+202E x2, U+200B"; "" where there is nothing."""
    if text.isascii():
        return ""
    found = Counter(match[0] for match in _INVISIBLE.finditer(text))
    named = [f"U+{ord(char):04X}{f' x{count}' if count > 1 else ''}" for char, count in sorted(found.items())]
    return ", ".join(named[:10]) + (f" and {len(named) - 10} more kinds" if len(named) > 10 else "")


def json_safe(data: bytes) -> bytes:
    """JSON with what a terminal must not get escaped as JSON does it, so that it still means the same."""
    if data.isascii() and b"\x7f" not in data:
        return data

    def escape(match: re.Match[str]) -> str:
        units = match[0].encode("utf-16-be").hex()
        return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))

    return _MORE.sub(escape, data.decode("utf-8", "replace")).encode()


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code == 13:
        return "\\r"
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"

"""Makes text of servers fit to be shown and stored: scrubbed, visible, within a size. Pure."""

from __future__ import annotations

from agenyx.core.json import scrub
from agenyx.core.tty import safe

DESCRIPTION_BYTES = 2048
NAME_BYTES = 256
CUT = " …"


def clean(value: object, most: int = DESCRIPTION_BYTES) -> str:
    """The text with control and hidden characters as escapes, of at most `most` bytes; "" for what is no text."""
    if not isinstance(value, str):
        return ""
    # Cut before and after: escapes are longer than what they stand for.
    text = safe(scrub(value[: most + 1]).replace("\r\n", "\n"))
    if len(value) <= most and len(text) * 4 <= most:
        return text
    data = text.encode()
    if len(data) <= most and len(value) <= most:
        return text
    return data[: most - len(CUT.encode())].decode("utf-8", "ignore").rstrip() + CUT


def is_name(value: object) -> bool:
    """Whether it may name something: printable, not empty, at most NAME_BYTES."""
    return isinstance(value, str) and 0 < len(value.encode("utf-8", "replace")) <= NAME_BYTES and value == safe(value)


def one_line(value: object, most: int = 300) -> str:
    """The text in one line, for sentences about a server."""
    return " ".join(clean(value, most).split())

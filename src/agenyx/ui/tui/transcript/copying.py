"""Copies of text: to the clipboard of the terminal by OSC 52, or into a file that only its owner can read.

Nothing tells whether a terminal took what it was sent, so what was done is said, and never more than that.
"""

from __future__ import annotations

import base64
import os
import tempfile
from collections.abc import Mapping
from typing import Literal

Level = Literal["info", "warning", "error"]
MOST = 74_994  # bytes: many terminals drop sequences of more than 100,000 characters
_DUMB = ("", "dumb", "linux", "vt100", "vt220")


def sequence(text: str, env: Mapping[str, str]) -> str:
    """What makes the terminal take the text; "" where that is too long for that, or the terminal cannot."""
    data = text.encode("utf-8", "replace")
    if len(data) > MOST or env.get("TERM", "") in _DUMB:
        return ""
    own = f"\x1b]52;c;{base64.b64encode(data).decode()}\x07"
    if not env.get("TMUX"):
        return own
    doubled = own.replace("\x1b", "\x1b\x1b")
    return (
        f"{own}\x1bPtmux;{doubled}\x1b\\"  # the first for tmux itself (set-clipboard), the other for what is around it
    )


def told(text: str, env: Mapping[str, str]) -> str:
    """What was done when the sequence was written."""
    tmux = "; tmux passes it on if set-clipboard or allow-passthrough is on" if env.get("TMUX") else ""
    return f"{_size(text)} sent to the clipboard of the terminal (OSC 52){tmux}."


def kept(text: str, env: Mapping[str, str]) -> tuple[str, Level]:
    """Write the text to a file instead; returns what was done, in words, and "info" or "error". Blocks."""
    try:
        path = keep(text, env)
    except OSError as error:
        return f"It could not be copied: {error.strerror or error}. Select it with the mouse instead.", "error"
    long = len(text.encode("utf-8", "replace")) > MOST
    why = "too long for the clipboard" if long else "this terminal has no clipboard"
    return f"{_size(text)}, {why}: written to {path}", "info"


def _size(text: str) -> str:
    lines = text.count("\n") + 1
    return f"{lines:,} lines" if lines > 1 else f"{len(text):,} character{'' if len(text) == 1 else 's'}"


def keep(text: str, env: Mapping[str, str]) -> str:
    """Write text into a new file with a name that nobody can guess, mode 0600; returns its path. Raises OSError."""
    runtime = env.get("XDG_RUNTIME_DIR", "")
    folder = runtime if os.path.isabs(runtime) and os.path.isdir(runtime) else None
    descriptor, path = tempfile.mkstemp(prefix="agenyx-copy-", suffix=".txt", dir=folder)
    with open(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)
    return path

"""What comes from a terminal: keys, or a paste that must not act like keys. Pure but for the clock it is given.

A paste may hold the mark that ends it, and go on as keys (an Enter, a Ctrl+C); a terminal without marks sends a paste
as keys from the start. Both are told from typing by what comes in one moment: people type few keys at once.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from agenyx.core.json import scrub

START, END = "\x1b[200~", "\x1b[201~"  # bracketed paste (xterm)
MOMENT = 0.05  # seconds after a paste in which more than one key belongs to it
TYPED = 24  # characters that somebody may have typed while the line was slow
AHEAD = 8  # of them behind an Enter

# No control but line feed and tab is text.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_KEYS = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^\[O])", re.DOTALL)  # Alt+Enter, arrows and the like


def pasted(text: str) -> str:
    """Pasted text without controls, line ends as line feeds."""
    return _CONTROLS.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def typed(text: str) -> str:
    """Input as clean text: bytes that the locale could not read are UTF-8, line ends are line feeds."""
    clean = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace") if not text.isascii() else text
    return scrub(clean.replace("\r\n", "\n").replace("\r", "\n"))


class Intake:
    """Give it every read, in order; it returns what the key parser is to get."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._held: list[str] | None = None  # of a paste that has not ended
        self._seam = ""  # the end of it, where its mark may have begun
        self._begun, self._until = "", 0.0  # what was passed on last, if a START may have begun with it
        self._marked = self._bare = -1.0  # until when keys belong to a paste with marks, or without

    def __call__(self, data: str) -> str:
        now = self._clock()
        if self._held is not None:
            return self._ended(data, now)
        joined = (self._begun if now < self._until else "") + data
        at = joined.find(START)
        self._begun, self._until = _begin_of_start(joined) if at < 0 else "", now + MOMENT
        if at >= 0:
            known = len(joined) - len(data)  # was passed on already
            head, mark = joined[known:at], START[max(known - at, 0) :]
            self._held = []
            return self._keys(head, now) + mark + self._ended(joined[at + len(START) :], now)
        if END in data or (now < self._marked and len(data) > 1):  # the paste ended itself too early
            self._marked = now + MOMENT
            return START + pasted(data.replace(END, "")) + END
        return self._keys(data, now)

    def _ended(self, data: str, now: float) -> str:
        """The paste, if its end has come. The last mark of the moment ends it, and what follows at once is text too."""
        held = self._held if self._held is not None else []
        held.append(data)
        self._seam += data
        if END not in self._seam:
            self._seam = self._seam[1 - len(END) :]
            return ""
        self._held, self._seam, self._marked = None, "", now + MOMENT
        return pasted("".join(held).replace(END, "").replace(START, "")) + END

    def _keys(self, data: str, now: float) -> str:
        """Keys. Where they are a paste without marks, Enter is a new line and sends nothing."""
        if not (_is_paste(data) or (now < self._bare and len(data) > 1)):
            return data
        self._bare = now + MOMENT
        return data.replace("\r", "\n")


def _is_paste(data: str) -> bool:
    first, *others = _KEYS.sub("", data).split("\r")
    if not others:
        return False
    last = others.pop()
    return any(others) or len(last) > AHEAD or (bool(last) and len(first) + len(last) > TYPED)


def _begin_of_start(text: str) -> str:
    return next((START[:size] for size in range(len(START) - 1, 0, -1) if text.endswith(START[:size])), "")

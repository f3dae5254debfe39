"""Draws the events of an installation: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from typing import TextIO

from agenyx.core.tty import safe
from agenyx.llm.local.sources import Checking, Event, Fetching, Turned

REFRESH = 0.1  # seconds between two pictures of the bar


class Progress:
    """Draws events: a bar on a terminal, a line every tenth elsewhere. Called from several threads, one at a time."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._tty = out.isatty()
        self._drawn = False
        self._next = 0.0
        self._said: tuple[str, int] = ("", -1)
        self._first: tuple[str, int, float] = ("", 0, 0.0)

    def show(self, event: Event) -> None:
        match event:
            case Fetching(done=done, total=total):
                self._amount("Fetching", done, total)
            case Checking(done=done, total=total):
                self._amount("Checking", done, total)
            case Turned(why=why, to=to):
                self.end()
                self._out.write(safe(f"{why}\nTrying {to}\n"))

    def _amount(self, word: str, done: int, total: int) -> None:
        now = time.monotonic()
        if self._first[0] != word:
            self.end()
            self._first = (word, done, now)
        of = f" of {total / 1e6:,.0f} MB" if total else " MB"
        text = f"{word} {done / 1e6:,.0f}{of}"
        if not self._tty:
            tenth = 10 * done // total if total else done // 100_000_000
            if self._said != (word, tenth):
                self._said = (word, tenth)
                self._out.write(text + "\n")
                self._out.flush()
            return
        if now < self._next and done != total:
            return
        self._next = now + REFRESH
        rate = (done - self._first[1]) / max(now - self._first[2], 0.001) / 1e6
        full = 30 * done // total if total else 0
        bar = f" [{'#' * full}{'.' * (30 - full)}]" if total else ""
        self._out.write(f"\r\x1b[K{text}{bar} {rate:.0f} MB/s")
        self._out.flush()
        self._drawn = True

    def end(self) -> None:
        """Leave the line of the bar."""
        if self._drawn:
            self._out.write("\n")
            self._drawn = False

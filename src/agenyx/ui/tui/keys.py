"""Keys, mouse and pastes of a terminal as events of the toolkit. Pure but for the clock of `ui.intake`."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from textual._xterm_parser import XTermParser
from textual.events import Paste
from textual.message import Message

from agenyx.ui.intake import END, START, Intake

BURST = 64  # printable characters in one read that nobody typed
_ALT_ENTER = re.compile("\x1b[\r\n]")  # the toolkit hears Enter alone
_OTHER = re.compile("\x1b\\[27;(\\d{1,2});(\\d{1,7})~")  # xterm's and tmux's way to tell keys with modifiers


class Keys:
    """Feed it every read, in order. `cooked` bytes at the start were typed when Enter still was a line feed."""

    def __init__(self, cooked: int = 0) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._intake, self._parser = Intake(), XTermParser()
        self._paste: list[str] | None = None
        self._cooked = cooked

    @property
    def waits(self) -> bool:
        """Whether an escape may begin a sequence or be a key: time tells."""
        return self._parser._timeout_time is not None  # pyright: ignore[reportPrivateUsage]

    def feed(self, data: bytes) -> Iterator[Message]:
        if self._cooked:
            early, data = data[: self._cooked], data[self._cooked :]
            self._cooked -= len(early)
            data = early.replace(b"\n", b"\r") + data
        yield from self._parts(self._intake(self._decode(data)))

    def tick(self) -> Iterator[Message]:
        """Some time has passed."""
        yield from self._parser.tick()

    def _parts(self, text: str) -> Iterator[Message]:
        while text:
            if self._paste is None:
                keys, mark, text = text.partition(START)
                yield from self._keys(keys)
                self._paste = [] if mark else None
            else:
                part, mark, text = text.partition(END)
                self._paste.append(part)
                if mark:
                    pasted, self._paste = "".join(self._paste), None
                    yield Paste(pasted)

    def _keys(self, text: str) -> Iterator[Message]:
        if len(text) >= BURST and text.replace("\n", "").replace("\t", "").isprintable():
            yield Paste(text)
        elif text:
            if "\x1b" in text:
                text = _OTHER.sub("\x1b[\\2;\\1u", _ALT_ENTER.sub("\x1b[13;3u", text))
            yield from self._parser.feed(text)

"""Search in the transcript: the line that one types into, and the way from one place to the next."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual import events

from agenyx.ui.scene.blocks import Block
from agenyx.ui.spans import plain
from agenyx.ui.tui.field import Field
from agenyx.ui.tui.transcript.plain import text_of
from agenyx.ui.tui.transcript.window import Window

_AT_ONCE = 200  # blocks that are looked through before others get a turn


class FindBar(Field):
    """One row below the transcript. `wanted` gets the text when Enter ends it, "" when Esc does."""

    DEFAULT_CSS = "FindBar { height: 1; background: $panel; }"

    def __init__(self, wanted: Callable[[str], None]) -> None:
        super().__init__(label=" Search up: ")
        self._wanted = wanted

    def on_key(self, event: events.Key) -> None:
        if event.key in ("enter", "escape"):
            event.stop()
            event.prevent_default()
            self._wanted(self.text if event.key == "enter" else "")


class Search:
    """`text` is what is looked for; capital letters count only where it has some. `open_` shows all of a block."""

    def __init__(self, window: Window, text: str, open_: Callable[[int, Block], None]) -> None:
        self._window, self.text, self._open = window, text, open_
        self._exact = text != text.lower()
        self.at: tuple[int, int] | None = None  # the block where it was found last, and which row of it

    def places(self, row: str) -> list[tuple[int, int]]:
        """Where the text stands in a row."""
        row = row if self._exact else row.lower()
        found: list[tuple[int, int]] = []
        at = row.find(self.text)
        while at >= 0 and self.text:
            found.append((at, at + len(self.text)))
            at = row.find(self.text, at + len(self.text))
        return found

    async def go(self, up: bool) -> tuple[int, int, bool] | None:
        """The next place: the block's index, the row in it, and whether the search began anew at the other end."""
        window, blocks = self._window, self._window.scene.blocks
        count = len(blocks)
        if not count or not self.text:
            return None
        index, row = self.at or self._begin()
        index = min(index, count - 1)
        if (found := self._in(index, row, up)) is not None:
            self.at = (index, found)
            return index, found, False
        added = blocks.added
        for step in range(1, count + 1):
            if step % _AT_ONCE == 0:
                await asyncio.sleep(0)
            at = (index + (-step if up else step)) % count
            if blocks is not window.scene.blocks or blocks.added != added or at >= len(blocks):
                return None
            if self._holds(blocks[at]):
                self._open(at, blocks[at])
                edge = len(window.rendered(at).rows) if up else -1
                found = self._in(at, edge, up)
                self.at = (at, found or 0)
                return at, found or 0, (at >= index) if up else (at <= index)
        return None

    def _begin(self) -> tuple[int, int]:
        """Below all that is in view."""
        window = self._window
        index, _ = window.place(window.top + window.height - 1)
        return index, max(window.top + window.height - window.start(index), 0)

    def _holds(self, block: Block) -> bool:
        text = text_of(block)
        return self.text in (text if self._exact else text.lower())

    def _in(self, index: int, row: int, up: bool) -> int | None:
        """The nearest row of a block with the text, above or below the given one."""
        rows = self._window.rendered(index).rows
        places = range(min(row, len(rows)) - 1, -1, -1) if up else range(row + 1, len(rows))
        return next((at for at in places if self.places(plain(rows[at]))), None)

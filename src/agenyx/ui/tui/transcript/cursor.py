"""The block that keys act on: going from one to the next, those inside a subagent's card included. Knows no toolkit."""

from __future__ import annotations

from agenyx.ui.scene.blocks import Block, Card
from agenyx.ui.tui.transcript.window import Window


class Cursor:
    """`key` is that of the block, 0 for none; `index` the one it stands in, among those of the scene."""

    def __init__(self, window: Window) -> None:
        self._window = window
        self.key = self.index = 0

    def set(self, index: int, key: int) -> None:
        self.index, self.key = index, key

    def first(self) -> None:
        """Go to the oldest block."""
        if len(self._window):
            self.set(0, self._parts(0)[0][1])

    def last(self) -> None:
        """Go to the newest block."""
        if count := len(self._window):
            self.set(count - 1, self._parts(count - 1)[-1][1])

    def shift(self, count: int) -> None:
        """So many blocks were added before the first."""
        self.index += count

    def valid(self) -> bool:
        """Whether it is on a block that there is; finds it again where blocks before it went."""
        blocks = self._window.scene.blocks
        if not self.key:
            return False
        for index in (self.index, *range(len(blocks) - 1, blocks.live - 1, -1)):
            if index < len(blocks) and any(key == self.key for _, key in self._parts(index)):
                self.index = index
                return True
        self.key = 0
        return False

    def begin(self) -> None:
        """Go to the last block in view, if on none in view."""
        window = self._window
        if not len(window):
            return
        if self.valid():
            first, last = self.rows()
            if first < window.top + window.height and last > window.top:
                return
        last = min(window.top + window.height, window.total) - 1
        self.set(*window.place(last))

    def step(self, down: bool) -> None:
        """Go to the block above or below, and bring it into view; rows of a long one come first, a page at a time."""
        window, before = self._window, self.key
        self.begin()
        if self.key != before or not self.key:
            return
        first, last = self.rows()
        if down and last > window.top + window.height and first < window.top + window.height:
            window.move(min(max(window.height - 2, 1), last - window.top - window.height))
            return
        if not down and first < window.top < last:
            window.move(-min(max(window.height - 2, 1), window.top - first))
            return
        found = self._beside(down)
        if found is None:
            if down:
                window.to_end()
            return
        before = window.scene.blocks.added
        self.set(*found)
        self.show()
        self.shift(window.scene.blocks.added - before)

    def show(self) -> None:
        """Bring it into view."""
        first, last = self.rows()
        self._window.show(self.index, first - self._base(), last - self._base())

    def rows(self) -> tuple[int, int]:
        """Its first row and the one behind its last, counted as `Window.top` is."""
        parts = self._parts(self.index)
        at = next((number for number, (_, key) in enumerate(parts) if key == self.key), 0)
        end = len(self._window.rendered(self.index).rows)
        last = parts[at + 1][0] if at + 1 < len(parts) else end
        return self._base() + parts[at][0], self._base() + max(last, parts[at][0] + 1)

    def block(self) -> Block | None:
        """The block itself."""
        if not self.valid():
            return None
        return find(self._window.scene.blocks[self.index], self.key)

    def _base(self) -> int:
        return self._window.start(self.index)

    def _parts(self, index: int) -> list[tuple[int, int]]:
        return self._window.rendered(index).parts

    def _beside(self, down: bool) -> tuple[int, int] | None:
        keys = [key for _, key in self._parts(self.index)]
        at = keys.index(self.key) + (1 if down else -1)
        if 0 <= at < len(keys):
            return self.index, keys[at]
        index = self.index + (1 if down else -1)
        if not 0 <= index < len(self._window):
            return None
        parts = self._parts(index)
        return index, parts[0 if down else -1][1]


def find(block: Block, key: int) -> Block | None:
    """The block of this key: this one, or one inside."""
    if block.key == key:
        return block
    inner = block.inner if isinstance(block, Card) else []
    return next((found for one in inner if (found := find(one, key)) is not None), None)

"""Which rows of a conversation are seen: heights of all blocks, rows of those that are looked at. Knows no toolkit.

A block that was never seen has an estimated height; it is drawn, and its height made right, when it comes into view.
What is at the top stays there meanwhile: the place is kept as a block and a row of it, never as a number of rows.
"""

from __future__ import annotations

from array import array

from agenyx.ui.scene.blocks import Answer, Block, Change, Complaint, End, Note, Said, Typed
from agenyx.ui.scene.scene import Scene
from agenyx.ui.spans import Line
from agenyx.ui.tui.transcript.heights import Heights
from agenyx.ui.tui.transcript.render import Rendered, Renderer, gap

_EDGE = 40  # blocks from the oldest on at which older ones are fetched


class Window:
    """`width` and `height` of what is seen; `top` is the first row of it, counted from the oldest block.

    While it `follows` the end stays in view.
    """

    def __init__(self, scene: Scene, renderer: Renderer) -> None:
        self.scene, self.renderer = scene, renderer
        self.width, self.height = 80, 24
        self.follows = True
        self.top = 0
        self._at = (0, 0)  # the block at the top, and which of its rows
        self._left: tuple[int, int] | None = None  # the last block and its height when the end was left
        self._begun = -1
        self._clear()

    def _clear(self) -> None:
        self._heights = Heights()
        self._exact = bytearray()
        self._keys, self._versions, self._stamps = array("q"), array("q"), array("q")
        self._lines, self._chars = array("I"), array("I")  # of the texts, for estimates
        self._live = self._added = 0

    def __len__(self) -> int:
        return len(self._heights)

    @property
    def total(self) -> int:
        """Rows of all blocks."""
        return self._heights.total

    @property
    def below(self) -> int:
        """Rows that are new since the end was left, and not in view."""
        if self._left is None or self.follows:
            return 0
        index, height = self._left
        index = min(index, len(self) - 1)
        new = self.total - self._heights.above(index) - height
        return max(min(new, self.total - self.top - self.height), 0)

    # --- what changed ------------------------------------------------------------------------------------------------

    def sync(self) -> None:
        """Take in what changed in the scene."""
        scene = self.scene
        if self._begun != scene.begun:
            self._begun = scene.begun
            self._clear()
            self._at, self._left, self.follows = (0, 0), None, True
            self.renderer.restart()
        blocks = scene.blocks
        if grown := blocks.added - self._added:
            self._put_before(grown)
        count = len(self)
        for index in range(min(self._live, len(blocks)), len(blocks)):
            block = blocks[index]
            if index < len(self) and self._keys[index] != block.key:
                self._cut(index)
            if index >= len(self):
                self._append(block)
            elif self._versions[index] != block.version or self._stamps[index] != self.renderer.stamp(block):
                self._measure(index, block)
        if len(blocks) < len(self):
            self._cut(len(blocks))
        self._live = blocks.live
        if count and not self.follows:
            for index in range(count, len(self)):
                self._height(index)  # how much is new is told
        self.settle()

    def resize(self, width: int, height: int) -> None:
        self.height = max(height, 1)
        if width != self.width:
            index, row = self._at
            before = self._heights[index] if index < len(self) else 1
            self.width = width
            self.redraw()
            if index < len(self) and row:
                self._at = (index, row * self._height(index) // max(before, 1))
        self.settle()

    def redraw(self, index: int = 0, key: int = 0, seen: int = -1) -> None:
        """All heights have to be found anew, as the width is another or more is shown. With `seen` the block of this
        index and key stays with its first row in that row of the window."""
        count = len(self)
        self._heights = Heights(self._estimate(at) for at in range(count))
        self._exact = bytearray(count)
        if seen >= 0 and index < count and not self.follows:
            first = next((first for first, inner in self.rendered(index).parts if inner == key), 0)
            self._at = (index, first + self._gap(index))
            self.move(-seen)

    def _put_before(self, count: int) -> None:
        """Blocks were added before the first."""
        blocks = self.scene.blocks
        self._added = blocks.added
        kept = [(self._heights[at], self._exact[at]) for at in range(len(self))]
        sizes = [_size(blocks[at]) for at in range(count)]
        self._keys = array("q", (blocks[at].key for at in range(count))) + self._keys
        self._versions = array("q", (blocks[at].version for at in range(count))) + self._versions
        self._stamps = array("q", [0] * count) + self._stamps
        self._lines = array("I", (lines for lines, _ in sizes)) + self._lines
        self._chars = array("I", (chars for _, chars in sizes)) + self._chars
        self._heights = Heights([*(self._estimate(at) for at in range(count)), *(height for height, _ in kept)])
        self._exact = bytearray(count) + bytearray(exact for _, exact in kept)
        self._live += count
        self._at = (self._at[0] + count, self._at[1])
        if self._left is not None:
            self._left = (self._left[0] + count, self._left[1])

    def _append(self, block: Block) -> None:
        lines, chars = _size(block)
        self._keys.append(block.key)
        self._versions.append(block.version)
        self._stamps.append(self.renderer.stamp(block))
        self._lines.append(lines)
        self._chars.append(chars)
        self._exact.append(0)
        self._heights.append(self._estimate(len(self)))

    def _cut(self, count: int) -> None:
        self._heights.cut(count)
        for held in (self._exact, self._keys, self._versions, self._stamps, self._lines, self._chars):
            del held[count:]

    def _measure(self, index: int, block: Block) -> None:
        self._versions[index], self._stamps[index] = block.version, self.renderer.stamp(block)
        if block.over:  # before that it is looked at anyway, and counting would cost more each time
            self._lines[index], self._chars[index] = _size(block)
        self._exact[index] = 0
        self._height(index)

    def _estimate(self, index: int) -> int:
        return self._lines[index] + self._chars[index] // max(self.width, 1)

    def _height(self, index: int) -> int:
        """The height of a block, as it is."""
        if not self._exact[index]:
            rows = len(self.rendered(index).rows) + self._gap(index)
            self._exact[index] = 1
            if rows != self._heights[index]:
                self._heights.set(index, rows)
        return self._heights[index]

    def _gap(self, index: int) -> int:
        blocks = self.scene.blocks
        return gap(blocks[index - 1] if index else None, blocks[index])

    # --- where one looks ---------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Draw what is in view, so that its heights are right, and find the row at the top."""
        count = len(self)
        if not count:
            self.top, self._at = 0, (0, 0)
            return
        if not self.follows:
            index = min(self._at[0], count - 1)
            row = min(self._at[1], self._height(index) - 1)
            self._at = (index, row)
            seen, index = -row, index
            while seen < self.height and index < count:
                seen += self._height(index)
                index += 1
            if seen >= self.height:
                self.top = self._heights.above(self._at[0]) + self._at[1]
                self.follows = index == count and self.top + self.height >= self.total
                if self.follows:
                    self._left = None
                return
        left, index = self.height, count
        while left > 0 and index:
            index -= 1
            left -= self._height(index)
        self.top = max(self.total - self.height, 0)
        self._at = self._heights.at(self.top)
        self.follows, self._left = True, None

    def move(self, rows: int) -> None:
        """Look further down, or with less than 0 further up; exactly so many rows of what is then seen."""
        if not len(self) or not rows:
            return
        if rows < 0:
            self._leave()
            self._back(-rows)
            self.settle()
            return
        index, row = self._at
        row += rows
        while row >= self._height(index):
            if index + 1 >= len(self):
                break
            row -= self._height(index)
            index += 1
        self._at = (index, row)
        self.settle()

    def _back(self, rows: int) -> None:
        """Have the top so many rows further up, with heights as they are."""
        index, row = self._at
        row -= rows
        while row < 0:
            if index < _EDGE and self.scene.has_older:
                self._at = (index, 0)
                self.scene.more()
                self.sync_front()
                index = self._at[0]
            if not index:
                row = 0
                break
            index -= 1
            row += self._height(index)
        self._at = (index, row)

    def to(self, row: int) -> None:
        """Look from this row on, as heights are known now."""
        if abs(row - self.top) <= 4 * self.height:
            self.move(row - self.top)
            return
        self._leave()
        self._at = self._heights.at(row)
        if self._at[0] < _EDGE and self.scene.has_older:
            self.scene.more()
            self.sync_front()
        self.settle()

    def to_start(self) -> None:
        """Look at the oldest block."""
        self._leave()
        while self.scene.has_older:
            self.scene.more()
            self.sync_front()
        self._at = (0, 0)
        self.settle()

    def to_end(self) -> None:
        self.follows = True
        self.settle()

    def show(self, index: int, first: int, last: int) -> None:
        """Bring rows of a block into view, by as little as it takes; its first row rather than its last."""
        gap_ = self._gap(index)
        at, end = self.start(index) + first, self.start(index) + last
        if at < self.top:
            self._leave()
            self._at = (index, first + gap_)
            self.settle()
        elif end > self.top + self.height:
            self._leave()
            rows = min(last, first + self.height)  # heights between here and there are estimates, so go there first
            self._at = (index, max(rows - 1, 0) + gap_)
            self._back(self.height - 1)
            self.settle()

    def sync_front(self) -> None:
        if grown := self.scene.blocks.added - self._added:
            self._put_before(grown)

    def _leave(self) -> None:
        if self.follows and len(self):
            self._left = (len(self) - 1, self._heights[len(self) - 1])
        self.follows = False

    # --- rows --------------------------------------------------------------------------------------------------------

    def rendered(self, index: int) -> Rendered:
        return self.renderer.rendered(self.scene.blocks[index], self.width)

    def row(self, at: int) -> tuple[Line, int]:
        """The row at this place, and the key of the block that it belongs to; 0 for a blank between blocks."""
        if at < 0 or at >= self.total or self._begun != self.scene.begun:
            return (), 0  # or another conversation stands there, which the next frame takes in
        index, row = self._heights.at(at)
        row -= self._gap(index)
        rows = self.rendered(index).rows
        return (rows[row], self.key_at(index, row)) if 0 <= row < len(rows) else ((), 0)

    def start(self, index: int) -> int:
        """The first row of a block, behind the blank before it."""
        self._height(index)
        return self._heights.above(index) + self._gap(index)

    def key_at(self, index: int, row: int) -> int:
        """The key of the block inside this one that a row belongs to."""
        return next(key for first, key in reversed(self.rendered(index).parts) if first <= row)

    def place(self, at: int) -> tuple[int, int]:
        """The index of the block at this row, and the key of the block inside it; (0, 0) where there is none."""
        if not len(self):
            return 0, 0
        index, row = self._heights.at(at)
        return index, self.key_at(index, max(row - self._gap(index), 0))


def _size(block: Block) -> tuple[int, int]:
    """About how many rows a block takes however wide the screen is, and how many characters it has to wrap."""
    match block:
        case Answer(pieces=pieces):
            return sum(piece.count("\n") for piece in pieces) + 2, sum(map(len, pieces))
        case Typed(text=text) | Said(text=text) | Change(text=text):
            return min(text.count("\n"), 4_000) + 2, min(len(text), 200_000)
        case Complaint(message=text) | Note(text=text):
            return text.count("\n") + 1, len(text)
        case End():
            return 2, 0
        case _:
            return 1, 0

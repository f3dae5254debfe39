"""A text in rows of a width: where each begins, what it shows, and where the caret stands. Pure.

Lines break at spaces, between wide characters, and inside a word only where it is longer than a row. Nothing of the
text is lost at a break, so that the caret can stand everywhere: a row may have one column more than asked, for the
caret at its end or for the blank that it breaks at.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache

from msgspec import Struct
from wcwidth import wcswidth

from agenyx.core.tty import safe
from agenyx.ui.tui.prompt.graphemes import graphemes, is_unit, units_of

TAB = 4


class Cell(Struct, frozen=True):
    """One character of a row: what is shown of it, how wide, where it stands in the text, and whether it is a unit."""

    shown: str
    width: int
    at: int
    unit: bool = False


def show(piece: str, labels: Mapping[str, str], room: int) -> tuple[str, int]:
    """A character as it is drawn, and its width: what cannot be seen is escaped, a unit is its label, cut to `room`."""
    if len(piece) == 1 and " " <= piece <= "~":
        return piece, 1
    if piece == "\t":
        return " " * TAB, TAB
    if is_unit(piece[0]):
        return _fitting(labels.get(piece, "[?]"), room)
    shown = safe(piece)
    width = wcswidth(shown)
    if width <= 0:  # a mark without a letter below it
        shown = "".join(f"\\u{ord(char):04x}" for char in piece)
        width = len(shown)
    return _fitting(shown, room) if width > max(room, 2) else (shown, width)


def _fitting(text: str, room: int) -> tuple[str, int]:
    text = safe(text)
    width = wcswidth(text)
    if width <= room:
        return text, width
    cut, used = "", 0
    for piece in graphemes(text):
        size = max(wcswidth(piece), 0)
        if used + size > room - 1:
            break
        cut, used = cut + piece, used + size
    return cut + "…", used + 1


class Rows:
    """The rows of `text` at `width`. `labels` name the units."""

    def __init__(self, text: str, width: int, labels: Mapping[str, str]) -> None:
        self.text, self.width, self._labels = text, max(width, 2), labels
        self.starts: list[int] = []
        self._ends: list[int] = []
        at = 0
        for line in text.split("\n"):
            self.starts.append(at)
            if len(line) > self.width or not line.isascii() or "\t" in line:
                for begin in _breaks(line, self.width, self._named(line))[1:]:
                    self._ends.append(at + begin)
                    self.starts.append(at + begin)
            at += len(line) + 1
            self._ends.append(at - 1)

    def __len__(self) -> int:
        return len(self.starts)

    def span(self, row: int) -> tuple[int, int]:
        """Where a row begins and ends in the text, without its line feed."""
        return self.starts[row], self._ends[row]

    def cells(self, row: int) -> list[Cell]:
        begin, end = self.span(row)
        found: list[Cell] = []
        at = begin
        for piece in graphemes(self.text[begin:end]):
            shown, width = show(piece, self._labels, self.width)
            found.append(Cell(shown, width, at, is_unit(piece[0])))
            at += len(piece)
        return found

    def place(self, at: int) -> tuple[int, int]:
        """Row and column of a place in the text. The end of a row that goes on is the begin of the next."""
        row = max(bisect_right(self.starts, at) - 1, 0)
        begin = self.starts[row]
        column = sum(show(piece, self._labels, self.width)[1] for piece in graphemes(self.text[begin:at]))
        return row, min(column, self.width)

    def offset(self, row: int, column: int) -> int:
        """The place in the text at a column of a row; its end where the row is shorter."""
        if row < 0:
            return 0
        if row >= len(self):
            return len(self.text)
        begin, end = self.span(row)
        used, at = 0, begin
        for piece in graphemes(self.text[begin:end]):
            width = show(piece, self._labels, self.width)[1]
            if used + width > column:
                return at
            used += width
            at += len(piece)
        last = row + 1 < len(self) and self.starts[row + 1] == end  # the next row goes on with this line
        return at if not last else max(begin, self._back(begin, end))

    def _back(self, begin: int, end: int) -> int:
        last = begin
        for piece in graphemes(self.text[begin:end]):
            last, begin = begin, begin + len(piece)
        return last

    def _named(self, line: str) -> tuple[tuple[str, str], ...]:
        return tuple((unit, self._labels.get(unit, "[?]")) for unit in units_of(line))


@lru_cache(maxsize=8192)
def _breaks(line: str, width: int, named: tuple[tuple[str, str], ...]) -> tuple[int, ...]:
    """Where the rows of a line begin."""
    if line.isascii() and line.isprintable():
        return tuple(_plain(line, width))
    labels = dict(named)
    found, begin, space, at = [0], 0, -1, 0
    used: int = 0
    sizes: list[tuple[int, int]] = []  # of the row: where each character begins, how wide it is
    for piece in graphemes(line):
        size = show(piece, labels, width)[1]
        while used + size > width and at > begin and not (piece == " " and used <= width):
            begin = space if space > begin else at
            found.append(begin)
            sizes = [one for one in sizes if one[0] >= begin]
            used, space = sum(wide for _, wide in sizes), -1
        sizes.append((at, size))
        used += size
        at += len(piece)
        if piece == " " or (size == 2 and not is_unit(piece[0])):
            space = at
    return tuple(found)


def _plain(line: str, width: int) -> list[int]:
    """The same for a line of plain characters, without looking at each."""
    found, begin, end = [0], 0, len(line)
    while end - begin > width:
        cut = line.rfind(" ", begin, begin + width + 1) + 1
        if cut <= begin:
            cut = begin + width
        if cut < end:
            found.append(cut)
        begin = cut
    return found

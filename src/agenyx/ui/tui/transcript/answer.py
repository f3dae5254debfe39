"""Markdown of the model as rows: only what is new is parsed while it streams; code is coloured when its block closes.

Pure. Bounded: of a line, and of lines, only so many are shown; a row says how many more there are.
"""

from __future__ import annotations

from agenyx.ui.markdown import Markdown
from agenyx.ui.spans import Glyphs, Line
from agenyx.ui.tui.transcript.code import coloured
from agenyx.ui.tui.transcript.rows import LONGEST, TAB, hard

MOST = 20_000  # rows of one answer
_LIVE = 400  # rows of what is not finished, such as a table


class Stream:
    """One text while it grows. `width` in columns. `feed` takes what is new, `rows` gives all as it stands."""

    def __init__(self, width: int, glyphs: Glyphs) -> None:
        self.width = max(width, 4)
        self._taken = self._pieces = 0  # characters, and pieces that hold them
        self._markdown = Markdown(self.width, glyphs)
        self._done: list[Line] = []
        self._code: list[str] | None = None  # of the open fence, as it came
        self._info, self._start = "", 0
        self._column = 0  # characters of the line that is not finished
        self._left = 0  # lines that are not shown any more

    def take(self, pieces: list[str]) -> None:
        """Feed what is new of the pieces; those that were taken may have become one."""
        if len(pieces) < self._pieces or (len(pieces) == 1 and self._pieces == 1):
            whole = "".join(pieces)
            self.feed(whole[self._taken :])
        else:
            for piece in pieces[self._pieces :]:
                self.feed(piece)
        self._pieces = len(pieces)

    def feed(self, text: str) -> None:
        self._taken += len(text)
        head, *others = text.split("\n")
        self._part(head)
        for other in others:
            self._line()
            self._part(other)

    def rows(self) -> list[Line]:
        if self._left:
            return [*self._done, _more(self._left)]
        return [*self._done, *self._fit(self._markdown.live(_LIVE))]

    def end(self) -> list[Line]:
        """The text is over."""
        if not self._left:
            if self._column > LONGEST:
                self._markdown.feed(_cut(self._column))
            self._done += self._fit(self._markdown.end())
            self._close(len(self._done))
        return [*self._done, *([_more(self._left)] if self._left else [])]

    def _part(self, text: str) -> None:
        if self._left:
            return
        room = max(LONGEST - self._column, 0)
        self._column += len(text)
        if shown := text[:room]:
            self._markdown.feed(shown)
            if self._code is not None:
                self._code[-1] += shown

    def _line(self) -> None:
        if self._left or len(self._done) >= MOST:
            self._left += 1
            return
        if self._column > LONGEST:
            self._markdown.feed(_cut(self._column))
        self._column = 0
        before = self._markdown.info
        self._done += self._fit(self._markdown.feed("\n"))
        info = self._markdown.info
        if before is None and info is not None:
            self._code, self._info, self._start = [""], info, len(self._done)
        elif before is not None and info is None:
            self._close(len(self._done) - 1)
        elif self._code is not None:
            self._code.append("")

    def _close(self, end: int) -> None:
        """Colour the code of a block that is whole. `end` is the row behind it."""
        if self._code is not None and end > self._start:
            shown = coloured([line.expandtabs(TAB) for line in self._code[:-1]], self._info)
            if shown:
                self._done[self._start : end] = [row for line in shown for row in hard(line, self.width)]
        self._code = None

    def _fit(self, lines: list[Line]) -> list[Line]:
        """Without tabs, and code broken where the width ends."""
        return [row for line in lines for row in hard(_untabbed(line), self.width)]


def render(text: str, width: int, glyphs: Glyphs) -> list[Line]:
    """The rows of a whole text."""
    stream = Stream(width, glyphs)
    stream.feed(text)
    return stream.end()


def _untabbed(spans: Line) -> Line:
    if any("\t" in text for _, text in spans):
        return tuple((style, text.expandtabs(TAB)) for style, text in spans)
    return spans


def _cut(length: int) -> str:
    return f" [… {length - LONGEST:,} more characters]"


def _more(count: int) -> Line:
    return (("dim", f"[… {count:,} more lines]"),)

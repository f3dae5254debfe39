"""Markdown while it streams, as terminal lines: what is finished is given out once and never changes.

The unit is the line of the source, so how the text was split on its way makes no difference; only a table waits for
its last row. Pure; makes the text safe for a terminal itself.
"""

from __future__ import annotations

import re

from agenyx.core.tty import safe
from agenyx.ui.inline import inline
from agenyx.ui.spans import Glyphs, Line, cells, line, plain, wrap
from agenyx.ui.tables import is_row, table

_FENCE = re.compile(r"(?P<indent>\s*)(?P<mark>`{3,}|~{3,})\s*(?P<info>[^`]*)")
_HEADING = re.compile(r" {0,3}(?P<level>#{1,6})\s+(?P<text>.*?)(?:\s+#+)?\s*")
_RULE = re.compile(r" {0,3}(?:(?:-\s*){3,}|(?:\*\s*){3,}|(?:_\s*){3,})")
_QUOTE = re.compile(r" {0,3}>\s?(?P<text>.*)")
_ITEM = re.compile(r"(?P<indent>\s*)(?P<sign>[-*+]|\d{1,9}[.)])\s+(?P<box>\[[ xX]\]\s+)?(?P<text>.*)")
_TABLE_ROWS = 200  # a longer one is drawn in parts
_WIDEST_RULE = 40
_DIFF = {"+": "ok", "-": "error", "@": "code"}


class Markdown:
    """`width` in columns. `feed` returns the lines that the text finished, `end` the rest."""

    def __init__(self, width: int, glyphs: Glyphs) -> None:
        self.width, self._glyphs = width, glyphs
        self._part: list[str] = []  # of the unfinished line
        self._rows: list[str] = []
        self._fence = ""  # the mark that opened a block of code
        self._indent = 0
        self._diff = False
        self.info: str | None = None  # what the open block of code is said to be; None outside
        self._blank = True  # no blank line is due: nothing, or one, stands above

    def feed(self, text: str) -> list[Line]:
        """Finished lines."""
        head, *others = text.split("\n")
        self._part.append(head)
        lines: list[Line] = []
        for other in others:
            lines += self._line("".join(self._part))
            self._part = [other]
        return lines

    def end(self) -> list[Line]:
        """The text is over: what was still open."""
        rest, self._part = "".join(self._part), list[str]()
        lines = self._line(rest) if rest else []
        lines += self._table()
        self._fence, self.info = "", None
        return lines

    def live(self, rows: int) -> list[Line]:
        """The end of what is not finished yet, as it stands, at most `rows` lines of the screen."""
        waiting = [part for row in self._rows[-rows:] for part in wrap(line(row, "dim"), self.width)]
        text = "".join(self._part)
        self._part = [text]
        seen = rows * self.width
        if len(text) > 2 * seen:
            text = text[(len(text) - seen) // self.width * self.width :]
        text = safe(text.expandtabs(4))
        text = text[max(0, len(text) - seen) // self.width * self.width :]
        if text.strip():
            waiting += wrap(line(text, "code") if self._fence else inline(text), self.width)
        return waiting[-rows:]

    def _line(self, source: str) -> list[Line]:
        text = safe(source.removesuffix("\r"))
        if self._fence:
            return [self._code(text)]
        if is_row(text):
            self._rows.append(text)
            return self._table() if len(self._rows) >= _TABLE_ROWS else []
        return self._table() + self._block(text)

    def _table(self) -> list[Line]:
        rows, self._rows = self._rows, list[str]()
        if rows:
            self._blank = False
        return table(rows, self.width, self._glyphs) if rows else []

    def _code(self, text: str) -> Line:
        mark = text.strip()
        if mark and set(mark) == {self._fence[0]} and len(mark) >= len(self._fence):
            self._fence, self.info = "", None
            return line(mark, "dim")
        own = len(text) - len(text.lstrip(" "))
        shown = text[min(own, self._indent) :]
        style = _DIFF.get(shown[:1], "") if self._diff else "code"
        return line(shown, style)

    def _block(self, text: str) -> list[Line]:
        if not text.strip():
            blank, self._blank = self._blank, True
            return [] if blank else [()]
        self._blank = False
        if found := _FENCE.fullmatch(text):
            self._fence, self._indent = found["mark"], len(found["indent"].expandtabs(4))
            info = self.info = found["info"].strip()
            self._diff = info.lower() in ("diff", "patch")
            return [line(text.strip(), "dim")]
        if found := _HEADING.fullmatch(text):
            return wrap(inline(found["text"], "heading" if len(found["level"]) < 3 else "bold"), self.width)
        if _RULE.fullmatch(text):
            return [line(self._glyphs.rule * min(self.width, _WIDEST_RULE), "dim")]
        if found := _QUOTE.fullmatch(text):
            bar = f"{self._glyphs.bar} "
            return [(("dim", bar), *part) for part in wrap(inline(found["text"], "dim"), self.width - cells(bar))]
        if found := _ITEM.fullmatch(text):
            sign = found["sign"] if found["sign"][0].isdigit() else self._glyphs.bullet
            lead = f"{found['indent'].expandtabs(4)}{sign} {(found['box'] or '').strip()}".rstrip() + " "
            return self._hanging(lead, inline(found["text"]))
        body = text.expandtabs(4).lstrip(" ")
        return self._hanging(text.expandtabs(4)[: -len(body)], inline(body.rstrip()))

    def _hanging(self, lead: str, body: Line) -> list[Line]:
        indent = " " * cells(lead)
        if len(indent) > self.width // 2:
            return wrap((*line(lead), *body), self.width)
        first, *others = wrap(body, self.width - len(indent))
        return [(*line(lead), *first), *((("", indent), *other) if indent else other for other in others)]


def render(text: str, width: int, glyphs: Glyphs) -> list[Line]:
    """The lines of a whole text."""
    markdown = Markdown(width, glyphs)
    return [*markdown.feed(text), *markdown.end()]


def bare(lines: list[Line]) -> str:
    """The lines as text."""
    return "\n".join(plain(spans) for spans in lines)

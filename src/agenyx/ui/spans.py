"""Styled text for terminals: lines of spans, their width in cells, wrapping, and escape sequences. Pure.

The only place that makes escape sequences of text; what goes in was made safe before. Knows no Markdown and no event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct
from wcwidth import iter_graphemes, wcswidth

Span = tuple[str, str]
"""Style names, separated by spaces, and text without line feeds."""
Line = tuple[Span, ...]

SGR = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "link": "4",
    "strike": "9",
    "code": "36",
    "heading": "1;35",
    "prompt": "1;36",
    "tool": "34",
    "ok": "32",
    "warn": "33",
    "error": "31",
}
"""Select Graphic Rendition parameters (ECMA-48) of each style name."""

_WIDE_TAB = 4


class Glyphs(Struct, frozen=True):
    """The signs of our own that a stream can carry."""

    bullet: str = "•"
    bar: str = "│"
    rule: str = "─"
    dot: str = " · "
    cross: str = "┼"


ASCII = Glyphs("-", "|", "-", " | ", "+")


def glyphs_for(encoding: str) -> Glyphs:
    """The signs for an encoding, plain ones where it has no others."""
    try:
        "".join(getattr(Glyphs(), name) for name in Glyphs.__struct_fields__).encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return Glyphs()


def line(text: str, style: str = "") -> Line:
    return ((style, text),) if text else ()


def plain(spans: Line) -> str:
    return "".join(text for _, text in spans)


def cells(text: str) -> int:
    """The columns that a text takes; a tab counts as four."""
    if text.isascii():
        return len(text) + (_WIDE_TAB - 1) * text.count("\t")
    return sum(_cells(piece) for piece in iter_graphemes(text))


def _cells(grapheme: str) -> int:
    return _WIDE_TAB if grapheme == "\t" else max(wcswidth(grapheme), 0)


def ansi(spans: Line, theme: Mapping[str, str] = SGR) -> str:
    """The line with escape sequences; bare where the theme has none."""
    marked = ((_codes(style, theme), text) for style, text in spans)
    return "".join(f"\x1b[{codes}m{text}\x1b[0m" if codes else text for codes, text in marked)


def _codes(style: str, theme: Mapping[str, str]) -> str:
    return ";".join(theme[name] for name in style.split() if name in theme)


def wrap(spans: Line, width: int, indent: str = "") -> list[Line]:
    """Break at spaces, between wide characters, and inside a word only where it is longer than a line.

    `indent` begins every line but the first. A grapheme is never split; each line fits `width` columns unless one
    grapheme alone does not.
    """
    text = plain(spans)
    if cells(text) <= width:
        return [spans]
    rows: list[Line] = []
    row: list[tuple[str, str, int]] = []  # style, grapheme, columns
    used, lead = 0, 0
    for style, piece in _graphemes(spans):
        size = _cells(piece)
        dropped = False
        while used + size > width and len(row) > lead and not dropped:  # what is carried over may be too wide as well
            full = _full(row, lead, width) if used > width else len(row)
            cut = _cut(row[:full], lead, row[full][1] if full < len(row) else piece)
            rest = row[cut:]
            rows.append(_join(row[:cut], strip=True))
            row = [("", char, 1) for char in indent]
            lead = len(row)
            while rest and rest[0][1] == " ":
                rest.pop(0)
            row += rest
            used = sum(columns for _, _, columns in row)
            dropped = piece == " " and len(row) == lead
        if dropped:
            continue
        row.append((style, piece, size))
        used += size
    rows.append(_join(row, strip=True))
    return rows


def _full(row: list[tuple[str, str, int]], lead: int, width: int) -> int:
    """How much of a row that is too wide fits: at least one grapheme behind the first `lead`."""
    used = 0
    for index, (_, _, size) in enumerate(row):
        used += size
        if used > width and index > lead:
            return index
    return len(row)


def _cut(row: list[tuple[str, str, int]], lead: int, after: str) -> int:
    """Where to break a full row: behind its last space or wide character, else at its end."""
    if after == " ":
        return len(row)
    for index in range(len(row) - 1, lead, -1):
        _, piece, size = row[index]
        if piece == " " or (size == 2 and (index + 1 == len(row) or row[index + 1][1].isalnum())):
            begun = any(earlier != " " for _, earlier, _ in row[lead:index])
            return index + 1 if begun else len(row)
    return len(row)


def _graphemes(spans: Line) -> Iterator[Span]:
    for style, text in spans:
        for piece in text if text.isascii() else iter_graphemes(text):
            yield style, piece


def _join(row: list[tuple[str, str, int]], *, strip: bool) -> Line:
    while strip and row and row[-1][1] == " ":
        row.pop()
    joined: list[Span] = []
    for style, piece, _ in row:
        if joined and joined[-1][0] == style:
            joined[-1] = (style, joined[-1][1] + piece)
        else:
            joined.append((style, piece))
    return tuple(joined)

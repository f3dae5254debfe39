"""Foreign text as rows of bounded number and width. Pure; what comes out holds no control characters and no tabs."""

from __future__ import annotations

from msgspec import Struct

from agenyx.core.tty import safe
from agenyx.ui.spans import Line, cells, line, wrap

TAB = 4
LONGEST = 4_000  # characters of one line of a text that are shown
MOST = 4_000  # lines of one text that are shown


class Signs(Struct, frozen=True):
    """The signs of blocks, each of one column. What a sign says, words say too."""

    draft: str = "…"
    accepted: str = "○"
    asked: str = "?"
    running: str = "▶"
    ok: str = "✓"
    failed: str = "✗"
    denied: str = "⊘"
    stopped: str = "■"
    closed: str = "▸"
    opened: str = "▾"
    cursor: str = "▌"
    gone: str = "…"
    bar: str = "│"
    rule: str = "─"
    down: str = "↓"
    turn: str = "↪"


PLAIN = Signs(".", "o", "?", ">", "+", "x", "-", "#", ">", "v", ">", "...", "|", "-", "v", "\\")


def flat(text: str, width: int, gone: str = "…") -> str:
    """The beginning of a text on one row of at most `width` columns, with a mark where it goes on."""
    beginning = text[: max(width, 0) * 4 + 200]  # more cannot be seen, but for blanks
    shown = safe(" ".join(beginning.split()))
    longer = len(beginning) < len(text)
    if not longer and cells(shown) <= width:
        return shown
    room = width - cells(gone)
    if room <= 0:
        return gone if width >= cells(gone) else ""
    while cells(shown) > room:
        shown = shown[: max(len(shown) - max((cells(shown) - room) // 2, 1), 0)]
    return shown.rstrip() + gone


def split(text: str, most: int = MOST) -> tuple[list[str], int]:
    """The first lines of a text, at most `most` and each safe, without tabs and of bounded length; how many follow."""
    lines: list[str] = []
    at, end = 0, len(text)
    if text.endswith("\n"):
        end -= 1
    while at <= end and len(lines) < most:
        stop = text.find("\n", at, end)
        stop = end if stop < 0 else stop
        lines.append(clean(text[at : min(stop, at + LONGEST)], stop - at))
        at = stop + 1
    return lines, text.count("\n", at, end) + 1 if at <= end else 0


def clean(text: str, length: int = 0) -> str:
    """One line, safe and without tabs; `length` tells how long it was where this is its beginning only."""
    text = safe(text.removesuffix("\r")).expandtabs(TAB)
    return f"{text} [… {length - LONGEST:,} more characters]" if length > LONGEST else text


def plain_rows(lines: list[str], width: int, style: str = "", indent: str = "") -> list[Line]:
    """Lines wrapped at words; rows that go on from the one above begin with `indent`."""
    return [row for text in lines for row in wrap(line(text, style), max(width, 1), indent)]


def hard(spans: Line, width: int) -> list[Line]:
    """A line broken wherever the width ends, as code and output of programs are."""
    width = max(width, 2)
    if sum(len(text) for _, text in spans) <= width and all(text.isascii() for _, text in spans):
        return [spans]
    rows: list[Line] = []
    row: list[tuple[str, str]] = []
    used = 0
    for style, text in spans:
        while text:
            piece = fitting(text, width - used)
            if not piece and row:
                rows.append(tuple(row))
                row, used = [], 0
                continue
            piece = piece or text[0]
            row.append((style, piece))
            used += cells(piece)
            text = text[len(piece) :]
    return [*rows, tuple(row)]


def fitting(text: str, width: int) -> str:
    """The longest beginning of a text that takes at most `width` columns, at a border of graphemes."""
    if text.isascii():
        return text[: max(width, 0)]
    from wcwidth import iter_graphemes, wcswidth

    used, size = 0, 0
    for piece in iter_graphemes(text[: max(width, 0) * 8 + 8]):
        columns = max(wcswidth(piece), 0)
        if used + columns > width:
            break
        used += columns
        size += len(piece)
    return text[:size]


def indented(rows: list[Line], indent: str, style: str = "") -> list[Line]:
    return [((style, indent), *row) for row in rows]

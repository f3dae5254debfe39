"""Markdown tables as aligned columns that fit the screen. Pure."""

from __future__ import annotations

import re

from agenyx.ui.inline import inline
from agenyx.ui.spans import Glyphs, Line, cells, line, plain, wrap

_ROW = re.compile(r"\s{0,12}\|.*\|\s*")
_RULE = re.compile(r"\s*:?-+:?\s*")
_SPLIT = re.compile(r"(?<!\\)\|")
_NARROWEST = 4


def is_row(text: str) -> bool:
    return _ROW.fullmatch(text) is not None


def table(rows: list[str], width: int, glyphs: Glyphs) -> list[Line]:
    """The rows of a table, which begin and end with a bar; rows without a rule below the first stay as they are."""
    parsed = [[cell.strip() for cell in _SPLIT.split(row.strip().strip("|") or " ")] for row in rows]
    if len(parsed) < 2 or not all(_RULE.fullmatch(cell) for cell in parsed[1]):
        return [line(row) for row in rows]
    count = max(map(len, parsed))
    columns = [[inline(cell, "bold" if index == 0 else "") for cell in row] for index, row in enumerate(parsed)]
    del columns[1]
    for row in columns:
        row += [()] * (count - len(row))
    gap = cells(f" {glyphs.bar} ")
    widths = _fit([max(cells(plain(row[at])) for row in columns) for at in range(count)], width - gap * (count - 1))
    if not widths:
        return [line(row) for row in rows]
    drawn: list[Line] = []
    for index, row in enumerate(columns):
        drawn += _row(row, widths, glyphs)
        if index == 0:
            cross = f"{glyphs.rule}{glyphs.cross}{glyphs.rule}"
            drawn.append(line(cross.join(glyphs.rule * size for size in widths), "dim"))
    return drawn


def _fit(natural: list[int], room: int) -> list[int]:
    """Column widths: the widest ones give way. Empty when there is no room for so many columns."""
    widths = [max(size, 1) for size in natural]
    least = [min(size, _NARROWEST) for size in widths]
    if sum(least) > room:
        return []
    while (over := sum(widths) - room) > 0:
        widest = max(range(len(widths)), key=lambda at: widths[at] - least[at])
        second = sorted(widths, reverse=True)[1] if len(widths) > 1 else 0
        give = min(over, max(widths[widest] - max(second, least[widest]), 1))
        widths[widest] -= give
    return widths


def _row(row: list[Line], widths: list[int], glyphs: Glyphs) -> list[Line]:
    wrapped = [wrap(cell, size) for cell, size in zip(row, widths, strict=True)]
    lines: list[Line] = []
    for at in range(max(map(len, wrapped))):
        spans: Line = ()
        for index, (cell, size) in enumerate(zip(wrapped, widths, strict=True)):
            part = cell[at] if at < len(cell) else ()
            last = index == len(widths) - 1
            pad = "" if last else " " * max(size - cells(plain(part)), 0)
            spans += part + line(pad) + (() if last else (("dim", f" {glyphs.bar} "),))
        lines.append(spans)
    return lines

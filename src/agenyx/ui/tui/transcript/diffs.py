"""Differences in the unified format as rows: line numbers, changed words, two columns where there is room. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from agenyx.ui.spans import Line, Span, cells
from agenyx.ui.tui.transcript.rows import MOST, Signs, hard, split

WIDE = 140  # columns from which both sides stand beside each other
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@.*")
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_COMPARED = 400  # characters of a line whose words are compared
_SIMILAR = 0.35  # share of a line that has to be as before for its words to be worth showing


class Row(Struct, frozen=True):
    """One line of a difference. `kind` is " ", "-", "+", "@", or "" for words about it; numbers are 0 for none."""

    kind: str
    text: str
    before: int = 0
    after: int = 0


Pair = tuple[Row | None, Row | None]


def counts(text: str) -> tuple[int, int]:
    """How many lines are added and removed."""
    added = removed = 0
    for row in parsed(text):
        added += row.kind == "+"
        removed += row.kind == "-"
    return added, removed


def parsed(text: str) -> list[Row]:
    """The lines of it; the two that name the file are left out, as the card says it."""
    lines, more = split(text, MOST)
    rows: list[Row] = []
    before = after = 0
    begun = False  # inside a hunk, where `--- ` is a removed line
    for line in lines:
        if not begun and line.startswith(("--- ", "+++ ")):
            continue
        if found := _HUNK.fullmatch(line):
            before, after, begun = int(found[1]), int(found[2]), True
            rows.append(Row("@", line, before, after))
        elif line[:1] == "-":
            rows.append(Row("-", line[1:], before, 0))
            before += 1
        elif line[:1] == "+":
            rows.append(Row("+", line[1:], 0, after))
            after += 1
        elif line[:1] == " " or not line:
            rows.append(Row(" ", line[1:], before, after))
            before, after = before + 1, after + 1
        else:
            rows.append(Row("", line))
    return [*rows, Row("", f"[… {more:,} more lines]")] if more else rows


def drawn(text: str, width: int, signs: Signs) -> list[Line]:
    """Rows of at most `width` columns."""
    rows = parsed(text)
    numbered = any(row.kind == "@" for row in rows)
    digits = max((len(str(max(row.before, row.after))) for row in rows), default=1) if numbered else 0
    if width >= WIDE and any(row.kind == "-" for row in rows) and any(row.kind == "+" for row in rows):
        return _beside(rows, width, digits, signs)
    return _below(rows, width, digits)


def _below(rows: list[Row], width: int, digits: int) -> list[Line]:
    found: list[Line] = []
    for block in _blocks(rows):
        pairs = list(_pairs(block))
        words = {id(row): spans for pair in pairs for row, spans in _worded(pair)}
        for row in block:
            found += _one(row, words.get(id(row)), width, digits)
    return found


def _one(row: Row, words: Line | None, width: int, digits: int) -> list[Line]:
    if row.kind in ("@", ""):
        return hard((("hunk" if row.kind else "dim", row.text),), width)
    style = {"-": "removed", "+": "added"}.get(row.kind, "")
    number = str(row.after or row.before) if digits else ""
    lead: list[Span] = [("dim", f"{number:>{digits}} ")] if digits else []
    first, *others = hard(words or ((style, row.text),), width - (digits + 1 if digits else 0) - 2)
    blank = " " * (digits + 1 if digits else 0)
    rest = [(("dim", blank), (style, "  "), *part) for part in others]
    return [(*lead, (style, f"{row.kind} "), *first), *rest]


def _beside(rows: list[Row], width: int, digits: int, signs: Signs) -> list[Line]:
    half = (width - 3) // 2
    found: list[Line] = []
    for block in _blocks(rows):
        for pair in _pairs(block):
            left, right = pair
            if left is not None and left.kind in ("@", ""):
                found += hard((("hunk" if left.kind else "dim", left.text),), width)
                continue
            words = {id(row): spans for row, spans in _worded(pair)}
            old = _side(left, words, half, digits, before=True)
            new = _side(right, words, half, digits, before=False)
            for at in range(max(len(old), len(new))):
                one = old[at] if at < len(old) else ()
                other = new[at] if at < len(new) else ()
                pad = " " * (half - sum(cells(text) for _, text in one))
                found.append((*one, ("", pad), ("dim", f" {signs.bar} "), *other))
    return found


def _side(row: Row | None, words: dict[int, Line], width: int, digits: int, *, before: bool) -> list[Line]:
    if row is None:
        return []
    shown = Row(row.kind, row.text, row.before if before else 0, 0 if before else row.after)
    return _one(shown, words.get(id(row)), width, digits)


def _blocks(rows: list[Row]) -> Iterator[list[Row]]:
    """Stretches of changed lines, and every other line by itself."""
    block: list[Row] = []
    for row in rows:
        if row.kind in ("-", "+") and not (row.kind == "-" and block and block[-1].kind == "+"):
            block.append(row)
            continue
        if block:
            yield block
        block = []
        if row.kind in ("-", "+"):
            block.append(row)
        else:
            yield [row]
    if block:
        yield block


def _pairs(block: list[Row]) -> Iterator[Pair]:
    """Each removed line with the added one in its place; a line that is on both sides with itself."""
    removed = [row for row in block if row.kind == "-"]
    added = [row for row in block if row.kind == "+"]
    if not removed and not added:
        yield block[0], block[0]
        return
    for at in range(max(len(removed), len(added))):
        yield removed[at] if at < len(removed) else None, added[at] if at < len(added) else None


def _worded(pair: Pair) -> list[tuple[Row, Line]]:
    """The two lines of a pair with their different words marked, where they are alike enough."""
    old, new = pair
    if old is None or new is None or old is new or max(len(old.text), len(new.text)) > _COMPARED:
        return []
    from difflib import SequenceMatcher

    left, right = _WORD.findall(old.text), _WORD.findall(new.text)
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    if matcher.ratio() < _SIMILAR:
        return []
    removed: list[Span] = []
    added: list[Span] = []
    for kind, i, j, k, m in matcher.get_opcodes():
        removed.append(("removed" if kind == "equal" else "removed-word", "".join(left[i:j])))
        added.append(("added" if kind == "equal" else "added-word", "".join(right[k:m])))
    return [(old, tuple(part for part in removed if part[1])), (new, tuple(part for part in added if part[1]))]

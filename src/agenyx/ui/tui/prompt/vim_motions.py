"""Where the motions of vi lead, and what its text objects hold. Pure: a text and a place in, places out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from agenyx.ui.tui.prompt import graphemes as g

Kind = Literal["exclusive", "inclusive", "lines"]
"""What an operator takes up to the place: not the character there, that character too, or whole lines."""
Motion = Callable[[str, int, int], int]
"""Text, place, and how many times (0 where no number was typed): the place it leads to."""


def _times(step: Callable[[str, int], int]) -> Motion:
    def move(text: str, at: int, count: int) -> int:
        for _ in range(min(max(count, 1), len(text) + 1)):
            at = step(text, at)
        return at

    return move


def left(text: str, at: int) -> int:
    return at if at == g.line_start(text, at) else g.before(text, at)


def right(text: str, at: int) -> int:
    return at if at >= g.line_end(text, at) else g.after(text, at)


def last(text: str, at: int) -> int:
    """The last character of the line, where the caret of normal mode can stand."""
    begin, end = g.line_start(text, at), g.line_end(text, at)
    return max(begin, g.before(text, end)) if end > begin else begin


def first(text: str, at: int) -> int:
    """The first character of the line that is no blank."""
    at, end = g.line_start(text, at), g.line_end(text, at)
    while at < end and text[at].isspace():
        at += 1
    return at


def word(text: str, at: int, big: bool = False) -> int:
    """The begin of the next word."""
    kind = g.kinds(text, at, big)
    while kind and at < len(text) and g.kinds(text, at, big) == kind:
        at += 1
    while at < len(text) and not g.kinds(text, at, big):
        at += 1
        if text[at - 1] == "\n" and text[at : at + 1] == "\n":
            break  # an empty line is a word
    return at


def back(text: str, at: int, big: bool = False) -> int:
    """The begin of the word before."""
    at -= 1
    while at > 0 and not g.kinds(text, at, big):
        at -= 1
    kind = g.kinds(text, max(at, 0), big)
    while at > 0 and g.kinds(text, at - 1, big) == kind:
        at -= 1
    return max(at, 0)


def end(text: str, at: int, big: bool = False) -> int:
    """The last character of this word or the next."""
    at += 1
    while at < len(text) and not g.kinds(text, at, big):
        at += 1
    kind = g.kinds(text, at, big)
    while at + 1 < len(text) and g.kinds(text, at + 1, big) == kind:
        at += 1
    return min(at, max(len(text) - 1, 0))


def _line(text: str, count: int) -> int:
    at = 0
    for _ in range(count - 1):
        found = text.find("\n", at)
        if found < 0:
            break
        at = found + 1
    return first(text, at)


def _down(text: str, at: int, by: int) -> int:
    """The same column of another line, for operators; the caret itself moves by rows of the screen."""
    column = at - g.line_start(text, at)
    for _ in range(abs(by)):
        at = g.line_end(text, at) + 1 if by > 0 else g.line_start(text, at) - 1
        if not 0 <= at <= len(text):
            at = max(0, min(at, len(text)))
            break
    begin = g.line_start(text, at)
    return min(begin + column, g.line_end(text, begin))


MOTIONS: dict[str, tuple[Motion, Kind]] = {
    "h": (_times(left), "exclusive"),
    "l": (_times(right), "exclusive"),
    " ": (_times(right), "exclusive"),
    "w": (_times(word), "exclusive"),
    "W": (_times(lambda text, at: word(text, at, True)), "exclusive"),
    "b": (_times(back), "exclusive"),
    "B": (_times(lambda text, at: back(text, at, True)), "exclusive"),
    "e": (_times(end), "inclusive"),
    "E": (_times(lambda text, at: end(text, at, True)), "inclusive"),
    "0": (lambda text, at, count: g.line_start(text, at), "exclusive"),
    "^": (lambda text, at, count: first(text, at), "exclusive"),
    "$": (lambda text, at, count: last(text, _down(text, at, max(count, 1) - 1)), "inclusive"),
    "gg": (lambda text, at, count: _line(text, max(count, 1)), "lines"),
    "G": (lambda text, at, count: _line(text, count) if count else first(text, len(text)), "lines"),
    "j": (lambda text, at, count: _down(text, at, max(count, 1)), "lines"),
    "k": (lambda text, at, count: _down(text, at, -max(count, 1)), "lines"),
}


def seek(text: str, at: int, count: int, how: str, char: str) -> int | None:
    """`f`, `F`, `t`, `T`: the place of a character in the line, or beside it. None where it is not."""
    begin, stop = g.line_start(text, at), g.line_end(text, at)
    place = at
    for _ in range(max(count, 1)):
        found = text.find(char, place + 1, stop) if how in "ft" else text.rfind(char, begin, place)
        if found < 0:
            return None
        place = found
    return place if how in "fF" else place - 1 if how == "t" else place + 1


_PAIRS = {"(": "()", ")": "()", "b": "()", "[": "[]", "]": "[]", "{": "{}", "}": "{}", "B": "{}", "<": "<>", ">": "<>"}


def thing(text: str, at: int, how: str, char: str) -> tuple[int, int] | None:
    """What `iw`, `a"`, `i(` and the like hold: begin and end. None where there is none."""
    if char in "wW":
        return _word(text, at, how, char == "W")
    if char in "\"'`":
        begin, stop = g.line_start(text, at), g.line_end(text, at)
        marks = [place for place in range(begin, stop) if text[place] == char]
        pairs = list(zip(marks[::2], marks[1::2], strict=False))
        found = next(((one, two) for one, two in pairs if at <= two), None)
    else:
        found = _enclosing(text, at, *_PAIRS[char]) if char in _PAIRS else None
    if found is None:
        return None
    return (found[0] + 1, found[1]) if how == "i" else (found[0], found[1] + 1)


def _word(text: str, at: int, how: str, big: bool) -> tuple[int, int] | None:
    if at >= len(text):
        return None
    kind, begin, stop = g.kinds(text, at, big), at, at
    while begin > 0 and text[begin - 1] != "\n" and g.kinds(text, begin - 1, big) == kind:
        begin -= 1
    while stop < len(text) and text[stop] != "\n" and g.kinds(text, stop, big) == kind:
        stop += 1
    if how == "a":
        tail = stop
        while tail < len(text) and text[tail] in " \t":
            tail += 1
        if tail == stop:
            while begin > 0 and text[begin - 1] in " \t":
                begin -= 1
        stop = tail
    return begin, stop


def _enclosing(text: str, at: int, opening: str, closing: str) -> tuple[int, int] | None:
    depth, begin = 0, at
    while begin >= 0 and not (text[begin : begin + 1] == opening and depth == 0):
        depth += (text[begin : begin + 1] == closing and begin != at) - (text[begin : begin + 1] == opening)
        begin -= 1
    if begin < 0:
        return None
    depth = 0
    for stop in range(begin, len(text)):
        depth += (text[stop] == opening) - (text[stop] == closing)
        if depth == 0:
            return begin, stop
    return None

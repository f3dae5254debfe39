"""Where characters and words begin in a text that is edited: by what a person sees as one, not by code points. Pure.

A text may hold units: single code points that stand for something longer, such as a paste. They are noncharacters of
Unicode, which no text has; what comes in is freed of them first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from wcwidth import iter_graphemes

UNITS = "".join(map(chr, [*range(0xFDD0, 0xFDF0), 0xFFFE, 0xFFFF]))
"""The code points that can be units: noncharacters."""

_UNIT = re.compile("[\ufdd0-\ufdef\ufffe\uffff]")
_RUN = re.compile("[\ufdd0-\ufdef\ufffe\uffff]|[^\ufdd0-\ufdef\ufffe\uffff]+")
_FAR = 512  # code points of a line that are looked at; a grapheme of more is cut, which no writing has


def without_units(text: str) -> str:
    """Text from outside: a noncharacter in it becomes the sign for what cannot be shown."""
    return text if text.isascii() else _UNIT.sub("\ufffd", text)


def is_unit(char: str) -> bool:
    return _UNIT.match(char) is not None


def units_of(text: str) -> list[str]:
    """The units in a text, in order."""
    return [] if text.isascii() else _UNIT.findall(text)


def graphemes(text: str) -> Iterator[str]:
    """The characters of a text as a person counts them; each unit is one."""
    if text.isascii():
        yield from text
        return
    for run in _RUN.findall(text):
        if is_unit(run[0]):
            yield run
        else:
            yield from iter_graphemes(run)


def after(text: str, at: int) -> int:
    """Where the character that begins at `at` ends; the end of the text stays."""
    if at >= len(text):
        return len(text)
    if text[at : at + 2].isascii():
        return at + 1
    return at + len(next(graphemes(text[at : at + _FAR])))


def before(text: str, at: int) -> int:
    """Where the character before `at` begins; 0 stays."""
    if at <= 0:
        return 0
    if text[max(at - 2, 0) : at].isascii():
        return at - 1
    begin = max(text.rfind("\n", 0, at - 1) + 1, at - _FAR)
    last = at - 1
    for piece in graphemes(text[begin:at]):
        last = begin
        begin += len(piece)
    return last


def _kind(char: str) -> int:
    """0 for blanks, 1 for what words are made of, 2 for other signs, 3 for a unit."""
    if char.isspace():
        return 0
    if is_unit(char):
        return 3
    return 1 if char.isalnum() or char == "_" or not char.isascii() else 2


def word_right(text: str, at: int) -> int:
    """The end of the word at or behind `at`; signs between words are passed over, as readline does it."""
    while at < len(text) and _kind(text[at]) in (0, 2):
        at += 1
    if at < len(text) and _kind(text[at]) == 3:
        return at + 1
    while at < len(text) and _kind(text[at]) == 1:
        at += 1
    return at


def word_left(text: str, at: int) -> int:
    """The begin of the word before `at`."""
    while at > 0 and _kind(text[at - 1]) in (0, 2):
        at -= 1
    if at > 0 and _kind(text[at - 1]) == 3:
        return at - 1
    while at > 0 and _kind(text[at - 1]) == 1:
        at -= 1
    return at


def blank_left(text: str, at: int) -> int:
    """The begin of what stands before `at` up to a blank, as Ctrl+W takes it."""
    while at > 0 and text[at - 1].isspace():
        at -= 1
    while at > 0 and not text[at - 1].isspace():
        at -= 1
        if is_unit(text[at]):
            break
    return at


def kinds(text: str, at: int, big: bool = False) -> int:
    """The kind of the character at `at`, for motions by word; `big`: all that is no blank is one kind."""
    if at >= len(text):
        return 0
    kind = _kind(text[at])
    return 1 if big and kind else kind


def line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end

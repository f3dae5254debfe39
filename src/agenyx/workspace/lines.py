"""A few lines of a file of any size, in bounded memory: what lies before is only counted, long lines are cut.

Owns reading by lines from an open descriptor. Knows no path and no tool.
"""

from __future__ import annotations

import os
import time

from msgspec import Struct

from agenyx.workspace.text import BINARY_WINDOW, line

_CHUNK = 1 << 20


class Line(Struct, frozen=True):
    """The beginning of a line without its line end; `size` is the whole line's bytes."""

    text: str
    size: int


class Window(Struct, frozen=True):
    """`more` says whether anything follows; `late` that time ran out before the first line was reached."""

    lines: tuple[Line, ...]
    more: bool = False
    late: bool = False
    binary: bool = False


def window(descriptor: int, offset: int, limit: int, keep: int, seconds: float = 5.0) -> Window:
    """Lines `offset` (from 1) and the following, at most `limit`, of each the first `keep` bytes. Raises OSError."""
    deadline = time.monotonic() + seconds
    number, found = 1, list[Line]()
    head, size, opened = bytearray(), 0, False
    first = True
    while chunk := os.read(descriptor, _CHUNK):
        at = 0
        if first:
            first = False
            if chunk[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in chunk[:BINARY_WINDOW]:
                return Window((), binary=True)
            at = 3 if chunk.startswith(b"\xef\xbb\xbf") else 0
        if number < offset:
            if time.monotonic() > deadline:
                return Window((), late=True)
            ends = chunk.count(b"\n")
            if number + ends < offset:
                number += ends
                continue
            while number < offset:
                at = chunk.index(b"\n", at) + 1
                number += 1
        while at < len(chunk):
            end = chunk.find(b"\n", at)
            stop = len(chunk) if end < 0 else end
            head += chunk[at : min(stop, at + max(0, keep - len(head)))]
            size += stop - at
            opened = end < 0
            if opened:
                break
            found.append(_line(head, size))
            head, size, at = bytearray(), 0, end + 1
            if len(found) == limit:
                return Window(tuple(found), more=at < len(chunk) or bool(os.read(descriptor, 1)))
    if opened:
        found.append(_line(head, size))
    return Window(tuple(found))


def _line(head: bytearray, size: int) -> Line:
    whole = len(head) == size
    if whole and head.endswith(b"\r"):
        del head[-1:]
        size -= 1
    return Line(line(bytes(head), not whole), size)

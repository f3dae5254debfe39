"""Which modes of a terminal a program has left on, by what it wrote."""

from __future__ import annotations

import re

_MODE = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")
_KITTY = re.compile(rb"\x1b\[([><])[0-9]*u")
_USUALLY_ON = {"7", "25"}  # wrapping, and the cursor


def left_on(data: bytes) -> set[str]:
    """Private modes (by number) that are not as a shell expects them, and `keyboard` for a protocol that was kept."""
    changed: set[str] = set()
    for match in _MODE.finditer(data):
        for number in match[1].decode().split(";"):
            usual = (match[2] == b"h") == (number in _USUALLY_ON)
            (changed.discard if usual else changed.add)(number)
    held = 0
    for match in _KITTY.finditer(data):
        held = held + 1 if match[1] == b">" else max(held - 1, 0)
    return changed | ({"keyboard"} if held else set())


def asks(data: bytes) -> bool:
    """Whether it asked the terminal anything: an answer that comes too late stands in the shell."""
    return bool(re.search(rb"\x1b\[(?:\?[0-9;]*\$p|6n|\?6n|c|>c|>0?q|\?u)|\x1b\][0-9;]+;\?", data))

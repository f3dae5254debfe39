"""All keys by where they count, and all commands. Read from the keymap and the table of commands."""

from __future__ import annotations

from collections.abc import Sequence

from agenyx.app.commands.spec import Command
from agenyx.core.tty import safe
from agenyx.ui.spans import Line, cells, line, wrap
from agenyx.ui.tui.keymap import HEADS, PLACES, Keymap

_LEFT = 26  # columns


def rows(keymap: Keymap, commands: Sequence[Command], width: int) -> list[Line]:
    """Keys first, then commands; each entry hangs under its begin."""
    made: list[Line] = []
    for place in PLACES:
        made += [*([()] if made else []), line(HEADS[place], "title")]
        for keys, text in keymap.rows(place):
            made += _pair(keys, text, width)
    made += [(), line("Commands", "title")]
    for command in commands:
        made += _pair(f"/{command.name} {command.args}".rstrip(), command.text, width)
    if keymap.problems:
        made += [(), line("Not taken over from settings.toml", "title")]
        made += [piece for text in keymap.problems for piece in wrap(line(safe(text), "warn"), width, "  ")]
    return made


def _pair(left: str, right: str, width: int) -> list[Line]:
    left, right = safe(" ".join(left.split())), safe(" ".join(right.split()))
    column = min(_LEFT, max(width // 3, 8))
    if cells(left) + 2 > column:
        return [line(left, "key"), *(wrap(line(" " * 4 + right), width, " " * 4))]
    return wrap((("key", left), ("", " " * (column - cells(left)) + right)), width, " " * column)

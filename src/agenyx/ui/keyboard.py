"""A terminal's keys for the line editor: all that is there at once, with pastes told from keys."""

from __future__ import annotations

from typing import TextIO

from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding.key_processor import KeyPress

from agenyx.ui.intake import Intake

_AT_ONCE = 1 << 20  # characters of input


class Keyboard(Vt100Input):
    """Reads a whole moment at once: the parser looks through a paste anew at every piece that it is fed."""

    def __init__(self, stdin: TextIO) -> None:
        super().__init__(stdin)
        self._intake = Intake()

    def read_keys(self) -> list[KeyPress]:
        parts: list[str] = []
        size = 0
        while size < _AT_ONCE and (part := self.stdin_reader.read(1 << 16)):
            parts.append(part)
            size += len(part)
        self.vt100_parser.feed(self._intake("".join(parts)))
        keys, self._buffer = self._buffer, list[KeyPress]()
        return keys

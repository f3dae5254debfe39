"""The terminal while the full screen has it: its modes, and leaving it as it was found. Light.

Nothing is ever asked of the terminal: an answer that comes after we left would stand in the shell.
"""

from __future__ import annotations

import os
import termios
from array import array
from contextlib import suppress
from fcntl import ioctl
from typing import Any

_MOUSE = "\x1b[?1000h\x1b[?1002h\x1b[?1006h"  # buttons, dragging, SGR coordinates (xterm): not every move
# Alternate screen, focus events, bracketed paste, the keyboard protocol of kitty, no wrapping, no cursor.
_TAKE = "\x1b[?1049h\x1b[?1004h\x1b[?2004h\x1b[>1u\x1b[?7l\x1b[?25l"
# The keyboard protocol belongs to the alternate screen, so it goes before that does.
_LEAVE = b"\x1b[?2026l\x1b[?1006l\x1b[?1002l\x1b[?1000l\x1b[<u\x1b[?2004l\x1b[?1004l\x1b[?7h\x1b[0m\x1b[?25h\x1b[?1049l"


class Hold:
    """`reading` and `writing` are descriptors of one terminal. `leave` may be called at any time, also by a signal."""

    def __init__(self, reading: int, writing: int, *, mouse: bool = True) -> None:
        self.reading, self.writing, self.mouse = reading, writing, mouse
        self._found = termios.tcgetattr(reading)
        self.held = False
        self.cooked = 0  # bytes that were typed before the first `take`, when Enter still was a line feed

    def take(self, extra: str = "") -> None:
        """Full screen, keys one by one; nothing where it is held already. `extra` is drawn in the same write."""
        if self.held:
            return
        self.held = True
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(self.reading, termios.TCSANOW, self._raw())
        self.cooked = self.cooked or self.waiting()
        self.write(_TAKE + (_MOUSE if self.mouse else "") + extra)

    def leave(self) -> None:
        """The terminal as it was found."""
        if not self.held:
            return
        self.held = False
        with suppress(OSError):
            os.set_blocking(self.writing, True)
        with suppress(OSError):
            os.write(self.writing, _LEAVE)
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(self.reading, termios.TCSANOW, self._found)

    def write(self, text: str) -> None:
        """Write at once. Nobody there to read it is no error here: reading will tell."""
        data = text.encode("utf-8", "replace")
        with suppress(OSError):
            while data:
                data = data[os.write(self.writing, data) :]

    def size(self) -> tuple[int, int]:
        """Columns and rows as they are now; 80 and 24 where the terminal does not say."""
        try:
            columns, rows = os.get_terminal_size(self.writing)
        except OSError:
            columns = rows = 0
        return columns or 80, rows or 24

    def waiting(self) -> int:
        """Bytes that were typed and not read."""
        held = array("i", [0])
        with suppress(OSError):
            ioctl(self.reading, termios.FIONREAD, held)
        return max(held[0], 0)

    def _raw(self) -> list[Any]:
        modes = termios.tcgetattr(self.reading)
        modes[0] &= ~(termios.IXON | termios.IXOFF | termios.ICRNL | termios.INLCR | termios.IGNCR | termios.ISTRIP)
        modes[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN | termios.ISIG)
        modes[6] = list(modes[6])
        modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
        return modes

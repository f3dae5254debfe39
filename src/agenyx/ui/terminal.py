"""A terminal for questions: finding it, writing to it, keys and lines from it, and leaving it as it was found."""

from __future__ import annotations

import os
import select
import termios
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from typing import Any

DEAF = 0.3  # seconds after a question is drawn during which keys are ignored
_AT_ONCE = 1 << 16
QUIET = 0.02  # seconds without a further byte that make a key a key


class Closed(Exception):
    """The terminal is gone, or the question was withdrawn."""


@contextmanager
def _open() -> Generator[None, None, None]:
    try:
        yield
    except termios.error as error:
        raise Closed from error


class Terminal:
    """`reading` and `writing` are descriptors of the same terminal. Methods block: use them from a thread."""

    def __init__(self, reading: int, writing: int) -> None:
        self.reading, self.writing = reading, writing
        self._found = termios.tcgetattr(reading)
        self._wake_read, self._wake_write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    @property
    def woken(self) -> int:
        """A descriptor that can be read once the question was withdrawn."""
        return self._wake_read

    def size(self) -> tuple[int, int]:
        """Columns and rows as they are now; 80 and 24 where the terminal does not say."""
        try:
            columns, rows = os.get_terminal_size(self.writing)
        except OSError:
            columns = rows = 0
        return columns or 80, rows or 24

    def modes(self) -> list[Any]:
        """The modes as they are now. Raises Closed."""
        with _open():
            return termios.tcgetattr(self.reading)

    def set_modes(self, modes: list[Any]) -> None:
        """Set modes of before, and throw away what was typed and not read."""
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(self.reading, termios.TCSAFLUSH, modes)

    def restore(self) -> None:
        """Set the modes that were found. Safe at any time, also in a signal handler."""
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(self.reading, termios.TCSADRAIN, self._found)

    def keys(self) -> None:
        """Keys arrive one by one and are not shown; Ctrl+C and Ctrl+Z keep their meaning. Raises Closed."""
        with _open():
            modes = termios.tcgetattr(self.reading)
            modes[3] &= ~(termios.ICANON | termios.ECHO)
            modes[6][termios.VMIN], modes[6][termios.VTIME] = 1, 0
            termios.tcsetattr(self.reading, termios.TCSAFLUSH, modes)

    def lines(self) -> None:
        """Whole lines, shown and edited by the terminal itself. Raises Closed."""
        with _open():
            modes = termios.tcgetattr(self.reading)
            modes[3] |= termios.ICANON | termios.ECHO
            termios.tcsetattr(self.reading, termios.TCSADRAIN, modes)

    def write(self, text: str) -> None:
        """Write text that was made safe. Raises Closed."""
        data = text.encode("utf-8", "backslashreplace")
        try:
            while data:
                data = data[os.write(self.writing, data) :]
        except OSError as error:
            raise Closed from error

    def deaf(self, seconds: float = DEAF) -> None:
        """Throw away what was typed before now and within `seconds`. Raises Closed."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._wait(left, for_input=False)
        self.forget()

    def forget(self) -> None:
        """Throw away what was typed and not read. Raises Closed."""
        with _open():
            termios.tcflush(self.reading, termios.TCIFLUSH)

    def key(self) -> str:
        """One key. Several bytes in one moment are a paste or an escape sequence and count as none. Raises Closed."""
        while True:
            data = self._read(_AT_ONCE)
            while self._wait(QUIET, for_input=True):
                data = data[:1] + self._read(_AT_ONCE)
            if len(data) == 1:
                return data.decode("ascii", "replace").lower()

    def line(self) -> str:
        """One line, without its end. Raises Closed."""
        data = b""
        while not data.endswith(b"\n"):
            data += self._read(4096)
        return data.decode("utf-8", "replace").strip()

    def withdraw(self) -> None:
        """Make a blocked read in another thread raise Closed."""
        os.write(self._wake_write, b"x")

    def settle(self) -> None:
        """Forget withdrawals, before the next question."""
        while select.select([self._wake_read], [], [], 0)[0]:
            os.read(self._wake_read, 64)

    def _read(self, size: int) -> bytes:
        self._wait(None, for_input=True)
        try:
            data = os.read(self.reading, size)
        except OSError as error:
            raise Closed from error
        if not data:
            raise Closed
        return data

    def _wait(self, seconds: float | None, *, for_input: bool) -> bool:
        """Whether input came. Raises Closed when the question was withdrawn."""
        sources = [self._wake_read, self.reading] if for_input else [self._wake_read]
        ready = select.select(sources, [], [], seconds)[0]
        if self._wake_read in ready:
            raise Closed
        return bool(ready)


def find_terminal(isatty: Callable[[int], bool] = os.isatty) -> Terminal | None:
    """The terminal of the person who started us, or None where nobody would see a question.

    One of standard input and standard error has to be a terminal, and we must be in its foreground: a background job
    that asks would be stopped.
    """
    if not (isatty(0) or isatty(2)):
        return None
    try:
        tty = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return Terminal(0, 2) if isatty(0) and isatty(2) else None  # a container may have no controlling terminal
    try:
        if os.tcgetpgrp(tty) == os.getpgrp():
            return Terminal(tty, tty)
    except OSError:
        pass
    os.close(tty)
    return None

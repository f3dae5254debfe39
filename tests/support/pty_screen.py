"""A program behind a real pseudo-terminal: what it wrote byte by byte, and what a person would see.

    with Screen([sys.executable, "-m", "agenyx"], cwd=..., env=...) as screen:
        screen.see("> ")
        screen.type("hello\\r")
        assert screen.end() == 0

`data` is everything written so far; `rows()` the visible rows and `everything()` also what has scrolled away, both as a
terminal emulator shows them. Nothing sleeps: `see` and `until` poll with a deadline.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import pyte

from support.pty_rest import rest

DEADLINE = 60.0  # seconds until a condition that never came true fails a test
# A session leader gets the terminal it opens as its controlling one.
_STEAL = (
    "import fcntl,os,sys,termios as t; fcntl.ioctl(int(sys.argv[1]),t.TIOCSCTTY,0); os.execv(sys.argv[2],sys.argv[2:])"
)


class Screen:
    """Starts `argv` at once; `rows` and `columns` are the size of its terminal."""

    def __init__(
        self, argv: list[str], cwd: Path, env: dict[str, str], rows: int = 24, columns: int = 80, **popen: Any
    ) -> None:
        self.master, self.slave = pty.openpty()
        self.data = b""
        self._emulator = pyte.HistoryScreen(columns, rows, history=100_000, ratio=1)
        self._stream = pyte.ByteStream(self._emulator)
        self.resize(rows, columns)
        self.found = termios.tcgetattr(self.slave)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _STEAL, str(self.slave), *argv],
            cwd=cwd,
            env=env,
            start_new_session=True,
            pass_fds=(self.slave,),
            **{"stdin": self.slave, "stdout": self.slave, "stderr": self.slave, **popen},
        )

    def __enter__(self) -> Screen:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        for fd in (self.master, self.slave):
            if fd >= 0:
                os.close(fd)

    # --- what is shown -----------------------------------------------------------------------------------------------

    def read(self) -> None:
        """Take in what was written until now."""
        while self.master >= 0 and select.select([self.master], [], [], 0)[0]:
            try:
                data = os.read(self.master, 1 << 16)
            except OSError:
                return
            self.data += data
            self._stream.feed(data)

    def rows(self) -> list[str]:
        self.read()
        return [row.rstrip() for row in self._emulator.display]

    def everything(self) -> list[str]:
        """Scrolled rows, then the visible ones."""
        self.read()
        columns = self._emulator.columns
        above = ["".join(row[x].data for x in range(columns)).rstrip() for row in self._emulator.history.top]
        return above + [row.rstrip() for row in self._emulator.display]

    @property
    def text(self) -> str:
        return "\n".join(self.everything())

    def shows(self, text: str) -> bool:
        return text in "\n".join(self.rows())

    def see(self, text: str) -> None:
        """Wait until `text` stands on the visible screen."""
        self.until(lambda: self.shows(text), f"{text!r} on the screen")

    def until(self, condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + DEADLINE
        while not condition():
            shown = "\n".join(self.rows())
            assert time.monotonic() < end, f"never happened: {what}. The screen:\n{shown}\n{self.data[-600:]!r}"
            select.select([self.master], [], [], 0.02)

    # --- what is done ------------------------------------------------------------------------------------------------

    def type(self, keys: str | bytes) -> None:
        """Type in pieces, as the line to the program holds only so much."""
        data = keys.encode() if isinstance(keys, str) else keys
        end = time.monotonic() + DEADLINE
        while data:
            assert time.monotonic() < end, "the program does not read its terminal"
            self.read()
            if select.select([], [self.master], [], 0.02)[1]:
                data = data[os.write(self.master, data[:4096]) :]

    def resize(self, rows: int, columns: int) -> None:
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._emulator.resize(rows, columns)

    def modes(self) -> list[Any]:
        """What `stty` would tell."""
        return termios.tcgetattr(self.slave)

    def hang_up(self) -> None:
        """Close the terminal, as a window that is closed does."""
        os.close(self.slave)
        os.close(self.master)
        self.master = self.slave = -1

    def send(self, number: int) -> None:
        os.kill(self.process.pid, number)

    def stopped(self) -> bool:
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] == "T"

    def end(self) -> int:
        """The exit code, once it is there."""
        self.until(self._ended, "the program ends")
        if self.master >= 0:
            data = rest(self.master, self.slave)
            self.data += data
            self._stream.feed(data)
        return self.process.wait()

    def _ended(self) -> bool:
        self.read()
        return self.process.poll() is not None


CONTINUE = signal.SIGCONT

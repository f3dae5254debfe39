"""A surface of plain lines, for terminals that can do nothing and for pipes: no escape sequence, no editing of our own.

Input is read only while no turn runs, so that a question at the terminal gets its answer.
"""

from __future__ import annotations

import asyncio
import os
import threading
from contextlib import suppress

from agenyx.core.errors import AgenyxError
from agenyx.ui.chat.surface import Driver
from agenyx.ui.repl.transcript import Transcript
from agenyx.ui.spans import plain
from agenyx.ui.streams import Stream, Writer

PROMPT = "> "
_COLUMNS = 80


class Plain:
    """Reads lines from descriptor 0 and writes to `out`. `echo`: standard input is a terminal that shows a prompt."""

    driver: Driver
    transcript: Transcript
    """Both are set before anything is shown."""

    def __init__(self, writer: Writer, out: Stream, *, echo: bool) -> None:
        self._writer, self._out, self._echo = writer, out, echo
        self._buffer = b""
        self._ended = self._reading = False
        self._told = ""

    @property
    def echoes(self) -> bool:
        return True

    @property
    def columns(self) -> int:
        try:
            return max(os.get_terminal_size(self._out.fd).columns, 20)
        except OSError:
            return _COLUMNS

    def changed(self) -> None:
        if lines := self.transcript.take():
            self._out.write("".join(plain(line) + "\n" for line in lines))
        hint = self.driver.hint
        if hint and hint != self._told and hint.startswith("Ctrl"):
            self._out.write(f"\n{hint}\n")
        self._told = hint

    def take_back(self, text: str) -> None:
        """Nothing is queued here: input is read when no turn runs."""

    def paint(self, theme: str) -> bool:
        return False

    async def flush(self) -> None:
        await self._writer.drain()
        if self._out.fd in self._writer.broken:
            raise AgenyxError("standard output is closed")

    def ready(self) -> None:
        """Ask for the next line, or take one that has come already."""
        if self._reading:
            return
        if b"\n" in self._buffer or self._ended:
            self._deliver()
            return
        if self._echo:
            self._out.write(PROMPT)
        self._reading = True
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), name="agenyx-lines", daemon=True).start()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        try:
            data = os.read(0, 65536)
        except OSError:
            data = b""
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(self._came, data)

    def _came(self, data: bytes) -> None:
        self._reading = False
        self._ended = not data
        self._buffer += data
        if b"\n" in self._buffer or self._ended:
            self._deliver()
        else:
            self.ready()

    def _deliver(self) -> None:
        row, newline, self._buffer = self._buffer.partition(b"\n")
        if not (row or newline) and self._ended:
            self.driver.leave()
        else:
            self.driver.submit(row.decode("utf-8", "replace").removesuffix("\r"), keyed=self._echo)

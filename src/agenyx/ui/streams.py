"""Standard output and error: ordered writing that never blocks the caller, and text made fit for where it goes.

One daemon thread writes, so a stopped terminal or a slow pipe holds up neither the loop nor a signal. Plain
descriptors, because a thread inside sys.stdout would hold a lock that the interpreter wants at exit.
"""

from __future__ import annotations

import asyncio
import os
import select
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from agenyx.core.redact import Masker
from agenyx.core.tty import json_safe, safe


class _Exit:
    """The last look at the bytes that leave through one descriptor. Holds nothing back.

    The piece that would complete a secret goes out with a mask in place of its share of it.
    """

    def __init__(self, masker: Masker) -> None:
        self._masker = masker.latin
        self._tail = ""

    def passed(self, data: bytes) -> bytes:
        """The bytes to write in place of `data`."""
        masker = self._masker
        if not masker.longest:
            return data
        before = len(self._tail)
        whole = self._tail + data.decode("latin-1")
        parts, at = list[str](), before
        for start, stop in masker.spans(whole):
            if stop > before:
                parts += (whole[at : max(start, before)], masker.mask)
                at = stop
        if parts:
            shown = "".join((*parts, whole[at:]))
            whole, data = self._tail + shown, shown.encode("latin-1")
        self._tail = whole[max(0, len(whole) - masker.longest + 1) :]
        return data


class Writer:
    """Writes to descriptors in the order of `put`. `broken` holds the first error of each descriptor."""

    def __init__(self) -> None:
        self._items: deque[tuple[int, bytes] | Callable[[], None]] = deque()
        self._ready = threading.Condition()
        self._thread: threading.Thread | None = None
        self._masker: Masker | None = None
        self._exits: dict[int, _Exit] = {}
        self.broken: dict[int, OSError] = {}

    def seal(self, masker: Masker) -> None:
        """From now on let none of these secrets out, whoever puts it."""
        self._masker, self._exits = masker, {}

    def put(self, fd: int, data: bytes) -> None:
        """Queue bytes; never waits, never raises."""
        if self._masker is not None:
            if fd not in self._exits:
                self._exits[fd] = _Exit(self._masker)
            data = self._exits[fd].passed(data)
        self._queue((fd, data))

    async def drain(self) -> None:
        """Return once everything that was put has been written or has failed."""
        if self._thread is None:
            return
        loop = asyncio.get_running_loop()
        written = asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the waiter and its loop are gone
                loop.call_soon_threadsafe(written.set)

        self._queue(wake)
        await written.wait()

    def settle(self, seconds: float) -> bool:
        """Block until everything that was put has been written or has failed, at most so long. Whether it has."""
        if self._thread is None:
            return True
        written = threading.Event()
        self._queue(written.set)
        return written.wait(seconds)

    def _queue(self, item: tuple[int, bytes] | Callable[[], None]) -> None:
        with self._ready:
            self._items.append(item)
            self._ready.notify()
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="agenyx-output", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            with self._ready:
                while not self._items:
                    self._ready.wait()
                item = self._items.popleft()
            if callable(item):
                item()
            elif item[0] not in self.broken:
                self._write(*item)

    def _write(self, fd: int, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[os.write(fd, rest) :]
            except BlockingIOError:  # the parent left the pipe in non-blocking mode
                select.select([], [fd], [])
            except OSError as error:
                self.broken[fd] = error
                return


class Stream:
    """Text for one descriptor. `neutral` text is made safe for a terminal first."""

    def __init__(self, writer: Writer, fd: int, encoding: str, errors: str, *, neutral: bool) -> None:
        self._writer, self.fd, self._encoding, self._errors, self._neutral = writer, fd, encoding, errors, neutral
        self.tty = os.isatty(fd)

    def write(self, text: str) -> None:
        if self._neutral:
            text = safe(text.replace("\r\n", "\n"))
        self._writer.put(self.fd, text.encode(self._encoding, self._errors))

    def raw(self, data: bytes) -> None:
        """JSON of our own making, which is UTF-8 wherever it goes; on a terminal with more of it escaped."""
        self._writer.put(self.fd, json_safe(data) if self.tty else data)


def standard(writer: Writer) -> tuple[Stream, Stream]:
    """Standard output and standard error. A pipe gets the answer as it is; a terminal and stderr get neutral text."""
    out = Stream(writer, 1, _encoding(sys.stdout), "replace", neutral=os.isatty(1))
    return out, Stream(writer, 2, _encoding(sys.stderr), "backslashreplace", neutral=True)


def _encoding(stream: TextIO | None) -> str:
    return (stream.encoding if stream else "") or "utf-8"

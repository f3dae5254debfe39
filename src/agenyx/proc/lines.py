"""Turns a stream of bytes into lines for one waiting reader, within bounds. Knows no pipe and no process."""

from __future__ import annotations

import asyncio

KEEP = 1 << 20  # bytes of unread output


class LineBuffer:
    """Complete lines. Of more than KEEP unread bytes the oldest lines go; a line longer than that comes in pieces."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._ended = False
        self._more = asyncio.Event()

    def feed(self, data: bytes) -> None:
        self._data += data
        if len(self._data) > 2 * KEEP:
            del self._data[:-KEEP]
            # What is left begins within a line: that piece goes too, unless there is nothing else.
            cut = self._data.find(b"\n") + 1
            if cut < len(self._data):
                del self._data[:cut]
        self._more.set()

    def end(self) -> None:
        self._ended = True
        self._more.set()

    async def next(self) -> bytes:
        """A line with its end, or the rest at the end of the stream; b"" after that."""
        while True:
            size = self._data.find(b"\n") + 1
            if not size and (self._ended or len(self._data) >= KEEP):
                size = len(self._data)
            if size or self._ended:
                line = bytes(self._data[:size])
                del self._data[:size]
                return line
            self._more.clear()
            await self._more.wait()

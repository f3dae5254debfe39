"""Keeps the output of a process within bounds: its head and tail in memory, the whole of it in a spill file.

Knows bytes only: no process, no text. Of credentials it is told how to take them out, before anything is kept.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from agenyx.core.masked_output import OutputMasker


class Capture(Struct, frozen=True):
    """What was printed. Without overflow everything is in `head` and `tail` is empty.

    `total` counts every byte that was read, with masks in place of credentials; `spill` names the file that holds
    the output from byte 0 on (all of it, or the first `spill_cap` bytes), None when nothing overflowed or the file
    could not be written.
    """

    head: bytes
    tail: bytes
    total: int
    spill: str | None

    @property
    def omitted(self) -> int:
        """Bytes between head and tail that are not in memory."""
        return self.total - len(self.head) - len(self.tail)


class Recorder:
    """Collects one output. Holds at most `head` + 2 x `tail` bytes, whatever is fed, and what `masker` holds back."""

    def __init__(
        self, head: int, tail: int, spill: str | None = None, spill_cap: int = 0, masker: OutputMasker | None = None
    ) -> None:
        self._masker = masker
        self._head_size, self._tail_size = head, tail
        self._head, self._tail = bytearray(), bytearray()
        self._path, self._room = spill, spill_cap
        self._file = -1
        self.total = 0

    def feed(self, data: bytes) -> None:
        """Record the next bytes. Disk errors end the spill file, never the process."""
        self._take(data if self._masker is None else self._masker.feed(data))

    def _take(self, data: bytes) -> None:
        self.total += len(data)
        overflow = self.total > self._head_size + self._tail_size
        if overflow and self._path is not None and self._file < 0:
            # Nothing has been dropped yet: the file begins with what memory holds.
            self._open(self._path)
            self._write(self._head)
            self._write(self._tail)
        if self._file >= 0:
            self._write(data)
        room = self._head_size - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data[-self._tail_size :] if self._tail_size else b""
        if overflow and len(self._tail) > 2 * self._tail_size:
            del self._tail[: -self._tail_size]

    def finish(self) -> Capture:
        """Close the spill file and return what was kept. Once."""
        if self._masker is not None:
            self._take(self._masker.end())
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        head, tail = bytes(self._head), bytes(self._tail)
        if self.total <= self._head_size + self._tail_size:
            return Capture(head + tail, b"", self.total, None)
        return Capture(head, tail[-self._tail_size :] if self._tail_size else b"", self.total, self._path)

    def _open(self, path: str) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            self._file = os.open(path, flags, 0o600)
        except OSError:
            self._path = None

    def _write(self, data: bytes | bytearray) -> None:
        view = memoryview(data)[: self._room]
        try:
            while view and self._file >= 0:
                count = os.write(self._file, view)
                self._room -= count
                view = view[count:]
        except OSError:
            # A spill with a hole in it would be believed: better none.
            os.close(self._file)
            self._file = -1
            if self._path is not None:
                os.unlink(self._path)
            self._path = None

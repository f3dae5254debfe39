"""Cuts what a server prints into lines, within a size: a longer line is an end, not a buffer. Pure."""

from __future__ import annotations


class TooLong(Exception):
    """A line is longer than what is taken."""


class Lines:
    """Holds at most `limit` bytes and one piece that was fed."""

    def __init__(self, limit: int) -> None:
        self._limit, self._rest = limit, bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that are complete now, without line ends and blank ones. Raises TooLong."""
        first, *more = data.split(b"\n")
        if not more:
            self._keep(first)
            return []
        self._keep(first)
        lines = [bytes(self._rest), *more[:-1]]
        self._rest.clear()
        self._keep(more[-1])
        if any(len(line) > self._limit for line in lines):
            raise TooLong
        return [stripped for line in lines if (stripped := line.strip())]

    def _keep(self, data: bytes) -> None:
        if len(self._rest) + len(data) > self._limit:
            raise TooLong
        self._rest += data

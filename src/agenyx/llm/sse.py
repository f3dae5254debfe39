"""Server-sent events from bytes, incrementally (WHATWG HTML, section 9.2), and the JSON in them.

Only the data matters to model APIs.
"""

from __future__ import annotations

from typing import Generic, TypeVar, cast

from agenyx.core import json

T = TypeVar("T")

EVENT_BYTES = 32 << 20
_BOM = b"\xef\xbb\xbf"


class SseError(ValueError):
    """An event is larger than the limit."""


class SseReader:
    """`feed` returns the data of each event that became whole; names, ids and comments are dropped."""

    def __init__(self, limit: int = EVENT_BYTES) -> None:
        self._limit = limit
        self._parts: list[bytes] = []  # of the line that is still open
        self._open = 0  # their bytes
        self._data: list[bytes] = []  # lines of the event that is still open
        self._counted = 0  # how many of them are in _held
        self._held = 0
        self._after_cr = False
        self._begun = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """Raises SseError."""
        if not self._begun:
            chunk = self._join(chunk)
            if len(chunk) < 3 and _BOM.startswith(chunk):
                self._parts.append(chunk)
                return []
            self._begun = True
            chunk = chunk.removeprefix(_BOM)
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if b"\r" in chunk:
            self._after_cr = chunk.endswith(b"\r")
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        if b"\n" not in chunk:
            self._keep(chunk)
            return []
        lines = self._join(chunk).split(b"\n")
        last = lines.pop()
        events = self._lines(lines)
        self._keep(last)
        return events

    def end(self) -> list[bytes]:
        """The stream is over: an event that lacks its blank line counts as well."""
        line = self._join(b"")
        return self._lines([line, b""] if line else [b""])

    def _join(self, chunk: bytes) -> bytes:
        if not self._parts:
            return chunk
        whole = b"".join((*self._parts, chunk))
        self._parts.clear()
        self._open = 0
        return whole

    def _keep(self, part: bytes) -> None:
        if part:
            self._parts.append(part)
            self._open += len(part)
        if self._open + self._held > self._limit:
            raise SseError(f"an event of the stream is larger than {self._limit} bytes")

    def _lines(self, lines: list[bytes]) -> list[bytes]:
        events: list[bytes] = []
        data = self._data
        for line in lines:
            if line[:6] == b"data: ":
                data.append(line[6:])
            elif not line:
                if data:
                    events.append(data[0] if len(data) == 1 else b"\n".join(data))
                    data.clear()
                    self._counted = self._held = 0
            elif line[:5] == b"data:":
                data.append(line[5:])
            elif line == b"data":
                data.append(b"")
        if data:
            # An empty line costs memory too.
            self._held += sum(len(line) + 64 for line in data[self._counted :])
            self._counted = len(data)
        return events


class JsonEvents(Generic[T]):
    """Decoders of one type, for one event and for all events of a read at once, which is a third of the cost."""

    def __init__(self, type_: type[T]) -> None:
        self._one = json.Decoder(type_)
        self._many: json.Decoder[list[T]] = json.Decoder(list[type_])

    def decode(self, events: list[bytes]) -> list[T | None]:
        """A value for each event; None ends the list where one is not of the type."""
        if len(events) > 1:
            try:
                values = self._many.decode(b"[" + b",".join(events) + b"]")
            except json.JsonError:
                pass
            else:
                if len(values) == len(events):
                    return cast("list[T | None]", values)
        found: list[T | None] = []
        for event in events:
            try:
                found.append(self._one.decode(event))
            except json.JsonError:
                found.append(None)
                break
        return found

"""Records as lines: bytes to lines with a cap, a record to one line with a cap. Pure; knows no record by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

import msgspec

from agenyx.core import json

IN_BYTES = 8 << 20  # of one line that comes in (reference: AgentX §7.1)
OUT_CHARS = 1_048_575  # of one line that goes out; the Python Agent SDK refuses more
_CUT_KEPT = 2_000  # characters that stay of a text that was cut


class TooLong(Exception):
    """A line has more than the cap. What of it came is gone."""


class Lines:
    """Splits what comes in. A line may come in any pieces; the last one may lack its end."""

    def __init__(self, limit: int = IN_BYTES) -> None:
        self._limit, self._parts, self._size = limit, list[bytes](), 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The lines that are whole now, without blank ones. Raises TooLong."""
        *whole, rest = data.split(b"\n")
        for line in whole:
            self._add(line)
            if taken := self._take():
                yield taken
        self._add(rest)

    def end(self) -> bytes:
        """A last line that lacks its end, b"" for none."""
        return self._take()

    def _add(self, piece: bytes) -> None:
        self._parts.append(piece)
        self._size += len(piece)
        if self._size > self._limit:
            raise TooLong

    def _take(self) -> bytes:
        whole = b"".join(self._parts).strip()
        self._parts, self._size = [], 0
        return whole


def line(record: object, spill: Callable[[bytes], str], limit: int = OUT_CHARS) -> bytes:
    """One line with its end. Of a record that is too long the longest texts are cut, until it fits.

    `spill` keeps the whole record and returns where, "" where it could not; the record then names that in `spill`.
    Bytes are counted, which are never fewer than characters.
    """
    data = _encoded(record)
    if len(data) > limit:
        data = _shortened(cast("dict[str, Any]", json.decode(data)), spill(data), limit)
    return data + b"\n"


def _encoded(record: object) -> bytes:
    try:
        data = json.encode(record)
    except UnicodeEncodeError:
        data = json.encode(_scrubbed(msgspec.to_builtins(record)))
    if b"\xe2\x80" in data:  # line ends to some readers
        data = data.replace(b"\xe2\x80\xa8", b"\\u2028").replace(b"\xe2\x80\xa9", b"\\u2029")
    return data


def _shortened(record: dict[str, Any], place: str, limit: int) -> bytes:
    where = f"the whole record is in {place}" if place else "it could not be kept"
    if place:
        record["spill"] = place
    texts = sorted(_texts(record), key=lambda found: -len(found[2]))
    for holder, key, text in texts:
        rest = len(text) - _CUT_KEPT
        if rest <= 0:
            break
        holder[key] = f"{text[:_CUT_KEPT]}\n… {rest:,} characters more; {where}"
        data = _encoded(record)
        if len(data) <= limit:
            return data
    # Nothing long is left, so there are very many members: what the record is stays, and where its content is.
    short = {key: value for key, value in record.items() if isinstance(value, str | int | float | bool | None)}
    return _encoded(short)


def _texts(node: Any) -> Iterator[tuple[Any, Any, str]]:
    members = cast("dict[str, Any]", node).items() if isinstance(node, dict) else enumerate(cast("list[Any]", node))
    for key, value in members:
        if isinstance(value, str):
            yield node, key, value
        elif isinstance(value, dict | list):
            yield from _texts(value)


def _scrubbed(node: Any) -> Any:
    if isinstance(node, str):
        return json.scrub(node)
    if isinstance(node, dict):
        return {json.scrub(str(key)): _scrubbed(value) for key, value in cast("dict[object, Any]", node).items()}
    return [_scrubbed(item) for item in cast("list[Any]", node)] if isinstance(node, list | tuple) else node

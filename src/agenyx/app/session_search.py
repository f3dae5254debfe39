"""Finds text in stored sessions: in titles, prompts, answers and calls; not in what the calls returned."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from agenyx.core import json
from agenyx.core.messages import Text, ToolCall
from agenyx.session.inventory import Found
from agenyx.session.records import Prompt, Reader, Record, Response, Title
from agenyx.session.store import TRANSCRIPT

_PIECE = 4 << 20
_AROUND = 40  # characters shown on each side of a hit
_MARKS = (b'"kind":"prompt"', b'"kind":"response"', b'"kind":"title"')


Where = Literal["title", "prompt", "answer", "call"]


class Hit(Struct, frozen=True):
    """`text` is the place on one line; `at` in Unix seconds."""

    where: Where
    text: str
    at: float


def search(found: Found, wanted: str, most: int, reader: Reader | None = None) -> list[Hit]:
    """The first hits in one session, whatever the letter case. What cannot be read has none."""
    reader, hits = reader or Reader(), list[Hit]()
    try:
        for line in _lines(found.directory, wanted):
            try:
                record = reader.decode(line)
            except json.JsonError:
                continue
            hits += _of(record, wanted)
            if len(hits) >= most:
                return hits[:most]
    except OSError:
        return hits
    return hits


def _lines(directory: str, wanted: str) -> Iterator[bytes]:
    """The lines that may hold the text. Letters beyond ASCII have no case in bytes, so then each such line is one."""
    needle = json.encode(wanted)[1:-1].lower() if wanted.isascii() else b""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    with open(os.open(os.path.join(directory, TRANSCRIPT), flags), "rb") as file:
        while piece := file.read(_PIECE):
            piece += file.readline()
            if needle and needle not in piece.lower():
                continue
            for line in piece.split(b"\n"):
                if any(mark in line[:400] for mark in _MARKS) and needle in line.lower():
                    yield line


def _of(record: Record, wanted: str) -> list[Hit]:
    places = list[tuple[Where, str]]()
    match record.body:
        case Title(text):
            places.append(("title", text))
        case Prompt(user) if user.origin in ("typed", "steer"):
            places.append(("prompt", user.said))
        case Response(assistant):
            for block in assistant.blocks:
                if isinstance(block, Text):
                    places.append(("answer", block.text))
                elif isinstance(block, ToolCall):
                    places.append(("call", f"{block.name} {block.args}"))
        case _:
            pass
    return [Hit(where, shown, record.at) for where, text in places if (shown := _around(text, wanted))]


def _around(text: str, wanted: str) -> str:
    """The hit and what stands beside it, "" where there is none."""
    at = text.casefold().find(wanted.casefold())
    if at < 0:
        return ""
    start, stop = max(0, at - _AROUND), at + len(wanted) + _AROUND
    middle = " ".join(text[start:stop].split())
    return f"{'...' if start else ''}{middle}{'...' if stop < len(text) else ''}"

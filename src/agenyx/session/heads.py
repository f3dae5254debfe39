"""What the first lines and the tail of a transcript tell about a session. Reads at most a few blocks of each."""

from __future__ import annotations

import os

from msgspec import Struct

from agenyx.core import json
from agenyx.session.records import Opened, Prompt, Reader, Title
from agenyx.session.store import TRANSCRIPT
from agenyx.session.titles import from_prompt, read_sidecar

_BLOCK = 32 << 10
_MOST = 512 << 10  # in which the first prompt is looked for: instructions of a workspace stand before it
_TYPED = b'"origin":"typed"'
_TITLE = b'"kind":"title"'
_OPENED = b'"kind":"opened"'


class Head(Struct, frozen=True):
    """`title` is what to show; `workspace` the real path it began in; `created_at` in Unix seconds, 0 when unknown."""

    title: str = ""
    workspace: str = ""
    created_at: float = 0.0


def head_of(directory: str, reader: Reader | None = None) -> Head:
    """Never fails: what cannot be read is empty."""
    reader = reader or Reader()
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
    try:
        descriptor = os.open(os.path.join(directory, TRANSCRIPT), flags)
    except OSError:
        return Head()
    try:
        return _read(descriptor, os.fstat(descriptor).st_size, directory, reader)
    except OSError:
        return Head()
    finally:
        os.close(descriptor)


def _read(descriptor: int, size: int, directory: str, reader: Reader) -> Head:
    data = os.pread(descriptor, _BLOCK, 0)
    while len(data) < min(size, _MOST) and not _whole(data, _TYPED):
        more = os.pread(descriptor, len(data), len(data))
        if not more:
            break
        data += more
    title = ""
    tail = data if size <= len(data) else os.pread(descriptor, _BLOCK, max(0, size - _BLOCK))
    line = _line(tail, tail.rfind(_TITLE))
    if line:
        title = _title(line, reader)
    if not title and size > len(data):
        title = read_sidecar(directory)
    workspace, created = _opened(_line(data, data.find(_OPENED)), reader)
    return Head(title or _prompt(_line(data, data.find(_TYPED)), reader), workspace, created)


def _whole(data: bytes, mark: bytes) -> bool:
    at = data.find(mark)
    return at >= 0 and data.find(b"\n", at) >= 0


def _line(data: bytes, at: int) -> bytes:
    """The whole line around a place; b"" where there is no place or the line is cut."""
    if at < 0:
        return b""
    stop = data.find(b"\n", at)
    return data[data.rfind(b"\n", 0, at) + 1 : stop] if stop >= 0 else b""


def _title(line: bytes, reader: Reader) -> str:
    try:
        body = reader.decode(line).body
    except json.JsonError:
        return ""
    return body.text if isinstance(body, Title) else ""


def _prompt(line: bytes, reader: Reader) -> str:
    try:
        body = reader.decode(line).body
    except json.JsonError:
        return ""
    return from_prompt(body.user.said) if isinstance(body, Prompt) and body.user.origin == "typed" else ""


def _opened(line: bytes, reader: Reader) -> tuple[str, float]:
    try:
        record = reader.decode(line)
    except json.JsonError:
        return "", 0.0
    return (record.body.workspace, record.at) if isinstance(record.body, Opened) else ("", 0.0)

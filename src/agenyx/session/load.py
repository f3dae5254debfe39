"""Reads transcripts back. Bad lines anywhere are counted and passed over."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import BinaryIO

from agenyx.config.home import workspace_key
from agenyx.core import json
from agenyx.core.errors import AgenyxError
from agenyx.core.limits import RECORD_BYTES, TRANSCRIPT_BYTES, TRANSCRIPT_RECORDS
from agenyx.session.diagnostics import tell
from agenyx.session.records import Reader, Record
from agenyx.session.state import State
from agenyx.session.store import TRANSCRIPT
from agenyx.session.tree import fold

_FULL = "Start a new session; this one stays on disk as it is."


def sessions_of(home: str, workspace: str) -> str:
    """The folder that holds the sessions of a workspace."""
    return os.path.join(home, "sessions", workspace_key(workspace))


def decode_lines(data: bytes | BinaryIO, problems: list[str]) -> Iterator[Record]:
    """The records in `data`; each line that is none is told in `problems`. The order of `seq` must rise."""
    reader, last, number = Reader(), 0, 0
    known, unknown = set[str](), list[tuple[int, str]]()
    file = BytesIO(data) if isinstance(data, bytes) else data
    # Line by line: a copy of the whole file would cost as much memory again as what is made of it.
    while line := file.readline(RECORD_BYTES + 2):
        number += 1
        if len(line) > RECORD_BYTES + 1:
            tell(problems, "record_too_large", f"line {number} is too large", number)
            while line and not line.endswith(b"\n"):
                line = file.readline(RECORD_BYTES)
            continue
        try:
            record = reader.decode(line)
        except json.JsonError:
            if line != b"\n":
                _tell_damage(line, number, problems)
            continue
        if record.seq <= last or record.id in known:
            _tell_order(record, record.id in known, last, number, problems)
            continue
        if record.parent not in known and record.parent:
            unknown.append((number, record.parent))
        known.add(record.id)
        last = record.seq
        yield record
    for number, parent in unknown:
        if parent in known:
            tell(problems, "noncausal_parent", f"line {number} stands before or at what it follows", number)
        else:
            tell(problems, "missing_parent", f"line {number} follows a record that is not there", number)


def _tell_damage(line: bytes, number: int, problems: list[str]) -> None:
    if not line.endswith(b"\n"):
        return tell(problems, "truncated_tail", f"line {number} is cut off", number)
    try:
        json.decode(line)
    except json.JsonError:
        return tell(problems, "malformed_record", f"line {number} is damaged", number)
    return tell(problems, "invalid_event", f"line {number} is no record", number)


def _tell_order(record: Record, again: bool, last: int, number: int, problems: list[str]) -> None:
    if again:
        tell(problems, "duplicate_event_id", f"line {number} repeats an earlier record", number)
    elif record.seq == last:
        tell(problems, "duplicate_sequence", f"line {number} has the number of the record before it", number)
    else:
        tell(problems, "non_monotonic_sequence", f"line {number} stands out of its order", number)


def load(directory: str) -> State:
    """Fold the transcript in `directory`, along the branch at its head.

    Raises AgenyxError when there is none or it is too large.
    """
    path = os.path.join(directory, TRANSCRIPT)
    problems: list[str] = []

    def records() -> Iterator[Record]:
        file.seek(0)
        problems.clear()
        for count, record in enumerate(decode_lines(file, problems)):
            if count >= TRANSCRIPT_RECORDS:
                raise AgenyxError(f"the transcript {path} has more than {TRANSCRIPT_RECORDS:,} records", _FULL)
            yield record

    try:
        with _opened(path) as file, _no_collection():
            state = fold(records)
    except OSError as error:
        raise AgenyxError(f"the session cannot be read: {error.strerror} ({path})") from error
    if state.opened is not None and state.opened.session != os.path.basename(directory):
        said = f"the transcript is that of session {state.opened.session}"
        tell(problems, "foreign_session_event", said)
    state.problems[:0] = problems
    return state


def _opened(path: str) -> BinaryIO:
    """A plain transcript of a bearable size. Raises OSError, AgenyxError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_size > TRANSCRIPT_BYTES:
        os.close(descriptor)
        plain = stat.S_ISREG(found.st_mode)
        what = f"has {found.st_size:,} bytes, which is too large" if plain else "is no regular file"
        raise AgenyxError(f"the transcript {path} {what}", _FULL)
    return open(descriptor, "rb", buffering=1 << 18)


@contextmanager
def _no_collection() -> Generator[None]:
    """Nothing that a load makes is garbage: looking for it again and again would take half of the time."""
    import gc  # a new session loads nothing

    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()

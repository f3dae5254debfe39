"""Copies a session into a new one. A marker stands in the new folder until it is whole, so that a crash leaves nothing
that anyone would take for a session; for as long the folder is locked, so that the next copy knows what a crash left.

Copied are the records, as they are, and what belongs to results. Not copied is what only the running session has: its
shell, its jobs, and the calls that have no result yet, which would else run a second time.
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress

from msgspec.structs import replace

from agenyx.config.home import private_directory
from agenyx.core import json
from agenyx.core.errors import StoreError
from agenyx.core.limits import RECORD_BYTES
from agenyx.core.messages import ToolResult
from agenyx.session.leftovers import leftovers
from agenyx.session.load import load
from agenyx.session.records import Opened, Pruned, Reader, Record, Response, Result, encode
from agenyx.session.state import State
from agenyx.session.store import TRANSCRIPT, UNFINISHED, take_lock
from agenyx.session.titles import write_sidecar

FOLDERS = ("output", "attachments", "blobs", "media")
"""What belongs to records and is kept in files beside the transcript."""

_PIECE = 1 << 20


def fork(source: str, target: str) -> None:
    """Copy the session in the folder `source` to `target`, which is not there yet. The last part of it is the new id.

    Another process may be using the source. Raises AgenyxError; nothing of the copy counts then.
    """
    state, lock = load(source), -1
    with suppress(OSError):  # what cannot be removed is in nobody's way
        leftovers(os.path.dirname(target), remove=True, only="incomplete")
    try:
        private_directory(target)
        lock = _locked(target)
        marker = os.path.join(target, UNFINISHED)
        os.close(os.open(marker, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        _sync(target)
        _sync(os.path.dirname(target))
        for name in FOLDERS:
            _copy_folder(os.path.join(source, name), os.path.join(target, name))
        _copy_records(source, target, state)
        if state.title:
            write_sidecar(target, state.title)
        _sync(target)
        os.unlink(marker)
        _sync(target)
    except OSError as error:
        with suppress(OSError):
            os.unlink(os.path.join(target, TRANSCRIPT))  # before the marker, whatever happens meanwhile
        shutil.rmtree(target, ignore_errors=True)
        raise StoreError(
            f"the session could not be copied: {error.strerror}",
            "Free space or make the disk writable, then try again; the session itself is as it was.",
        ) from error
    finally:
        if lock >= 0:
            os.close(lock)


def _locked(target: str) -> int:
    folder = os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        return take_lock(folder, target)
    finally:
        os.close(folder)


def _copy_records(source: str, target: str, state: State) -> None:
    """The records that `state` is the fold of, up to a response that has calls without a result."""
    origin, identity = os.path.basename(source), os.path.basename(target)

    def moved(result: ToolResult) -> ToolResult:
        inside = _inside(result.spill, source) if result.spill else ""
        return replace(result, spill=os.path.join(target, inside)) if inside else result

    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with open(os.open(os.path.join(target, TRANSCRIPT), flags, 0o600), "wb") as out:
        for line, record in _lines(os.path.join(source, TRANSCRIPT)):
            if record.seq > state.seq:
                break
            match record.body:
                case Response(assistant) if any(call.id in state.pending for call in assistant.calls):
                    break
                case Opened() as body:
                    line = encode(replace(record, body=replace(body, session=identity, origin=origin)))
                case Result(result) as body if result.spill:
                    line = encode(replace(record, body=replace(body, result=moved(result))))
                case Pruned(results) as body:
                    line = encode(replace(record, body=replace(body, results=tuple(map(moved, results)))))
                case _:
                    pass
            out.write(line)
        out.flush()
        os.fsync(out.fileno())


def _lines(path: str) -> Iterator[tuple[bytes, Record]]:
    """The lines that are records, as they stand in the file, with a newline each."""
    reader, last = Reader(), 0
    with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW), "rb") as file:
        while line := file.readline(RECORD_BYTES + 1):
            try:
                record = reader.decode(line)
            except json.JsonError:
                continue
            if record.seq > last:
                last = record.seq
                yield line.removesuffix(b"\n") + b"\n", record


def _inside(path: str, folder: str) -> str:
    """`path` relative to the folder, "" where it does not lie in it."""
    return path[len(folder) + 1 :] if path.startswith(folder + os.sep) and ".." not in path.split(os.sep) else ""


def _copy_folder(source: str, target: str) -> None:
    """All plain files below, each compared with its source. A link or anything else that is no file is left out."""
    if not os.path.isdir(source) or os.path.islink(source):
        return
    os.mkdir(target, 0o700)
    for name in sorted(os.listdir(source)):
        old, new = os.path.join(source, name), os.path.join(target, name)
        with suppress(FileNotFoundError):  # the session in use dropped it meanwhile
            kind = stat.S_IFMT(os.lstat(old).st_mode)
            if kind == stat.S_IFDIR:
                _copy_folder(old, new)
            elif kind == stat.S_IFREG:
                _copy_file(old, new)
    _sync(target)


def _copy_file(old: str, new: str) -> None:
    digest = hashlib.sha256()
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with (
        open(os.open(old, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as read,
        open(os.open(new, flags, 0o600), "w+b") as written,
    ):
        while piece := read.read(_PIECE):
            digest.update(piece)
            written.write(piece)
        written.flush()
        os.fsync(written.fileno())
        written.seek(0)
        if hashlib.file_digest(written, "sha256").digest() != digest.digest():
            raise OSError(errno.EIO, f"the copy of {os.path.basename(old)} differs from it")


def _sync(directory: str) -> None:
    folder = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)

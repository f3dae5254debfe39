"""The writer: order, back-pressure, readers that are slow or gone."""

from __future__ import annotations

import asyncio
import errno
import os
import pty
import threading

import pytest

from agenyx.core.redact import Masker
from agenyx.ui.streams import Stream, Writer


def read_all(fd: int, into: list[bytes]) -> None:
    while data := os.read(fd, 65536):
        into.append(data)


def test_a_full_pipe_holds_up_nobody_and_loses_nothing() -> None:
    read, write = os.pipe()
    writer, got = Writer(), list[bytes]()
    data = os.urandom(1 << 20)
    writer.put(write, data)  # far more than a pipe takes: nobody reads yet
    writer.put(write, b"end")
    reader = threading.Thread(target=read_all, args=(read, got))
    reader.start()
    asyncio.run(writer.drain())
    os.close(write)
    reader.join()
    os.close(read)
    assert b"".join(got) == data + b"end"


def test_a_pipe_in_non_blocking_mode_loses_nothing_either() -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    writer, got = Writer(), list[bytes]()
    writer.put(write, b"x" * (1 << 20))
    reader = threading.Thread(target=read_all, args=(read, got))
    reader.start()
    asyncio.run(writer.drain())
    os.close(write)
    reader.join()
    os.close(read)
    assert sum(map(len, got)) == 1 << 20


def test_a_gone_reader_is_noted_and_others_still_get_theirs() -> None:
    gone_read, gone = os.pipe()
    os.close(gone_read)
    read, write = os.pipe()
    writer = Writer()
    for fd in (gone, write, gone):
        writer.put(fd, b"hello")
    asyncio.run(writer.drain())
    assert writer.broken[gone].errno == errno.EPIPE
    assert write not in writer.broken
    assert os.read(read, 100) == b"hello"
    for fd in (gone, read, write):
        os.close(fd)


def test_draining_needs_no_thread_when_nothing_was_written() -> None:
    before = threading.active_count()
    asyncio.run(Writer().drain())
    assert threading.active_count() == before


def test_characters_that_the_encoding_lacks() -> None:
    read, write = os.pipe()
    writer = Writer()
    Stream(writer, write, "ascii", "replace", neutral=False).write("naïve\x1b\n")
    Stream(writer, write, "ascii", "backslashreplace", neutral=True).write("naïve\x1b\r\n")
    asyncio.run(writer.drain())
    assert os.read(read, 100) == b"na?ve\x1b\nna\\xefve\\x1b\n"
    os.close(read)
    os.close(write)


KEY = "sk-live-0123456789"


def written(*pieces: bytes, secrets: tuple[str, ...] = (KEY,)) -> bytes:
    read, write = os.pipe()
    writer = Writer()
    writer.seal(Masker(secrets))
    for piece in pieces:
        writer.put(write, piece)
    asyncio.run(writer.drain())
    os.close(write)
    got = list[bytes]()
    read_all(read, got)
    os.close(read)
    return b"".join(got)


@pytest.mark.parametrize("key", [KEY, "schlüssel-0123456"])
def test_no_secret_leaves_in_whatever_pieces_it_is_put(key: str) -> None:
    data = f"before {key} after".encode()
    for cut in range(len(data) + 1):
        out = written(data[:cut], data[cut:], secrets=(key,))
        assert key.encode() not in out and b"[REDACTED]" in out
        assert out.startswith(b"before ") and out.endswith(b" after")
    single = written(*(data[at : at + 1] for at in range(len(data))), secrets=(key,))
    assert key.encode() not in single and single.endswith(b" after")


def test_a_seal_holds_back_nothing_and_changes_nothing_else() -> None:
    assert written(b"> ", b"sk-li", b"\xff\x00", b"sk-live-0123", b"\n") == b"> sk-li\xff\x00sk-live-0123\n"
    assert written(b"short", secrets=("short",)) == b"short"


def test_records_on_a_terminal_hold_nothing_that_it_obeys() -> None:
    master, slave = pty.openpty()
    writer = Writer()
    Stream(writer, slave, "utf-8", "replace", neutral=True).raw('{"a":"\x9b2J\u202e\x7fé"}\n'.encode())
    asyncio.run(writer.drain())
    line = os.read(master, 200)
    os.close(master)
    os.close(slave)
    assert line == b'{"a":"\\u009b2J\\u202e\\u007f\xc3\xa9"}\r\n'

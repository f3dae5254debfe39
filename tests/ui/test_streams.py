"""The writer: order, back-pressure, readers that are slow or gone."""

from __future__ import annotations

import asyncio
import errno
import os
import threading

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

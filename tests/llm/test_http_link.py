"""One connection under a clock of the test: when reading pauses and goes on, and when silence counts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agenyx.llm.http_errors import IdleTimeout
from agenyx.llm.http_link import BUSY_GAP, BUSY_READS, PACE, QUEUE_BYTES, Link

CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
SMALL = b"1\r\nx\r\n"


class Timer:
    def __init__(self, at: float, call: Callable[[], None]) -> None:
        self.at, self.call, self.cancelled = at, call, False

    def cancel(self) -> None:
        self.cancelled = True


class Loop:
    """Time stands still until `advance`; only what a Link uses of a loop."""

    def __init__(self) -> None:
        self.now = 100.0
        self.timers: list[Timer] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, call: Callable[[], None]) -> Timer:
        self.timers.append(Timer(self.now + delay, call))
        return self.timers[-1]

    def create_future(self) -> asyncio.Future[None]:
        return asyncio.get_running_loop().create_future()

    def advance(self, seconds: float) -> None:
        end = self.now + seconds
        while due := sorted((t for t in self.timers if t.at <= end and not t.cancelled), key=lambda t: t.at):
            self.timers.remove(due[0])
            self.now = due[0].at
            due[0].call()
        self.now = end


class Transport(asyncio.Transport):
    def __init__(self) -> None:
        super().__init__()
        self.reading, self.aborted, self.unsent = True, False, 0

    def write(self, data: Any) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def pause_reading(self) -> None:
        assert self.reading
        self.reading = False

    def resume_reading(self) -> None:
        assert not self.reading
        self.reading = True

    def is_closing(self) -> bool:
        return self.aborted

    def abort(self) -> None:
        self.aborted = True


def start(idle: float = 30.0, unsent: int = 0) -> tuple[Loop, Transport, Link]:
    loop, transport = Loop(), Transport()
    link = Link(loop)  # type: ignore[arg-type]
    link.connection_made(transport)
    transport.unsent = unsent
    link.send(b"POST", b"", idle)
    return loop, transport, link


def test_a_flood_of_small_reads_is_taken_in_portions() -> None:
    loop, transport, link = start()
    loop.advance(1.0)
    link.data_received(CHUNKED)
    for _ in range(BUSY_READS):
        assert transport.reading
        link.data_received(SMALL)
    assert not transport.reading
    loop.advance(PACE)
    assert transport.reading
    link.data_received(SMALL)
    assert not transport.reading  # still a flood


def test_a_slow_stream_is_never_held_up() -> None:
    loop, transport, link = start()
    link.data_received(CHUNKED)
    for _ in range(BUSY_READS * 10):
        loop.advance(BUSY_GAP * 1.5)
        link.data_received(SMALL)
        assert transport.reading


def test_reading_pauses_while_nobody_takes_the_body() -> None:
    async def run() -> None:
        loop, transport, link = start()
        link.data_received(CHUNKED + b"%x\r\n" % (4 * QUEUE_BYTES) + b"x" * (QUEUE_BYTES + 1))
        assert not transport.reading
        loop.advance(1000.0)
        assert not transport.reading and link.error is None
        assert len(await link.read()) == QUEUE_BYTES + 1
        assert transport.reading

    asyncio.run(run())


@pytest.mark.parametrize("phase", ["head", "body"])
def test_silence_is_counted_from_the_last_byte(phase: str) -> None:
    loop, transport, link = start(idle=30.0)
    if phase == "body":
        link.data_received(CHUNKED)
    for _ in range(5):
        loop.advance(29.0)
        link.data_received(b"HTTP/1.1 100 X\r\n\r\n" if phase == "head" else b"1\r\nx\r\n")
        assert link.reader is not None
        link.reader.take()
    loop.advance(29.9)
    assert link.error is None and not transport.aborted
    loop.advance(0.2)
    assert isinstance(link.error, IdleTimeout) and link.error.phase == phase and transport.aborted


def test_an_upload_that_moves_is_no_silence() -> None:
    loop, transport, link = start(idle=30.0, unsent=1000)
    for left in (800, 600, 400):
        transport.unsent = left
        loop.advance(30.0)
        assert link.error is None
    loop.advance(60.0)
    assert isinstance(link.error, IdleTimeout)


def test_a_connection_with_unsent_bytes_is_not_kept() -> None:
    _, transport, link = start(unsent=10)
    link.data_received(b"HTTP/1.1 413 X\r\nContent-Length: 0\r\n\r\n")
    assert not link.release() and transport.aborted
    _, transport, link = start()
    link.data_received(b"HTTP/1.1 413 X\r\nContent-Length: 0\r\n\r\n")
    assert link.release() and not transport.aborted

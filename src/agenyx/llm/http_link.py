"""One connection as the event loop drives it, and the exchange that runs on it. Knows no pool, no address, no retry."""

from __future__ import annotations

import asyncio
import select

from agenyx.llm.http_errors import HttpError, IdleTimeout, ProtocolError, Truncated
from agenyx.llm.http_reader import Reader

LARGE_BODY = 64 * 1024  # above it a second packet costs less than copying the body
QUEUE_BYTES = 1 << 20  # reading pauses above this much body that nobody took yet

# A flood of tiny reads costs more in wake-ups than in work. After BUSY_READS reads that came close together, reading
# pauses for PACE seconds, so that one wake-up brings more: no eye sees it, and a slow stream is never held up.
BUSY_READS = 32
BUSY_GAP = 0.002
PACE = 0.004


class Link(asyncio.Protocol):
    """One connection and the exchange that runs on it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._transport: asyncio.Transport | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._idle: asyncio.TimerHandle | None = None
        self._resume: asyncio.TimerHandle | None = None
        self._limit = 0.0
        self._last = 0.0
        self._unsent = 0
        self._close_reads = 0
        self._paused = False
        self.reader: Reader | None = None
        self.error: HttpError | None = None
        self.received = 0
        self.open = False

    # --- what the loop calls -----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self.open = True

    def data_received(self, data: bytes) -> None:
        reader = self.reader
        if reader is None or reader.ended:
            self.abort()  # bytes that nobody asked for: this connection is out of step
            return
        self.received += len(data)
        now = self._loop.time()
        if now - self._last < BUSY_GAP:
            self._close_reads += 1
        else:
            self._close_reads = 0
        self._last = now
        try:
            reader.feed(data)
        except ProtocolError as error:
            self._fail(error)
            return
        if reader.ended:
            pass
        elif reader.pending > QUEUE_BYTES:
            self._pause()
        elif self._close_reads >= BUSY_READS and self._resume is None:
            self._pause()
            self._resume = self._loop.call_later(PACE, self._go_on)
        self._wake()

    def eof_received(self) -> bool:
        return False  # closes the transport; connection_lost settles the exchange

    def connection_lost(self, exc: Exception | None) -> None:
        self.open = False
        reader = self.reader
        if reader is not None and not reader.ended and self.error is None:
            try:
                if exc is not None:
                    raise Truncated(f"the connection broke: {exc}") from exc
                reader.eof()
            except Truncated as error:
                self.error = error
        self._wake()

    # --- what an exchange calls --------------------------------------------------------------------------------------

    def send(self, head: bytes, body: bytes, idle: float) -> None:
        assert self._transport is not None
        self.reader = Reader()
        self.error = None
        self.received = 0
        self._limit = idle
        self._last = self._loop.time()
        self._close_reads = 0
        if len(body) > LARGE_BODY:
            self._transport.write(head)
            self._transport.write(body)
        else:
            self._transport.write(head + body)
        self._unsent = self._transport.get_write_buffer_size()
        self._idle = self._loop.call_later(idle, self._tick)

    async def head(self) -> None:
        """Wait until the status is there."""
        reader = self.reader
        assert reader is not None
        while not reader.status:
            await self._progress()

    async def read(self) -> bytes:
        """Wait for body bytes; empty at the end of the body."""
        reader = self.reader
        assert reader is not None
        while True:
            data = reader.take()
            if data:
                if self._paused and self._resume is None:
                    self._go_on()
                return data
            if reader.ended:
                return b""
            await self._progress()

    def abort(self) -> None:
        self.open = False
        self._settle()
        if self._transport is not None:
            self._transport.abort()

    def release(self) -> bool:
        """End the exchange. False when the connection cannot carry another one; it is closed then."""
        reader = self.reader
        self._settle()
        clean = reader is not None and reader.ended and reader.reusable and self.open
        if not clean or self._transport is None or self._transport.get_write_buffer_size():
            self.abort()
            return False
        self._go_on()
        self.reader = None
        return True

    def fresh(self) -> bool:
        """Whether an idle connection is open with nothing unread: no farewell, no bytes out of step."""
        if not self.open or self._transport is None:
            return False
        poll = select.poll()
        poll.register(self._transport.get_extra_info("socket").fileno(), select.POLLIN)
        if not poll.poll(0):
            return True
        self.abort()
        return False

    async def _progress(self) -> None:
        if self.error is not None:
            raise self.error
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, error: HttpError) -> None:
        self.error = error
        self.abort()
        self._wake()

    def _settle(self) -> None:
        for timer in (self._idle, self._resume):
            if timer is not None:
                timer.cancel()
        self._idle = self._resume = None

    def _pause(self) -> None:
        if not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()

    def _go_on(self) -> None:
        self._resume = None
        if self._paused:
            self._paused = False
            self._last = self._loop.time()
            if self._transport is not None and not self._transport.is_closing():
                self._transport.resume_reading()

    def _tick(self) -> None:
        """The idle watchdog: any byte received or sent moves it on, and so does a reader who takes its time."""
        assert self._transport is not None and self.reader is not None
        now = self._loop.time()
        unsent = self._transport.get_write_buffer_size()
        if unsent < self._unsent or self._paused or self.reader.pending:
            self._last = now
        self._unsent = unsent
        left = self._last + self._limit - now
        if left > 0:
            self._idle = self._loop.call_later(left, self._tick)
            return
        phase = "body" if self.reader.status else "head"
        self._fail(IdleTimeout(phase, self._limit, sent=True, received=self.received))

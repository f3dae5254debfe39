"""A long-lived child that is talked with: bytes in, bytes out, and the last of what it says on stderr.

Knows not what the bytes mean. What it holds of either side is bounded, whatever the child does.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections import deque
from collections.abc import Callable

from agenyx.proc import group
from agenyx.proc.group import Family
from agenyx.proc.pipes import DRAIN, Reader

ERRORS_KEPT = 4096  # bytes of stderr
UNSENT = 16 << 20  # bytes that wait for a child that does not read
_FREE = 1 << 20  # bytes of stderr that are read at once; after them so much a tick
_TICK = 0.01
_PIECE = 65536


class Full(Exception):
    """The child does not read what it is sent."""


class Duplex:
    """`feed` gets the bytes of standard output as they come and must not raise. `over` is done when no more will come:
    it closed its output, or has exited. `exited` is the exit code, or a negative signal number."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        family: tuple[Family, ...],
        exited: asyncio.Future[int],
        feed: Callable[[bytes], None],
    ) -> None:
        self.pid, self.exited = process.pid, exited
        self._loop = asyncio.get_running_loop()
        self._family = family
        self.over: asyncio.Future[None] = self._loop.create_future()
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        self._stdin = process.stdin
        os.set_blocking(self._stdin.fileno(), False)
        self._unsent: deque[memoryview] = deque()
        self._waiting = 0
        self._tail, self._heard = bytearray(), 0
        self._output = Reader(process.stdout, feed)
        self._errors = Reader(process.stderr, self._hear)
        self._output.eof.add_done_callback(lambda _: self._end())
        # Another process may hold the pipe open after the exit: what is there is read, and no more is waited for.
        exited.add_done_callback(lambda _: self._loop.call_later(DRAIN, self._output.close))

    @property
    def errors(self) -> bytes:
        """The last of its stderr."""
        return bytes(self._tail[-ERRORS_KEPT:])

    def write(self, data: bytes) -> None:
        """Send bytes, in order. To a child that is gone they are lost without an error. Raises Full."""
        if self._stdin.closed:
            return
        if self._waiting + len(data) > UNSENT:
            raise Full
        self._unsent.append(memoryview(data))
        self._waiting += len(data)
        if len(self._unsent) == 1:
            self._send(first=True)

    async def stop(self, grace: float = 0.0) -> None:
        """Close its input, give it `grace` seconds to go by itself, then end its group. Twice is no error."""
        try:
            self._hang_up()
            if grace and not self.exited.done():
                await asyncio.wait((self.exited,), timeout=grace)
            await group.end(self._family)
            await asyncio.wait((self.exited,), timeout=group.REAP)
        finally:
            self._output.close()
            self._errors.close()

    def _send(self, first: bool = False) -> None:
        try:
            while self._unsent:
                view = self._unsent[0]
                count = os.write(self._stdin.fileno(), view)
                self._waiting -= count
                if count == len(view):
                    self._unsent.popleft()
                else:
                    self._unsent[0] = view[count:]
        except (BlockingIOError, InterruptedError):
            if first:
                self._loop.add_writer(self._stdin.fileno(), self._send)
            return
        except OSError:
            self._hang_up()  # it does not listen any more
            return
        if not first:
            self._loop.remove_writer(self._stdin.fileno())

    def _hang_up(self) -> None:
        if not self._stdin.closed:
            self._loop.remove_writer(self._stdin.fileno())
            self._stdin.close()
        self._unsent.clear()
        self._waiting = 0

    def _hear(self, data: bytes) -> None:
        self._tail += data
        del self._tail[:-ERRORS_KEPT]
        self._heard += len(data)
        if self._heard > _FREE:
            # A child that floods waits for us, and costs next to nothing.
            self._errors.pause()
            self._loop.call_later(_TICK * len(data) / _PIECE, self._errors.resume)

    def _end(self) -> None:
        self._hang_up()
        if not self.over.done():
            self.over.set_result(None)

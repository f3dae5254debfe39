"""Shares one server's patience among parallel requests: so many at once, and none while it asks to wait.

Owned by whoever opened the server: its providers share the gate. Knows no HTTP.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

LIMIT = 8  # requests at once
LONGEST_PAUSE = 120.0  # seconds: whoever is told to wait longer is told so by the server, each for itself


class Throttle:
    """A gate for the requests to one server, first come, first served.

    `clock` is monotonic, in seconds; `clock` and `sleep` are there to be replaced by tests.
    """

    def __init__(
        self,
        limit: int = LIMIT,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._limit = limit
        self._clock = clock
        self._sleep = sleep
        self._running = 0
        self._until = 0.0
        self._line: deque[asyncio.Event] = deque()

    def pause(self, seconds: float) -> None:
        """The server asked for it: nobody passes for so long. A pause never becomes shorter."""
        self._until = max(self._until, self._clock() + min(seconds, LONGEST_PAUSE))

    @asynccontextmanager
    async def place(self) -> AsyncGenerator[None]:
        """Wait for one's turn, then hold a place for the length of the block. Cancelling gives everything back."""
        await self._pass()
        try:
            yield
        finally:
            self._running -= 1
            self._wake()

    async def _pass(self) -> None:
        me = asyncio.Event()
        self._line.append(me)
        try:
            while True:
                if self._line[0] is not me or self._running >= self._limit:
                    await me.wait()
                    me.clear()
                elif (rest := self._until - self._clock()) > 0:
                    await self._sleep(rest)  # only the first in line does; a longer pause may have come meanwhile
                else:
                    break
            self._running += 1
        finally:
            self._line.remove(me)
            self._wake()

    def _wake(self) -> None:
        if self._line:
            self._line[0].set()

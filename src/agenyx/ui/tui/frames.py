"""When the screen is drawn from what it shows: at most thirty times a second, and not at all while nothing changes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

FRAME = 1 / 30  # seconds


class Frames:
    """`request` any number of times; `draw` is called once for all of them, soon."""

    def __init__(self, draw: Callable[[], None], frame: float = FRAME) -> None:
        self._draw, self._frame = draw, frame
        self._timer: asyncio.TimerHandle | None = None
        self._drawn = float("-inf")

    def request(self) -> None:
        """From the loop's thread."""
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(self._drawn + self._frame, loop.time()), self.now)

    def now(self) -> None:
        """Draw at once what was requested or not."""
        self.stop()
        self._drawn = asyncio.get_running_loop().time()
        self._draw()

    def stop(self) -> None:
        """What was requested is not drawn."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

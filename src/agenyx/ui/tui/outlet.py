"""What the full screen writes: in order, on a thread of its own, and nothing while the terminal is not ours."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agenyx.core.redact import Masker
from agenyx.ui.streams import Writer
from agenyx.ui.tui.hold import Hold

_AHEAD = 1 << 18  # bytes that may wait for a slow terminal before frames are left out


class _HeldWriter(Writer):
    def __init__(self, hold: Hold) -> None:
        super().__init__()
        self._hold = hold

    def _write(self, fd: int, data: bytes) -> None:
        if self._hold.held:
            super()._write(fd, data)


class Outlet:
    """A terminal that takes nothing for a while gets no more frames: once it does again, `stale` is called to draw."""

    def __init__(self, hold: Hold, masker: Masker, stale: Callable[[], None]) -> None:
        self._hold, self._stale = hold, stale
        self._writer = _HeldWriter(hold)
        self._writer.seal(masker)
        self._waiting = 0  # bytes put since everything was written
        self._left_out = False
        self._draining: asyncio.Task[None] | None = None

    @property
    def broken(self) -> OSError | None:
        """Why nothing can be written any more."""
        return self._writer.broken.get(self._hold.writing)

    def put(self, text: str) -> None:
        """Never waits. From the loop's thread."""
        if self._waiting > _AHEAD:
            self._left_out = True
            return
        data = text.encode("utf-8", "replace")
        self._waiting += len(data)
        self._writer.put(self._hold.writing, data)
        if self._waiting > _AHEAD // 4 and self._draining is None:
            self._draining = asyncio.get_running_loop().create_task(self._catch_up())

    async def drain(self) -> None:
        """Return once everything that was put has been written, or cannot be."""
        await self._writer.drain()

    def settle(self, seconds: float) -> None:
        """Block until what was put is written, at most so long."""
        self._writer.settle(seconds)

    async def _catch_up(self) -> None:
        await self._writer.drain()
        self._draining, self._waiting = None, 0
        if self._left_out:
            self._left_out = False
            self._stale()

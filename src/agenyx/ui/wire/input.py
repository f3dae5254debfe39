"""Standard input as it comes, for a loop: a thread reads, and reads on only when what it brought has been taken.

Files, pipes, terminals and a closed input alike; a turn that runs is never held up by it.
"""

from __future__ import annotations

import asyncio
import os
import select
import threading
from collections.abc import Callable
from contextlib import suppress

_PIECE = 1 << 16


class Input:
    """`feed` gets each piece on the loop, b"" at the end; it must not raise."""

    def __init__(self, feed: Callable[[bytes], None], fd: int = 0) -> None:
        self._feed, self._fd = feed, fd
        self._taken = threading.Semaphore(1)
        self._loop = asyncio.get_running_loop()

    def start(self) -> None:
        threading.Thread(target=self._read, name="agenyx-input", daemon=True).start()

    def _read(self) -> None:
        data = b"-"
        while data:
            self._taken.acquire()
            try:
                select.select([self._fd], [], [])
                data = os.read(self._fd, _PIECE)
            except BlockingIOError:
                self._taken.release()
                continue
            except OSError:
                data = b""
            with suppress(RuntimeError):  # the run is over and its loop closed
                self._loop.call_soon_threadsafe(self._hand, data)

    def _hand(self, data: bytes) -> None:
        self._feed(data)
        self._taken.release()

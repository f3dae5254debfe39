"""Standard input as part of the prompt: read in the background from the first moment, waited for only where due.

A pipe that nobody writes to and nobody closes (many programs start children so) must not hold up a run that has
its prompt; a pipe with data, a file and `-` are read to their end.
"""

from __future__ import annotations

import os
import select
import stat
import threading
from contextlib import suppress

from agenyx.core.errors import UsageError
from agenyx.core.limits import STDIN_BYTES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Stdin:
    """The piped input of a run. `fd` must be open; a closed standard input was replaced by /dev/null before."""

    def __init__(self, fd: int = 0, limit: int = STDIN_BYTES) -> None:
        self._fd, self._limit = fd, limit
        self.terminal = os.isatty(fd)
        kind = os.fstat(fd).st_mode
        self._may_stay_silent = stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or self.terminal
        self._parts: list[bytes] = []
        self._begun = self._done = self._started = False
        self._error: OSError | None = None
        self._lock = threading.Lock()
        self._wake: Callable[[], None] | None = None

    def start(self) -> None:
        """Begin to read, in a daemon thread that nobody has to join."""
        self._started = True
        threading.Thread(target=self._read, name="agenyx-stdin", daemon=True).start()

    async def take(self, *, whole: bool) -> str | None:
        """The text, line ends as \\n. None when nothing has come yet and it may never (`whole` waits for the end).

        Raises UsageError for more than the limit, for what is not UTF-8 and for what cannot be read.
        """
        if not self._started:
            self.start()
        if not (whole or self._coming()):
            return None
        await self._end()
        if self._error:
            raise UsageError(f"standard input cannot be read: {self._error.strerror}", "Redirect it: < /dev/null")
        data = b"".join(self._parts)
        if len(data) > self._limit:
            raise UsageError(
                f"standard input holds more than {self._limit >> 20} MiB",
                "Store it in a file of the workspace and name the file in the prompt.",
            )
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UsageError(
                f"standard input is not UTF-8 text (byte {error.start})",
                "Convert it, for example with iconv -t UTF-8, or name the file in the prompt.",
            ) from None
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _coming(self) -> bool:
        """Whether its end is certain to come, or data has come. The reader marks `_begun` before it takes a byte."""
        if not self._may_stay_silent or self._begun or self._done:
            return True
        return bool(select.select([self._fd], [], [], 0)[0]) or self._begun

    async def _end(self) -> None:
        import asyncio  # the module is imported before asyncio is, so that reading starts early

        loop, end = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the run is over and its loop closed
                loop.call_soon_threadsafe(end.set)

        with self._lock:
            if self._done:
                return
            self._wake = wake
        await end.wait()

    def _read(self) -> None:
        size = 0
        try:
            while size <= self._limit:
                select.select([self._fd], [], [])
                self._begun = True
                try:
                    data = os.read(self._fd, 1 << 16)
                except BlockingIOError:
                    continue
                if not data:
                    break
                self._parts.append(data)
                size += len(data)
        except OSError as error:
            self._error = error
        with self._lock:
            self._done = True
        if self._wake:
            self._wake()

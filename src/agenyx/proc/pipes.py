"""Our ends of a child's pipes, non-blocking, driven by the event loop. Knows not what the bytes mean."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import IO

DRAIN = 0.1  # seconds to read on after the exit, where another process still holds the pipe
_CHUNK = 65536


class Reader:
    """Reads one pipe until its end. `eof` is done then, and also when it is closed."""

    def __init__(self, pipe: IO[bytes], feed: Callable[[bytes], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._pipe = pipe
        self._feed = feed
        self.eof: asyncio.Future[None] = self._loop.create_future()
        os.set_blocking(pipe.fileno(), False)
        self._loop.add_reader(pipe.fileno(), self._ready)

    def close(self) -> None:
        """Stop reading and close our end; writers then get a broken pipe."""
        if not self._pipe.closed:
            self._loop.remove_reader(self._pipe.fileno())
            self._pipe.close()
        if not self.eof.done():
            self.eof.set_result(None)

    def pause(self) -> None:
        """Read nothing for now; who writes waits then."""
        if not self._pipe.closed:
            self._loop.remove_reader(self._pipe.fileno())

    def resume(self) -> None:
        if not self._pipe.closed:
            self._loop.add_reader(self._pipe.fileno(), self._ready)

    async def drain(self, grace: float) -> None:
        """Read what is there; if another process holds the pipe open, for `grace` seconds. Closes."""
        await asyncio.wait((self.eof,), timeout=grace)
        self.close()

    def _ready(self) -> None:
        try:
            data = os.read(self._pipe.fileno(), _CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if data:
            self._feed(data)
        else:
            self.close()


class Writer:
    """Writes bytes to one pipe and closes it. A reader that goes away ends it silently."""

    def __init__(self, pipe: IO[bytes], data: bytes) -> None:
        self._loop = asyncio.get_running_loop()
        self._pipe = pipe
        self._left = memoryview(data)
        os.set_blocking(pipe.fileno(), False)
        self._loop.add_writer(pipe.fileno(), self._ready)
        self._ready()

    def close(self) -> None:
        if not self._pipe.closed:
            self._loop.remove_writer(self._pipe.fileno())
            self._pipe.close()

    def _ready(self) -> None:
        try:
            while self._left:
                self._left = self._left[os.write(self._pipe.fileno(), self._left) :]
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            pass  # the child does not want it
        self.close()


@contextmanager
def driven(
    process: subprocess.Popen[bytes],
    stdin: bytes | None,
    feed: Callable[[bytes], None],
    feed_errors: Callable[[bytes], None],
) -> Generator[tuple[Reader, ...]]:
    """Drive the pipes of a child while the block runs; close them after it."""
    readers: list[Reader] = []
    writer: Writer | None = None
    try:
        for pipe, sink in ((process.stdout, feed), (process.stderr, feed_errors)):
            if pipe is not None:
                readers.append(Reader(pipe, sink))
        if process.stdin is not None:
            writer = Writer(process.stdin, stdin or b"")
        yield tuple(readers)
    finally:
        if writer is not None:
            writer.close()
        for reader in readers:
            reader.close()

"""A long-lived child, such as a server, with its output as lines. Knows not what the lines mean."""

from __future__ import annotations

import asyncio
import subprocess

from agenyx.proc import group
from agenyx.proc.group import Group
from agenyx.proc.lines import LineBuffer
from agenyx.proc.pipes import DRAIN, Reader


class Child:
    """A long-lived child, such as a server. Its recent output waits as lines; what nobody reads is dropped."""

    def __init__(self, process: subprocess.Popen[bytes], group: Group, exited: asyncio.Future[int]) -> None:
        self.pid = process.pid
        self._group = group
        self._exited = exited
        self._lines = LineBuffer()
        assert process.stdout is not None
        self._reader = Reader(process.stdout, self._lines.feed)
        self.ended = self._reader.eof
        self.ended.add_done_callback(lambda _: self._lines.end())

    async def line(self) -> bytes:
        """The next line of standard output with its line end, b"" at the end of the output."""
        return await self._lines.next()

    async def wait(self) -> int:
        """The exit code, or a negative signal number."""
        return await asyncio.shield(self._exited)

    async def stop(self) -> None:
        """End the whole group (TERM, half a second, KILL). Stopping twice is no error."""
        try:
            await group.end((self._group,))
            await asyncio.wait((self._exited,), timeout=group.REAP)
            await self._reader.drain(DRAIN)
        finally:
            self._reader.close()

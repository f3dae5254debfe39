"""Records out: each one line on standard output, what is too long kept beside the session."""

from __future__ import annotations

import os
from collections.abc import Callable

from agenyx.config.home import private_directory
from agenyx.core.errors import AgenyxError
from agenyx.ui.streams import Stream, Writer
from agenyx.ui.wire.framing import line
from agenyx.ui.wire.outbound import Outbound

_FOLDER = "records"


class Output:
    """`folder` gives the directory of the session, "" while there is none."""

    def __init__(self, writer: Writer, out: Stream, folder: Callable[[], str]) -> None:
        self._writer, self._out, self._folder, self._kept = writer, out, folder, 0

    def put(self, record: Outbound) -> None:
        """Write a record. Never waits, never raises."""
        self._out.raw(line(record, self._spill))

    async def barrier(self) -> None:
        """Return when everything was written. Raises AgenyxError when standard output is gone."""
        await self._writer.drain()
        if self._out.fd in self._writer.broken:
            raise AgenyxError("standard output is closed")

    @property
    def broken(self) -> bool:
        return self._out.fd in self._writer.broken

    def _spill(self, data: bytes) -> str:
        if not (session := self._folder()):
            return ""
        self._kept += 1
        path = os.path.join(session, _FOLDER, f"{os.getpid()}-{self._kept}.json")
        try:
            private_directory(os.path.dirname(path))
            with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
                file.write(data)
        except OSError:
            return ""
        return path

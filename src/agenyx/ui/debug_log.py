"""Where diagnostics of a conversation go: a terminal that is drawn on has no room for them, so a file in the home.

Two files of bounded size a run, of the latest runs; only their owner reads them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from agenyx.config.home import private_directory
from agenyx.core.errors import AgenyxError
from agenyx.core.events import AgentEvent
from agenyx.ui.debug import Debug
from agenyx.ui.view import View

if TYPE_CHECKING:
    from agenyx.app.runtime import Conversation

FOLDER = "debug"
MOST_BYTES = 16 << 20  # of one file; then it becomes NAME.1, in place of the one before
MOST_RUNS = 10


class DebugLog:
    """`path` is the file. Writing never fails a turn: a full disk ends the diagnostics. Raises AgenyxError where there
    is no place for it."""

    def __init__(self, home: str, most: int = MOST_BYTES) -> None:
        self._most, self._size = most, 0
        self._debug, self._view = Debug(), View()
        folder = os.path.join(home, FOLDER)
        stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
        self.path = os.path.join(folder, f"{stamp}-{os.getpid()}.jsonl")
        try:
            private_directory(folder)
            _prune(folder)
            self._file = _new(self.path)
        except OSError as error:
            raise AgenyxError(
                f"diagnostics cannot be written to {folder}: {error.strerror}",
                "Make the home writable, or leave out --debug.",
            ) from error

    def around(self, emit: Callable[[AgentEvent], None]) -> Callable[[AgentEvent], None]:
        """An `emit` that also writes each event here."""

        def both(event: AgentEvent) -> None:
            emit(event)
            try:
                self._view.apply(event, time.monotonic())
                self._write(self._debug.line(event, self._view))
            except Exception:  # noqa: BLE001 - the rim around diagnostics: they must not change what happens
                self.close()

        return both

    def attach(self, conversation: Conversation) -> None:
        """Write also what happens beside its events."""
        from agenyx.app.diagnostics import attach

        attach(conversation, self.stage)

    def stage(self, message: str, fields: Mapping[str, str | int] | None = None) -> None:
        self._write(self._debug.told(message, self._view, fields or {}))

    def close(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            with suppress(OSError):
                os.close(file)

    def _write(self, line: bytes) -> None:
        if self._file < 0:
            return
        try:
            if self._size + len(line) > self._most:
                self.close()
                os.replace(self.path, f"{self.path}.1")
                self._file, self._size = _new(self.path), 0
            self._size += os.write(self._file, line)
        except OSError:
            self.close()


def _new(path: str) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _prune(folder: str) -> None:
    """Keep the latest runs, and room for one more."""
    names = sorted(name for name in os.listdir(folder) if name.endswith((".jsonl", ".jsonl.1")))
    runs = sorted({name.partition(".")[0] for name in names})
    for name in names:
        if name.partition(".")[0] in runs[: max(0, len(runs) - MOST_RUNS + 1)]:
            with suppress(OSError):
                os.unlink(os.path.join(folder, name))

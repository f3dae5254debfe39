"""Keeps the terminal as it was found, whatever ends or stops us, and turns signals into what the loop does.

INT is not an end here, but Ctrl+C: it stops the turn. TERM and HUP end the talk in good order; a second one, six
seconds, or an INT that nobody heard for a second end the process at once.
"""

from __future__ import annotations

import asyncio
import os
import signal
import termios
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from types import FrameType
from typing import Any

from agenyx.ui.repl.editor import Editor
from agenyx.ui.repl.loop import TWICE, Repl
from agenyx.ui.signals import Signals
from agenyx.ui.terminal import Terminal

# Bracketed paste off, synchronized output off, cursor on, wrapping on, colours off, and the live part gone.
_CLEAN = b"\x1b[?2026l\x1b[?2004l\x1b[?25h\x1b[?7h\x1b[0m\r\x1b[J"


class Guard:
    """`fault` gets the first error that no task owns, such as one in a key binding."""

    def __init__(self, loop: asyncio.AbstractEventLoop, signals: Signals, repl: Repl) -> None:
        self._loop, self._signals, self._repl = loop, signals, repl
        self.fault: asyncio.Future[None] = loop.create_future()
        self._restore: Callable[[], None] | None = None
        self._unheard: float | None = None  # when an INT came that the loop has not taken up yet

    def watch(self, talking: asyncio.Task[int]) -> None:
        """From now on signals are the REPL's."""

        def end() -> None:
            self._repl.leave(128 + self._signals.received)
            if not self._repl.running:
                talking.cancel()  # it may wait for anything, such as a server

        self._signals.attach(self._loop, end)
        if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._interrupted)
        self._loop.set_exception_handler(self._fault)

    @contextmanager
    def terminal(self, editor: Editor, terminal: Terminal | None) -> Generator[None, None, None]:
        """The editor has the terminal: put it back before we stop or are ended, take it again after."""
        if terminal is None:
            yield
            return
        self._own(editor, terminal)
        try:
            yield
        finally:
            terminal.restore()
            self._signals.cooked_terminal()

    def aside(self, editor: Editor, terminal: Terminal | None) -> Callable[[], AbstractAsyncContextManager[None]]:
        """What the approver wraps its questions in: it sets the terminal's keeper itself, so ours comes back after."""

        @asynccontextmanager
        async def block() -> AsyncGenerator[None, None]:
            try:
                async with editor.aside():
                    yield
            finally:
                if terminal is not None:
                    self._own(editor, terminal)

        return block

    def _own(self, editor: Editor, terminal: Terminal) -> None:
        modes: list[Any] = []

        def restore() -> None:
            with suppress(termios.error):
                modes[:] = termios.tcgetattr(terminal.reading)
            terminal.restore()
            with suppress(OSError):
                os.write(terminal.writing, _CLEAN)

        def redraw() -> None:
            with suppress(termios.error):
                if modes:
                    termios.tcsetattr(terminal.reading, termios.TCSANOW, modes)
            self._loop.call_soon_threadsafe(editor.again)

        self._restore = restore
        self._signals.raw_terminal(restore, redraw)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        now = time.monotonic()
        if self._unheard is not None and now - self._unheard > TWICE:
            self._force(number)
        if self._unheard is None:
            self._unheard = now
        self._loop.call_soon_threadsafe(self._heard)

    def _force(self, number: int) -> None:
        """The loop hangs: nothing but the terminal can be put in order."""
        if self._restore is not None:
            self._restore()
        os._exit(128 + number)

    def _heard(self) -> None:
        self._unheard = None
        self._repl.interrupt()

    def _fault(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not self.fault.done():
            self.fault.set_exception(error if isinstance(error, Exception) else RuntimeError(str(context["message"])))

"""The line editor and whoever else may have the terminal: put back before we stop or are ended, taken again after."""

from __future__ import annotations

import os
import termios
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from typing import Any

from agenyx.ui.chat import guard as chat
from agenyx.ui.repl.editor import Editor
from agenyx.ui.terminal import Terminal

# Bracketed paste off, synchronized output off, cursor on, wrapping on, colours off, and the live part gone.
_CLEAN = b"\x1b[?2026l\x1b[?2004l\x1b[?25h\x1b[?7h\x1b[0m\r\x1b[J"


class Guard(chat.Guard):
    """Of a conversation with a line editor."""

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

        self.own(restore, redraw)

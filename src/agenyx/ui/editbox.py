"""A text edited in place, in a few rows below a question: for the thread that asks, on the terminal that it asks at.

No editor is started: it would be a process that the person did not ask for, outside of what Agenyx keeps an eye on.
"""

from __future__ import annotations

import asyncio
import os
import selectors
import signal
import termios
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.application.current import create_app_session
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, VerticalAlign, Window
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output

from agenyx.ui.intake import pasted, typed
from agenyx.ui.keyboard import Keyboard
from agenyx.ui.reveal import reveal
from agenyx.ui.spans import line, plain, wrap
from agenyx.ui.terminal import DEAF, Closed, Terminal

_STOP = 1.0  # seconds until a stop that does not come is given up
_BESIDE = 6  # rows that the help and the screen above need
_CLEAN = b"\x1b[?2004l\x1b[?25h\x1b[?7h\x1b[0m\r\x1b[J"  # bracketed paste off, cursor and wrapping on, our rows gone
_ONE_LINE = "Enter allows what stands here; Ctrl+J makes a new line; Ctrl+C goes back."
_MORE_LINES = "Alt+Enter or Esc Enter allows what stands here; Ctrl+C goes back."


class EditBox:
    """Use it once. `text` is what it begins with, `note` a sentence to show with it. `suspend` and `resume` may be
    called by another thread when the program is stopped and goes on."""

    def __init__(self, terminal: Terminal, term: str, text: str, note: str = "", deaf: float = DEAF) -> None:
        self._terminal, self._term, self._note, self._deaf = terminal, term, note, deaf
        self._buffer = Buffer(document=Document(text, len(text)), multiline=True)
        self._heard = 0.0  # when Enter begins to count
        self._modes: list[Any] | None = None
        self._resumed = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._app: Application[str | None] | None = None

    def run(self) -> str | None:
        """The text, or None when the person goes back. Raises Closed when the question is withdrawn."""
        loop = self._loop = asyncio.SelectorEventLoop(
            selectors.SelectSelector()
        )  # others cannot watch /dev/tty on macOS
        try:
            self._terminal.forget()
            with self._application() as app:
                return loop.run_until_complete(self._edit(app, loop))
        except (EOFError, OSError, termios.error) as error:
            raise Closed from error
        finally:
            self._app = None
            loop.close()

    def suspend(self) -> None:
        """Leave the terminal as it was found."""
        with suppress(Closed):
            self._modes = self._terminal.modes()
        self._terminal.restore()
        with suppress(OSError):
            os.write(self._terminal.writing, _CLEAN)

    def resume(self) -> None:
        """Take the terminal again and draw. What was typed meanwhile was not for us."""
        if self._modes is not None:
            self._terminal.set_modes(self._modes)
        self._resumed.set()
        if self._loop is not None:
            with suppress(RuntimeError):  # it has just ended
                self._loop.call_soon_threadsafe(self._again)

    async def _edit(self, app: Application[str | None], loop: asyncio.AbstractEventLoop) -> str | None:
        def withdrawn() -> None:
            loop.remove_reader(self._terminal.woken)
            if not app.is_done:
                app.exit(exception=Closed())

        def begun() -> None:
            self._listen()
            loop.add_reader(self._terminal.woken, withdrawn)

        try:
            return await app.run_async(begun, set_exception_handler=False, handle_sigint=False)
        finally:
            loop.remove_reader(self._terminal.woken)

    def _again(self) -> None:
        if self._app is not None:
            self._listen()
            self._app.renderer.reset()
            self._app.invalidate()

    def _listen(self) -> None:
        self._heard = time.monotonic() + self._deaf

    @contextmanager
    def _application(self) -> Generator[Application[str | None], None, None]:
        """On descriptors of its own, and apart from the application of the main thread."""
        terminal = self._terminal
        with (
            open(os.dup(terminal.reading), encoding="utf-8", errors="replace") as reading,
            open(os.dup(terminal.writing), "w", encoding="utf-8", errors="backslashreplace") as writing,
        ):
            keyboard = Keyboard(reading)
            output = Vt100_Output(
                writing, self._size, term=self._term, default_color_depth=ColorDepth.DEPTH_1_BIT, enable_cpr=False
            )
            clear_typeahead(keyboard)  # of an earlier one that had the same descriptor
            with create_app_session(keyboard, output):
                self._app = app = Application[str | None](
                    layout=self._layout(),
                    key_bindings=self._bindings(),
                    input=keyboard,
                    output=output,
                    erase_when_done=True,
                )
                app.ttimeoutlen = 0.1
                yield app

    def _size(self) -> Size:
        columns, rows = self._terminal.size()
        return Size(rows=rows, columns=columns)

    def _layout(self) -> Layout:
        rows = self._terminal.size()[1]
        box = Window(
            BufferControl(self._buffer, input_processors=[_Visible()]),
            height=lambda: Dimension(min=1, max=max(rows - _BESIDE, 1)),
            wrap_lines=True,
            dont_extend_height=True,
            get_line_prefix=lambda number, wrapped: [("", "… " if wrapped else "  ")],
        )
        help_ = Window(FormattedTextControl(self._help), dont_extend_height=True)
        return Layout(HSplit([box, help_], align=VerticalAlign.TOP), focused_element=box)

    def _help(self) -> StyleAndTextTuples:
        keys = _MORE_LINES if "\n" in self._buffer.text else _ONE_LINE
        width = max(self._terminal.size()[0] - 1, 10)
        rows = [plain(row) for text in (self._note, keys) if text for row in wrap(line(text), width)]
        return [("", "\n".join(rows))]

    def _bindings(self) -> KeyBindings:
        keys, buffer = KeyBindings(), self._buffer

        def accept(event: KeyPressEvent) -> None:
            if time.monotonic() >= self._heard:  # what was typed ahead is no yes
                event.app.exit(result=typed(buffer.text))

        @keys.add("enter")
        def _(event: KeyPressEvent) -> None:
            if "\n" in buffer.text:
                buffer.newline()
            else:
                accept(event)

        @keys.add("escape", "enter")
        def _(event: KeyPressEvent) -> None:
            accept(event)

        @keys.add("c-j")
        def _(event: KeyPressEvent) -> None:
            buffer.insert_text("\n")

        @keys.add("escape", "escape")
        @keys.add("c-c")
        @keys.add("c-d")
        def _(event: KeyPressEvent) -> None:
            if event.key_sequence[0].key != Keys.ControlD or not buffer.text:
                event.app.exit(result=None)
            else:
                buffer.delete()

        @keys.add(Keys.BracketedPaste)
        def _(event: KeyPressEvent) -> None:
            buffer.insert_text(pasted(event.data))

        @keys.add("c-z")
        def _(event: KeyPressEvent) -> None:
            event.app.renderer.erase()
            self._resumed.clear()
            os.kill(0, signal.SIGTSTP)  # the whole job; the handler puts the terminal back before we stop
            self._resumed.wait(_STOP)  # draw nothing on the way

        return keys


class _Visible(Processor):
    """Shows a sign for each character that cannot be seen, or that would change how others are shown."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        fragments = transformation_input.fragments
        return Transformation([(part[0], _signs(part[1])) for part in fragments])


def _signs(text: str) -> str:
    if text.isascii():
        return text  # the line editor shows controls itself
    return "".join(char if char.isascii() or reveal(char).text == char else "?" for char in text)

"""The surface of a terminal: finished text goes to the scrollback once, a small part below it is drawn anew.

Below the text stand what is unfinished, what is queued, the input, completions and the status; never a whole screen.
Drawn at most twenty times a second. Knows nothing of turns and commands: those are the driver's.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

from prompt_toolkit.application import Application
from prompt_toolkit.application.run_in_terminal import in_terminal
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import Completer
from prompt_toolkit.data_structures import Size
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    VerticalAlign,
    Window,
)
from prompt_toolkit.layout.dimension import Dimension
from prompt_toolkit.layout.menus import CompletionsMenu
from prompt_toolkit.output import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.styles import DynamicStyle, Style
from prompt_toolkit.widgets import SearchToolbar

from agenyx.core.errors import AgenyxError
from agenyx.core.tty import safe
from agenyx.ui.chat.surface import Driver
from agenyx.ui.keyboard import Keyboard
from agenyx.ui.repl.keys import bindings
from agenyx.ui.repl.transcript import Transcript
from agenyx.ui.spans import Line, ansi, cells
from agenyx.ui.themes import THEMES, Theme

FRAME = 1 / 20  # seconds between two drawings: quick to the eye, and few bytes over slow lines
_LIVE = 12  # rows at most
_MENU = 6
_QUEUED = 3
_TOGETHER = ("\x1b[?2026h", "\x1b[?2026l")  # synchronized output; a terminal that lacks it passes over both
_STYLE = {
    "1": "bold",
    "2": "fg:ansibrightblack",
    "3": "italic",
    "4": "underline",
    "9": "strike",
    "31": "fg:ansired",
    "32": "fg:ansigreen",
    "33": "fg:ansiyellow",
    "34": "fg:ansiblue",
    "35": "fg:ansimagenta",
    "36": "fg:ansicyan",
}
"""What the parameters of a theme are to the toolkit."""


class Editor:
    """One per process: it owns the terminal on descriptors 0 and 1 while `run` runs."""

    driver: Driver
    transcript: Transcript
    """Both are set before anything is shown."""

    def __init__(self, history: History, completer: Completer, term: str, *, theme: str, colour: bool) -> None:
        self._colour = colour
        self.paint(theme)
        self._pending: list[Line] = []
        self._timer: asyncio.TimerHandle | None = None
        self._drawn = 0.0
        self._aside = False
        self._live: list[Line] = []
        self.broken: OSError | None = None
        self.begun = asyncio.Event()
        self.input = Buffer(
            history=history, completer=completer, complete_while_typing=True, multiline=True, tempfile_suffix=".md"
        )
        self.app: Application[None] = Application(
            layout=self._layout(),
            key_bindings=bindings(self),
            style=DynamicStyle(lambda: self._style),
            color_depth=lambda: self._depth,
            input=Keyboard(sys.stdin),
            # It never asks where the cursor is: the answer would come as input, also over slow lines.
            output=Vt100_Output(sys.stdout, _size, term=term, enable_cpr=False),
            erase_when_done=True,
            min_redraw_interval=FRAME,
            terminal_size_polling_interval=None,  # the size is told by a signal
            before_render=lambda _: self._prepare(),
        )
        self.app.ttimeoutlen = 0.1

    # --- the surface -------------------------------------------------------------------------------------------------

    @property
    def columns(self) -> int:
        """One less than the terminal has: a full row would leave the cursor in doubt."""
        return max(self.app.output.get_size().columns - 1, 10)

    @property
    def echoes(self) -> bool:
        return False

    def paint(self, theme: str) -> bool:
        """Use the colours of a theme from now on. False where there are none."""
        self._theme: Theme = THEMES[theme] if self._colour else dict[str, str]()
        styles = {name: " ".join(_STYLE[code] for code in codes.split(";")) for name, codes in self._theme.items()}
        self._style = Style.from_dict({"completion-menu": "noinherit", "bottom": "fg:ansibrightblack", **styles})
        mono = not self._colour or theme == "mono"
        self._depth = ColorDepth.DEPTH_1_BIT if mono else ColorDepth.DEPTH_4_BIT
        return self._colour

    def changed(self) -> None:
        self._pending += self.transcript.take()
        self._schedule()

    def ready(self) -> None:
        """The input is always there."""

    def take_back(self, text: str) -> None:
        rest = self.input.text
        self.input.text = f"{text}\n{rest}" if rest else text
        self.input.cursor_position = len(self.input.text)

    async def flush(self) -> None:
        self.draw()
        if self.broken is not None:
            raise AgenyxError("the terminal is gone")

    # --- the terminal ------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Until `exit`. Raises EOFError when the terminal is closed. `begun` is set once it shows."""
        self._schedule()
        await self.app.run_async(self.begun.set, set_exception_handler=False, handle_sigint=False)

    def exit(self) -> None:
        self.draw()
        if self.app.is_running and not self.app.is_done:
            self.app.exit()

    def again(self) -> None:
        """The terminal shows other things, such as those of a shell: draw from the cursor on."""
        self.app.renderer.reset()
        self.app.invalidate()

    @asynccontextmanager
    async def aside(self) -> AsyncGenerator[None, None]:
        """The terminal as it was found and without us, for as long as the block runs. Finished text waits."""
        self.draw()
        try:
            async with in_terminal():
                self._aside = True
                yield
        finally:
            self._aside = False
            self._schedule()

    def draw(self) -> None:
        """Write the finished lines above the live part, in one go."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._drawn = asyncio.get_running_loop().time()
        if self._aside or self.broken is not None or not self.app.is_running:
            return
        if not self._pending:
            self.app.invalidate()
            return
        text = "".join(ansi(line, self._theme) + "\r\n" for line in self._pending)
        self._pending.clear()
        output, renderer = self.app.output, self.app.renderer
        try:
            output.write_raw(_TOGETHER[0])
            renderer.erase(leave_alternate_screen=False)
            output.write_raw(text)
            self.app.render_counter += 1  # the parts are made anew once a count
            self._prepare()
            renderer.render(self.app, self.app.layout)
            output.write_raw(_TOGETHER[1])
            output.flush()
        except OSError as error:
            self.broken = error

    def _schedule(self) -> None:
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(self._drawn + FRAME, loop.time()), self.draw)

    # --- the layout --------------------------------------------------------------------------------------------------

    def _layout(self) -> Layout:
        search = SearchToolbar(
            ignore_case=True, forward_search_prompt="search: ", backward_search_prompt="search back: "
        )
        control = BufferControl(self.input, search_buffer_control=search.control, preview_search=True)
        box = Window(
            control,
            height=lambda: Dimension(min=1, max=max(1, self._rows // 4)),
            wrap_lines=True,
            dont_extend_height=True,
            get_line_prefix=_prefix,
        )
        parts = [
            _rows_of(self._live_text),
            _rows_of(self._queued_text),
            box,
            CompletionsMenu(max_height=_MENU),
            search,
            _rows_of(self._status_text),
        ]
        return Layout(HSplit(parts, align=VerticalAlign.TOP), focused_element=box)

    @property
    def _rows(self) -> int:
        """Rows that the whole part below the text may take."""
        return max(self.app.output.get_size().rows - 1, 1)

    def _prepare(self) -> None:
        self._live = self.transcript.live(max(1, min(_LIVE, self._rows - 10)))

    def _live_text(self) -> StyleAndTextTuples:
        if not self._live:
            return [("", " ")]  # a row between the text above and the input
        text: StyleAndTextTuples = []
        for line in self._live:
            text += [(_classes(style), part) for style, part in line]
            text.append(("", "\n"))
        return text[:-1]

    def _queued_text(self) -> StyleAndTextTuples:
        queued = list(self.driver.queued)
        rows = [f"queued: {_clip(text, self.columns - 8)}" for text in queued[:_QUEUED]]
        if len(queued) > _QUEUED:
            rows[-1] = f"queued: {len(queued) - _QUEUED + 1} more"
        return [("class:dim", "\n".join(rows))] if rows else []

    def _status_text(self) -> StyleAndTextTuples:
        if self.driver.hint:
            return [("class:warn", _clip(self.driver.hint, self.columns))]
        return [("class:bottom", _clip(self.driver.status, self.columns) or " ")]


def _rows_of(text: Callable[[], StyleAndTextTuples]) -> ConditionalContainer:
    """A part that takes no row while it has nothing to show."""
    window = Window(FormattedTextControl(text), dont_extend_height=True, wrap_lines=False)
    return ConditionalContainer(window, Condition(lambda: bool(text())))


def _size() -> Size:
    try:
        columns, rows = os.get_terminal_size(1)
    except OSError:
        columns = rows = 0
    return Size(rows=rows or 24, columns=columns or 80)


def _prefix(number: int, wrapped: int) -> StyleAndTextTuples:
    return [("class:prompt", "> " if number == wrapped == 0 else "  ")]


def _classes(style: str) -> str:
    return " ".join(f"class:{name}" for name in style.split())


def _clip(text: str, width: int) -> str:
    text = safe(" ".join(text.split()))
    while cells(text) > width:
        text = text[: max(len(text) - max((cells(text) - width) // 2, 1), 0)]
    return text


def can_edit(term: str) -> bool:
    """Whether standard input and output are a terminal that understands escape sequences."""
    return os.isatty(0) and os.isatty(1) and term not in ("", "dumb", "unknown")

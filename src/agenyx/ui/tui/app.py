"""The full screen: which widgets there are, where keys go, and what is drawn when. Decides nothing itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingsMap
from textual.containers import Horizontal, Vertical
from textual.driver import Driver
from textual.screen import Screen

from agenyx.ui.tui.colours import PREFIX, themes
from agenyx.ui.tui.driver import FullScreen
from agenyx.ui.tui.frames import Frames
from agenyx.ui.tui.keymap import ACTIONS, Keymap

if TYPE_CHECKING:
    from agenyx.ui.tui.control import Control
    from agenyx.ui.tui.parts import Parts
    from agenyx.ui.tui.prompt.box import PromptBox
    from agenyx.ui.tui.transcript.view import TranscriptView

_FIRST = ("interrupt", "suspend", "redraw")  # these work whatever has the focus
_PAINT = 2.0  # seconds that a drawing may take before nobody waits for it any longer


class Base(Screen[None], inherit_bindings=False):
    """The screen under everything else. All its keys are those of the keymap."""


class FullApp(App[None]):
    """`parts` makes the widgets; `control` knows what a key does. `fault` is what broke, None while nothing did."""

    CSS_PATH = "styles/app.tcss"
    ENABLE_COMMAND_PALETTE = False
    INLINE_PADDING = 0
    AUTO_FOCUS = None
    BINDINGS: ClassVar[Any] = []
    control: Control

    def __init__(
        self,
        parts: Parts,
        keymap: Keymap,
        theme: str,
        *,
        colour: bool = True,
        driver: Callable[[App[Any]], Driver] | None = None,
    ) -> None:
        super().__init__(ansi_color=None if colour else True)
        self.parts, self.keymap, self._colour, self._driver_of = parts, keymap, colour, driver
        self.plain_signs = parts.plain_signs
        self.frames = Frames(self.draw)
        self.fault: Exception | None = None
        self.shown = asyncio.Event()  # the first frame stands
        self._bindings = _bindings(keymap)
        for one in themes():
            self.register_theme(one)
        self.theme = PREFIX + (theme if colour else "mono")

    def get_default_screen(self) -> Screen[None]:
        return Base(id="_default")

    # --- the layout --------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        parts = self.parts
        with Horizontal(id="body"):
            with Vertical(id="main"):
                yield parts.transcript
                yield parts.asks
                yield parts.prompt
                yield parts.status
            yield parts.side

    def on_ready(self) -> None:
        self.parts.prompt.focus()
        self.draw()
        self.shown.set()
        self.call_after_refresh(self._listen)

    def _listen(self) -> None:
        """Keys are taken once the prompt has the focus."""
        if isinstance(self._driver, FullScreen):
            self._driver.listen()

    # --- drawing -----------------------------------------------------------------------------------------------------

    def draw(self) -> None:
        """Have the widgets take up what changed."""
        if self._running and self.fault is None:
            self.parts.refresh()

    async def painted(self) -> None:
        """Return once everything that changed is on its way to the terminal."""
        if not self._running or not self.screen_stack:
            return
        self.frames.now()
        done = asyncio.get_running_loop().create_future()
        self.screen.call_after_refresh(lambda: done.done() or done.set_result(None))
        await asyncio.wait((done,), timeout=_PAINT)

    def paint(self, theme: str) -> bool:
        """Use the colours of a theme from now on. False where there may be none."""
        if self._colour:
            self.theme = PREFIX + theme
        return self._colour

    def put_back(self, text: str) -> None:
        """Put text in front of what is being typed."""
        self.parts.prompt.put_back(text)

    # --- keys --------------------------------------------------------------------------------------------------------

    def action_do(self, name: str) -> None:
        """What a key of the table means."""
        self.control.do(name)

    def on_prompt_box_sent(self, message: PromptBox.Sent) -> None:
        self.control.sent(message.text, message.images)

    def on_prompt_box_steered(self, message: PromptBox.Steered) -> None:
        self.control.steered(message.text)

    def on_prompt_box_shell(self, message: PromptBox.Shell) -> None:
        self.control.shell(message.text)

    def on_transcript_view_told(self, told: TranscriptView.Told) -> None:
        self.notify(told.text, severity="information" if told.level == "info" else told.level, markup=False)

    def on_ask_panel_closed(self) -> None:
        self.parts.prompt.focus()

    # --- the toolkit -------------------------------------------------------------------------------------------------

    def _build_driver(self, headless: bool, inline: bool, mouse: bool, size: tuple[int, int] | None) -> Driver:
        if self._driver_of is None or headless:
            return super()._build_driver(headless=headless, inline=inline, mouse=mouse, size=size)
        self._driver = self._driver_of(self)
        return self._driver

    def _handle_exception(self, error: Exception) -> None:
        """A fault in a widget or in a handler: it is told once the terminal is as it was found."""
        if self.fault is None:
            self.fault = error
        self._return_code = 1
        if self._exception is None:
            self._exception = error
            self._exception_event.set()  # pyright: ignore[reportUnknownMemberType]
        self._close_messages_no_wait()

    def _print_error_renderables(self) -> None:
        """Nothing: whoever runs us tells."""


def _bindings(keymap: Keymap) -> BindingsMap:
    rows = [
        Binding(key, f"do('{action.name}')", action.help, show=False, priority=action.name in _FIRST)
        for action in ACTIONS
        if action.place == "global"
        for key in keymap.keys(action.name)
    ]
    return BindingsMap(rows)

"""What the keys of the whole screen do: they reach into the conversation, or open something over it."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING

from textual.screen import ModalScreen

from agenyx.core.errors import AgenyxError
from agenyx.core.verdict import Mode
from agenyx.ui.chat.loop import Chat

if TYPE_CHECKING:
    from agenyx.ui.tui.app import FullApp
    from agenyx.ui.tui.driver import FullScreen
    from agenyx.ui.tui.overlays.flows import Flows

CYCLE: tuple[Mode, ...] = ("default", "acceptEdits", "plan")


class Control:
    """One per screen. `login` leads to a model; `unsafe`: the mode that asks for nothing may be reached by key."""

    def __init__(
        self, app: FullApp, chat: Chat, login: Callable[[], Coroutine[None, None, None]], *, unsafe: bool = False
    ) -> None:
        self._app, self._chat, self._login = app, chat, login
        self._work: set[asyncio.Task[None]] = set()
        self._cycle: tuple[Mode, ...] = (*CYCLE, "bypassPermissions") if unsafe else CYCLE
        self._flows: Flows | None = None
        self._table: dict[str, Callable[[], object]] = {
            "cancel": self.cancel,
            "interrupt": self.interrupt,
            "leave": self.leave,
            "suspend": self.suspend,
            "redraw": self.redraw,
            "mode-next": self.mode_next,
            "side": lambda: app.parts.side.toggle(),
            "focus-next": self.focus_next,
            "page-up": lambda: app.parts.transcript.page(-1),
            "page-down": lambda: app.parts.transcript.page(1),
        }

    def do(self, name: str) -> None:
        """What an action of the keymap means here."""
        deed = self._table.get(name)
        if deed is not None:
            deed()
        else:
            self.open(name)

    # --- stopping and leaving ----------------------------------------------------------------------------------------

    def cancel(self) -> None:
        """Esc with nothing open."""
        if not self._app.parts.prompt.clear():
            self._chat.stop()

    def interrupt(self) -> None:
        """Ctrl+C. With text and nothing running it clears the text, and once more leaves."""
        if isinstance(self._app.screen, ModalScreen):
            self._app.screen.dismiss(None)
            return
        if self._app.parts.prompt.clear() and self._chat.running:
            return
        if self._chat.leaves_next and (beside := self.beside()):
            self._ask_to_leave(beside)
        else:
            self._chat.interrupt()

    def leave(self) -> None:
        """Ctrl+D: the way out, when nothing is typed."""
        if self._app.parts.prompt.text:
            return
        if beside := self.beside():
            self._ask_to_leave(beside)
        else:
            self._chat.leave()

    def beside(self) -> list[str]:
        """What runs in the background and would end with us, a line each."""
        return self._chat.background()

    def _ask_to_leave(self, beside: list[str]) -> None:
        from agenyx.ui.tui.overlays.confirm import Confirm

        text = "\n".join(["These still work in the background and end with Agenyx:", *beside])

        def answered(yes: bool | None) -> None:
            if yes:
                self._chat.leave()

        self._app.push_screen(Confirm("Leave?", text), answered)

    def suspend(self) -> None:
        """Stop as a job of the shell, together with whatever else belongs to the job."""
        os.killpg(os.getpgrp(), signal.SIGTSTP)

    def redraw(self) -> None:
        driver: FullScreen | None = getattr(self._app, "_driver", None)
        if driver is not None and not driver.is_headless:
            driver.redraw()

    # --- what is typed -----------------------------------------------------------------------------------------------

    def sent(self, text: str, images: tuple[str, ...] = ()) -> None:
        if text.strip() == "/login":
            task = asyncio.get_running_loop().create_task(self._guarded(self._login()))
            self._work.add(task)
            task.add_done_callback(self._work.discard)
        elif images or not (text.startswith("/") and self.flows.open_for(text)):
            self._chat.submit(text, images)

    async def _guarded(self, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except AgenyxError as error:
            self._chat.board.complain(error.message, error.fix)
            self._chat.drawn()

    def steered(self, text: str) -> None:
        """A word to the running turn; one that is just over gets it as its next input."""
        if not self._chat.steer(text):
            self._chat.submit(text)

    def shell(self, command: str) -> None:
        """A command that the person runs."""
        self._chat.submit(f"!{command}")

    # --- the conversation --------------------------------------------------------------------------------------------

    def mode_next(self) -> None:
        talk = self._chat.talk
        if talk is None:
            return
        mode = talk.status().mode
        at = self._cycle.index(mode) + 1 if mode in self._cycle else 0
        try:
            talk.set_mode(self._cycle[at % len(self._cycle)])
        except AgenyxError as error:
            self._chat.board.complain(error.message, error.fix)
        self._chat.refresh()

    # --- the screen --------------------------------------------------------------------------------------------------

    def focus_next(self) -> None:
        """From the prompt to the transcript, and back."""
        parts = self._app.parts
        (parts.transcript if parts.prompt.has_focus_within else parts.prompt).focus()

    def open(self, name: str) -> None:
        """Something over the screen: help, or a list to choose from."""
        self.flows.open(name)

    @property
    def flows(self) -> Flows:
        """What is opened over the screen; loaded when it is needed first."""
        if self._flows is None:
            from agenyx.ui.tui.overlays.flows import Flows

            self._flows = Flows(self._app, self._chat, self._app.keymap)
        return self._flows

"""Keeps the terminal as it was found, whatever ends or stops us, and turns signals into what the conversation does.

INT is not an end here, but Ctrl+C: it stops the turn. TERM and HUP end the talk in good order; a second one, six
seconds, or an INT that nobody heard for a second end the process at once.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from agenyx.ui.chat.loop import PATIENCE, TWICE, Chat
from agenyx.ui.exits import FAILED
from agenyx.ui.signals import Signals


class Guard:
    """`fault` gets the first error that no task owns, such as one in a key binding."""

    def __init__(self, loop: asyncio.AbstractEventLoop, signals: Signals, chat: Chat) -> None:
        self._loop, self._signals, self._chat = loop, signals, chat
        self.fault: asyncio.Future[None] = loop.create_future()
        self._restore: Callable[[], None] | None = None
        self._unheard: float | None = None  # when an INT came that the loop has not taken up yet

    def watch(self, talking: asyncio.Task[int]) -> None:
        """From now on signals are the conversation's."""

        def end() -> None:
            self._chat.leave(128 + self._signals.received)
            if not self._chat.running:
                talking.cancel()  # it may wait for anything, such as a server

        self._signals.attach(self._loop, end)
        if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
            signal.signal(signal.SIGINT, self._interrupted)
        self._loop.set_exception_handler(self._fault)

    def own(self, restore: Callable[[], None], redraw: Callable[[], None]) -> None:
        """The terminal is in a mode that must not outlive us; `redraw` takes it again after a stop."""
        self._restore = restore
        self._signals.raw_terminal(restore, redraw)

    def disown(self) -> None:
        """The terminal is as it was found."""
        self._restore = None
        self._signals.cooked_terminal()

    async def over(self, talking: asyncio.Task[int]) -> int:
        """End the talk where it is not over, and return its code. Raises what it raised, or the fault."""
        if not talking.done():
            self._chat.leave(FAILED)
            await asyncio.wait((talking,), timeout=2 * PATIENCE)
            talking.cancel()
            await asyncio.wait((talking,), timeout=PATIENCE)
        if self.fault.done() and (fault := self.fault.exception()) is not None:
            raise fault
        try:
            return talking.result()
        except (asyncio.CancelledError, asyncio.InvalidStateError):
            return FAILED

    def pressed(self) -> None:
        """Ctrl+C, told by another thread or a signal: the loop hears of it, or else the process ends."""
        now = time.monotonic()
        if self._unheard is not None and now - self._unheard > TWICE:
            self._force(signal.SIGINT)
        if self._unheard is None:
            self._unheard = now

    def heard(self) -> None:
        """The loop has taken the Ctrl+C up."""
        self._unheard = None

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        self.pressed()
        self._loop.call_soon_threadsafe(self._interrupt)

    def _interrupt(self) -> None:
        self.heard()
        self._chat.interrupt()

    def _force(self, number: int) -> None:
        """The loop hangs: nothing but the terminal can be put in order."""
        if self._restore is not None:
            self._restore()
        os._exit(128 + number)

    def _fault(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not self.fault.done():
            self.fault.set_exception(error if isinstance(error, Exception) else RuntimeError(str(context["message"])))

"""Owns INT, TERM and HUP (and TSTP while a question is on the screen): the first one fixes the exit code.

Before a turn runs and after it, a signal ends the process at once. During a turn the first signal cancels it, so that
tools are ended and the session is closed; a second signal, or six seconds, ends the process with the first one's code.
Python-level handlers rather than the loop's: they also run while the loop is busy. The wake-up descriptor is there
because a signal that comes just before the loop goes to sleep would otherwise be noticed only when it wakes again.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from types import FrameType

TYPE_CHECKING = False
if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

GRACE = 6.0  # seconds
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """The signals of the process. `received` is the number of the first one, 0 for none."""

    def __init__(self, grace: float = GRACE, end: Callable[[int], None] = os._exit) -> None:
        self._grace, self._end = grace, end
        self._cancel: Callable[[], None] | None = None
        self._restore: Callable[[], None] | None = None
        self._redraw: Callable[[], None] | None = None
        self.received = 0

    def install(self) -> None:
        """Take the signals over. One that the parent told us to ignore (nohup) stays ignored."""
        for number in ENDING:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._on)

    def attach(self, loop: AbstractEventLoop, cancel: Callable[[], object]) -> None:
        """From now on the first signal makes `loop` call `cancel`. The loop is woken by every signal."""
        woken, wake = os.pipe()
        for fd in (woken, wake):
            os.set_blocking(fd, False)
        loop.add_reader(woken, os.read, woken, 4096)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)

        def soon() -> None:
            loop.call_soon_threadsafe(cancel)

        self._cancel = soon

    def detach(self) -> None:
        """The turn is over: the next signal ends the process at once."""
        self._cancel = None

    def raw_terminal(self, restore: Callable[[], None], redraw: Callable[[], None]) -> None:
        """A terminal is in a mode that must not outlive us, nor be seen by a shell while we are suspended."""
        self._restore, self._redraw = restore, redraw
        if signal.getsignal(signal.SIGTSTP) != signal.SIG_IGN:
            signal.signal(signal.SIGTSTP, self._suspend)

    def cooked_terminal(self) -> None:
        """The terminal is as it was found."""
        self._restore = self._redraw = None
        if signal.getsignal(signal.SIGTSTP) != signal.SIG_IGN:
            signal.signal(signal.SIGTSTP, signal.SIG_DFL)

    def _on(self, number: int, frame: FrameType | None) -> None:
        again, self.received = bool(self.received), self.received or number
        if again or self._cancel is None:
            self._force()
            return
        signal.signal(signal.SIGALRM, self._late)
        signal.setitimer(signal.ITIMER_REAL, self._grace)
        self._cancel()

    def _late(self, number: int, frame: FrameType | None) -> None:
        self._force()

    def _force(self) -> None:
        if self._restore:
            self._restore()
        self._end(128 + self.received)

    def _suspend(self, number: int, frame: FrameType | None) -> None:
        restore, redraw = self._restore, self._redraw
        if restore:
            restore()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # stops here, until SIGCONT
        signal.signal(signal.SIGTSTP, self._suspend)
        if redraw:
            redraw()

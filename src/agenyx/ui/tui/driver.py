"""The terminal as the toolkit wants it: what it draws goes to the outlet, what is typed becomes its events.

Keys are read on a thread, so that Ctrl+C is seen even when the loop hangs.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

from textual.app import App
from textual.driver import Driver
from textual.events import Key, Resize
from textual.geometry import Size
from textual.message import Message

from agenyx.ui.tui.hold import Hold
from agenyx.ui.tui.keys import Keys
from agenyx.ui.tui.outlet import Outlet

_ESCAPE = 0.05  # seconds after which an escape alone is the key
_AT_ONCE = 1 << 16
_RESIZES = 1 / 30  # seconds between two sizes of a window that is being dragged
_SETTLE = 1.0  # seconds that the last frame may take


class FullScreen(Driver):
    """`pressed` is called on the thread when Ctrl+C comes, `heard` once the loop has it; `gone` when input ends."""

    def __init__(
        self,
        app: App[Any],
        hold: Hold,
        outlet: Outlet,
        pressed: Callable[[], None],
        heard: Callable[[], None],
        gone: Callable[[], None],
    ) -> None:
        super().__init__(app, mouse=hold.mouse, size=hold.size())
        self._hold, self._outlet = hold, outlet
        self._pressed, self._heard, self._gone = pressed, heard, gone
        self._keys = Keys(hold.cooked)
        self._thread: threading.Thread | None = None
        self._listens = False
        self._woken, self._wake = os.pipe2(os.O_CLOEXEC)
        self._resizing: asyncio.TimerHandle | None = None
        self._resized_at = 0.0

    @property
    def can_suspend(self) -> bool:
        return True

    def write(self, data: str) -> None:
        self._outlet.put(data)

    # --- the modes ---------------------------------------------------------------------------------------------------

    def start_application_mode(self) -> None:
        self._hold.take()
        self._app._sync_available = True  # pyright: ignore[reportPrivateUsage] - one that lacks it passes over it
        signal.signal(signal.SIGWINCH, self._winch)
        self._size = self._hold.size()
        self._tell_size()
        if self._listens:
            self.listen()

    def listen(self) -> None:
        """Read keys from now on; what was typed before waits in the terminal until somebody can take it."""
        self._listens = True
        if self._thread is None:
            self._thread = threading.Thread(target=self._read, name="agenyx-keys", daemon=True)
            self._thread.start()

    def disable_input(self) -> None:
        if self._thread is not None:
            signal.signal(signal.SIGWINCH, signal.SIG_DFL)
            os.write(self._wake, b"x")
            self._thread.join()
            os.read(self._woken, 1)
            self._thread = None

    def stop_application_mode(self) -> None:
        self.disable_input()
        self._outlet.settle(_SETTLE)
        self._hold.leave()

    def again(self) -> None:
        """Stopped and continued, by a signal: the terminal may show anything and have another size."""
        self._hold.take()
        self._soon(self._resized)
        self._soon(self.redraw)

    def redraw(self) -> None:
        """Draw everything anew."""
        self.write("\x1b[2J")
        self._app.screen.refresh(layout=True)
        self._app.refresh()
        for widget in self._app.screen.walk_children():
            widget.refresh()

    # --- the size ----------------------------------------------------------------------------------------------------

    def _winch(self, number: int, frame: FrameType | None) -> None:
        self._soon(self._resized)

    def _resized(self) -> None:
        if self._resizing is None:
            at = max(self._resized_at + _RESIZES, self._loop.time())
            self._resizing = self._loop.call_at(at, self._look_at_size)

    def _look_at_size(self) -> None:
        self._resizing, self._resized_at = None, self._loop.time()
        if (size := self._hold.size()) != self._size:
            self._size = size
            self._tell_size()

    def _tell_size(self) -> None:
        size = Size(*self._hold.size())
        self._app.post_message(Resize(size, size))

    # --- keys --------------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        keys, reading = self._keys, self._hold.reading
        while True:
            ready = select.select([reading, self._woken], [], [], _ESCAPE if keys.waits else None)[0]
            if self._woken in ready:
                return
            if reading in ready:
                try:
                    data = os.read(reading, _AT_ONCE)
                except OSError:
                    data = b""
                if not data:
                    self._soon(self._gone)
                    return
                self._came(list(keys.feed(data)))
            else:
                self._came(list(keys.tick()))

    def _came(self, events: list[Message]) -> None:
        if any(isinstance(event, Key) and event.key == "ctrl+c" for event in events):
            self._pressed()
        if events:
            self._soon(self._deliver, events)

    def _deliver(self, events: list[Message]) -> None:
        for event in events:
            if isinstance(event, Key) and event.key == "ctrl+c":
                self._heard()
            self.process_message(event)

    def send_message(self, message: Message) -> None:
        self._app.post_message(message)

    def _soon(self, call: Callable[..., object], *args: object) -> None:
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(call, *args)

"""Starts the full screen on a terminal. What broke is raised once the terminal is back."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Mapping
from typing import Any

from textual.app import App

from agenyx.config.secrets import masker
from agenyx.core.json import scrub
from agenyx.core.tty import safe
from agenyx.ui.chat.guard import Guard
from agenyx.ui.exits import FAILED
from agenyx.ui.flags import Options
from agenyx.ui.signals import Signals
from agenyx.ui.standard import show
from agenyx.ui.tui.driver import FullScreen
from agenyx.ui.tui.hold import Hold
from agenyx.ui.tui.outlet import Outlet
from agenyx.ui.tui.wiring import Wiring
from agenyx.ui.wanted import settings

_SETTLE = 1.0  # seconds that the last of the output may take


def run(options: Options, env: Mapping[str, str], signals: Signals, hold: Hold) -> int:
    """Talk until the person leaves; returns the exit code. Raises what broke, and what kept it from beginning."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    session = _Session(options, env, signals, hold)
    code = loop.run_until_complete(session.run(loop))
    hold.leave()
    session.farewell()
    return 128 + signals.received if signals.received else code


class _Session:
    """One run on one terminal."""

    def __init__(self, options: Options, env: Mapping[str, str], signals: Signals, hold: Hold) -> None:
        self._prompt, self._signals, self._hold = scrub(options.prompt), signals, hold
        self._outlet = Outlet(hold, masker(env), lambda: self._screen.redraw())
        self._wiring = Wiring(settings(options), env, self._outlet, self._driver, debug=options.debug)
        self._chat, self._app = self._wiring.chat, self._wiring.app

    async def run(self, loop: asyncio.AbstractEventLoop) -> int:
        """The screen first, then the conversation. Raises what went wrong in either."""
        guard = self._guard = Guard(loop, self._signals, self._chat)
        guard.own(self._hold.leave, lambda: self._screen.again())
        showing = loop.create_task(self._app.run_async())
        with self._app._context():  # pyright: ignore[reportPrivateUsage] - widgets want to know whose they are
            talking = loop.create_task(self._wiring.talk(self._prompt))
        guard.watch(talking)
        try:
            await asyncio.wait((talking, showing, guard.fault), return_when=asyncio.FIRST_COMPLETED)
            if not self._app.shown.is_set():
                talking.cancel()  # it waits for a screen that will not come
            code = await guard.over(talking)
        finally:
            self._wiring.approver.close()
            self._app.exit()
            await asyncio.wait((showing,))
            self._outlet.settle(_SETTLE)
            self._hold.leave()
            guard.disown()
            await self._wiring.processes.close()
        for broken in (self._app.fault, showing.exception()):
            if broken is not None:
                raise broken
        return code if self._outlet.broken is None else FAILED

    def _driver(self, app: App[Any]) -> FullScreen:
        self._screen = FullScreen(
            app, self._hold, self._outlet, lambda: self._guard.pressed(), lambda: self._guard.heard(), self._gone
        )
        return self._screen

    def _gone(self) -> None:
        """Nobody is there any more."""
        self._chat.leave(128 + signal.SIGHUP)

    def farewell(self) -> None:
        """How to go on, for who has spoken; and where diagnostics are."""
        last = self._chat.last
        if self._chat.spoken and last is not None and last.persistent:
            show(safe(f"To go on with this session: agenyx --resume {last.session_id}\n"))
        if self._wiring.log is not None:
            show(safe(f"Diagnostics: {self._wiring.log.path}\n"))

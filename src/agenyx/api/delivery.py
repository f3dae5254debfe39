"""Hands the events of a session to whoever iterates over a run. `emit` never waits; the barrier does."""

from __future__ import annotations

import asyncio
from collections import deque

from agenyx.core.events import AgentEvent, Notice

_KEPT = 1000  # events that nobody took yet, while no run is iterated


class Delivery:
    """`notices` are the warnings and errors since they were taken last.

    An event is delivered when the one who iterates asks for the next: what was not taken yet does not act.
    """

    def __init__(self) -> None:
        self.notices: list[Notice] = []
        self._events: deque[AgentEvent] = deque()
        self._watched = self._idle = False
        self._stirred = asyncio.Event()
        self._waiting: list[asyncio.Future[None]] = []

    def emit(self, event: AgentEvent) -> None:
        if isinstance(event.body, Notice) and event.body.level != "info":
            self.notices.append(event.body)
        self._events.append(event)
        if not self._watched and len(self._events) > _KEPT:
            self._events.popleft()
        self._stirred.set()

    async def barrier(self) -> None:
        """Return when everything that was emitted has been taken, or when nobody takes events."""
        while self._watched and (self._events or not self._idle):
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(done)
            await done

    def watch(self) -> None:
        """Somebody iterates from now on."""
        self._watched, self._idle = True, False

    def leave(self) -> None:
        """Nobody iterates any more."""
        self._watched = False
        self._events.clear()
        self._release()

    def stir(self, _task: object = None) -> None:
        """Wake up who waits for an event: there may be none any more."""
        self._stirred.set()

    def next(self) -> AgentEvent | None:
        """The next event, None where there is none now."""
        return self._events.popleft() if self._events else None

    async def wait(self) -> None:
        """Wait until there may be another event; all others were taken and dealt with."""
        self._stirred.clear()
        self._idle = True
        self._release()
        try:
            await self._stirred.wait()
        finally:
            self._idle = False

    def taken(self) -> tuple[Notice, ...]:
        """The warnings so far, once."""
        notices, self.notices = tuple(self.notices), []
        return notices

    def _release(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.done():
                one.set_result(None)

"""The answer to approvals from the person in front of the full screen. It decides nothing and shows nothing itself."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from agenyx.core.approval import Approval, Decision
from agenyx.ui.answering import Answering, kept


class Ask:
    """One open question. `settle` gives the answer; it counts once."""

    def __init__(self, approval: Approval, clock: Callable[[], float], place: str) -> None:
        self.approval, self.place = approval, place
        self.answering = Answering(approval, clock)
        self.answer: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()

    def settle(self, decision: Decision) -> None:
        if not self.answer.done():
            self.answer.set_result(decision)


Present = Callable[["Ask | None", int], None]
"""Shows a question, None for none, and how many more wait."""


class TuiApprover:
    """Questions in the order they come; one is asked at a time. `shown` waits until earlier output is on the screen.

    A question that is cancelled, as by a hook that was quicker, is withdrawn. Before a screen is attached they wait.
    """

    def __init__(
        self,
        shown: Callable[[], Awaitable[None]],
        clock: Callable[[], float] = time.time,
        env: Mapping[str, str] = os.environ,
    ) -> None:
        self._shown, self._clock = shown, clock
        self._place = kept(env)
        self._open: list[Ask] = []
        self._present: Present | None = None
        self._closed = False

    def attach(self, present: Present) -> None:
        """From now on questions are shown there."""
        self._present = present
        if self._open:
            self._tell()

    def close(self) -> None:
        """Nobody is there any more: open questions are denied and the turn stops, later ones too."""
        self._closed, self._present = True, None
        for ask in self._open:
            ask.settle(ask.answering.withdrawn())

    @property
    def waiting(self) -> int:
        """Open questions, with the one that is shown."""
        return len(self._open)

    async def decide(self, approval: Approval) -> Decision:
        """Cancelling withdraws the question."""
        await self._shown()
        ask = Ask(approval, self._clock, self._place)
        if self._closed:
            return ask.answering.withdrawn()
        self._open.append(ask)
        try:
            self._tell()
            return await ask.answer
        finally:
            with suppress(ValueError):
                self._open.remove(ask)
            self._tell()

    def _tell(self) -> None:
        if self._present is not None:
            self._present(self._open[0] if self._open else None, max(len(self._open) - 1, 0))

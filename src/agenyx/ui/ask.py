"""The answer to approvals from the person at the terminal.

It decides nothing on its own and knows no policy; it shows what the verdict and the effects say.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from agenyx.core.approval import Approval, Decision
from agenyx.ui.answering import kept
from agenyx.ui.dialogue import Dialogue, Manner
from agenyx.ui.signals import Signals
from agenyx.ui.terminal import DEAF, Terminal


class TerminalApprover:
    """Asks at `terminal`, one question at a time. `shown` waits until earlier output stands on the screen."""

    def __init__(
        self,
        terminal: Terminal,
        signals: Signals,
        shown: Callable[[], Awaitable[None]],
        clock: Callable[[], float] = time.time,
        deaf: float = DEAF,
        env: Mapping[str, str] = os.environ,
    ) -> None:
        self._terminal, self._signals, self._shown = terminal, signals, shown
        self._manner = Manner(deaf, env.get("TERM", ""), kept(env), clock)
        self._one = asyncio.Lock()

    def _dialogue(self, approval: Approval) -> Dialogue:
        if approval.effects.inquiry is None:
            return Dialogue(self._terminal, approval, self._manner)
        from agenyx.ui.interview import Interview  # most sessions ask no such questions

        return Interview(self._terminal, approval, self._manner)

    async def decide(self, approval: Approval) -> Decision:
        """Cancelling withdraws the question and leaves the terminal as it was found."""
        async with self._one:
            await self._shown()
            loop, answer = asyncio.get_running_loop(), asyncio.Event()
            dialogue = self._dialogue(approval)
            decided: list[Decision | Exception] = []

            def work() -> None:
                try:
                    decided.append(dialogue.run())
                except Exception as error:  # noqa: BLE001 - the rim of a thread: who waits is told
                    decided.append(error)
                with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                    loop.call_soon_threadsafe(answer.set)

            thread = threading.Thread(target=work, name="agenyx-approval", daemon=True)
            self._terminal.settle()
            self._signals.raw_terminal(dialogue.suspend, dialogue.resume)
            try:
                thread.start()
                await answer.wait()
            finally:
                self._terminal.withdraw()
                thread.join(1.0)
                self._terminal.restore()
                self._signals.cooked_terminal()
            if isinstance(answered := decided[0], Exception):
                raise answered
            return answered

"""Questions while an editor owns the terminal: it steps aside, the question is asked as everywhere, it comes back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager

from agenyx.agent.ports import Approver
from agenyx.core.approval import Approval, Decision


class AsideApprover:
    """`shown` waits for earlier output; `aside` is the time in which the terminal belongs to the question."""

    def __init__(
        self,
        approver: Approver,
        shown: Callable[[], Awaitable[None]],
        aside: Callable[[], AbstractAsyncContextManager[None]],
    ) -> None:
        self._approver, self._shown, self._aside = approver, shown, aside
        self._one = asyncio.Lock()  # a subagent in the background may ask while another question is open

    async def decide(self, approval: Approval) -> Decision:
        async with self._one:
            await self._shown()
            async with self._aside():
                return await self._approver.decide(approval)

"""A person and hooks race for one question: who is first counts, and the other sees it no more."""

from __future__ import annotations

import asyncio
from typing import Any

from agenyx.agent.racing import Racing
from agenyx.core.approval import Approval, Decision
from support.tui import see, text, until

from .place import approval, place


class Occasions:
    """Hooks that answer when a test says so."""

    def __init__(self) -> None:
        self.answer: asyncio.Future[Decision | None] = asyncio.get_running_loop().create_future()

    def wants(self, event: str) -> bool:
        return event == "PermissionRequest"

    async def answered(self, one: Approval) -> Decision | None:
        return await self.answer


async def test_a_hook_that_is_quicker_withdraws_the_question() -> None:
    async with place() as room:
        occasions: Any = Occasions()
        task = asyncio.ensure_future(Racing(occasions, room.app.approver).decide(approval()))
        await see(room.pilot, "Bash asks for approval")
        occasions.answer.set_result(Decision("apr_1", "deny", by="hook"))
        assert (await task).by == "hook"
        await until(room.pilot, lambda: "asks for approval" not in text(room.app))
        assert room.app.approver.waiting == 0


async def test_a_person_who_is_quicker_counts() -> None:
    async with place() as room:
        occasions: Any = Occasions()
        task = asyncio.ensure_future(Racing(occasions, room.app.approver).decide(approval()))
        await see(room.pilot, "Bash asks for approval")
        await room.settle()
        await room.press("y")
        await until(room.pilot, task.done)
        assert task.result().by == "terminal"

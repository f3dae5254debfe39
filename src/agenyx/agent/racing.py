"""A question that a person and hooks may answer: the first who decides counts. And what only a person may allow."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from agenyx.agent.ports import Approver, Deferred
from agenyx.core.approval import Approval, Decision

if TYPE_CHECKING:
    from agenyx.agent.occasions import Occasions


class Racing:
    """Puts a question to the person and to the hooks; the first that decides counts, and the other is let go.

    Where nobody can be asked, or only later, the hooks are heard to their end first.
    """

    def __init__(self, occasions: Occasions, approver: Approver) -> None:
        self._occasions, self._approver = occasions, approver

    async def decide(self, approval: Approval) -> Decision:
        occasions = self._occasions
        asks, tells = occasions.wants("PermissionRequest"), occasions.wants("Notification")
        if not (asks or tells):
            return await self._approver.decide(approval)
        person = asyncio.ensure_future(self._approver.decide(approval))
        hooks = asyncio.ensure_future(occasions.answered(approval)) if asks else None
        try:
            await asyncio.sleep(0)
            if tells and not person.done():
                occasions.notify("permission_prompt", f"Agenyx waits for your permission to use {approval.call.name}")
            if hooks is None:
                return await person
            await asyncio.wait((person, hooks), return_when="FIRST_COMPLETED")
            if person.done() and not hooks.done() and _decisive(person):
                return person.result()
            return await hooks or await person
        finally:
            for task in (person, hooks):
                if task is not None and not task.done():
                    task.cancel()
                    with suppress(asyncio.CancelledError, Exception):
                        await task
            if person.done() and not person.cancelled():
                person.exception()  # a question that was left open and answered by a hook is no error


def _decisive(person: asyncio.Future[Decision]) -> bool:
    error = person.exception()
    return not isinstance(error, Deferred) and (error is not None or person.result().by not in ("headless", "deferred"))


def personal(approval: Approval) -> bool:
    """Whether a question is put before a person for its danger, not only because no rule allows the call."""
    effects = approval.effects
    refs = (*effects.reads, *effects.writes, *effects.removes)
    inner = (concern for command in effects.commands for concern in command.concerns)
    sources = {reason.source for reason in approval.verdict.reasons}
    guarded = any(ref.protected for ref in refs) or any((*effects.concerns, *inner))
    return guarded or effects.interact or bool(sources & {"rule", "safety", "interaction", "hook"})

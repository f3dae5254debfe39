"""Asking for a subagent: at the parent's approver, one question after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agenyx.agent.child import Pulse
from agenyx.agent.judge import Judge, Judged
from agenyx.agent.ports import Approver, Deferred
from agenyx.core.approval import Approval, Decision
from agenyx.core.verdict import Rule
from agenyx.policy.decide import Policy

_LATER = (
    "a subagent cannot wait for an answer that comes later. Leave this call to the main agent: say in your answer what "
    "has to be done"
)


class ChildApprover:
    """`one` is held while a question of a child is open. `learn` is told rules that a person set for the session."""

    def __init__(
        self,
        approver: Approver,
        judge: Judge,
        pulse: Pulse,
        one: asyncio.Lock,
        learn: Callable[[tuple[Rule, ...]], None],
    ) -> None:
        self._approver, self._judge, self._pulse, self._one, self._learn = approver, judge, pulse, one, learn

    async def decide(self, approval: Approval) -> Decision:
        with self._pulse.held():
            async with self._one:
                return await self._decide(approval)

    async def _decide(self, approval: Approval) -> Decision:
        if not any(reason.source == "hook" for reason in approval.verdict.reasons):
            # The answer to another child, or a change of mode, may cover it by now.
            judged = await self._judge(approval.call.name, approval.args or approval.call.args, Policy)
            if isinstance(judged, Judged) and judged.verdict.decision == "allow":
                return Decision(approval.id, "allow", by="rule", at=approval.asked_at)
        try:
            decision = await self._approver.decide(approval)
        except Deferred:
            return Decision(approval.id, "deny", message=_LATER, by="deferred", at=approval.asked_at)
        if decision.choice == "allow" and decision.scope != "once":
            self._learn(approval.verdict.offer)
        return decision

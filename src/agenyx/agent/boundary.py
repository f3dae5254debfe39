"""The one way from a model's call to an effect: resolve, validate, project, decide, execute, normalise, persist.

Every call of every surface and agent crosses these stages in this order. The boundary knows no tool by name: it sees
specs, arguments, Effects and Verdicts. Each stage that fails gives the model a result; only the store ends a turn.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence

from msgspec import UNSET, Struct
from msgspec.structs import replace

from agenyx.agent.asking import question
from agenyx.agent.hooked import Hooking, changed_by
from agenyx.agent.judge import Judge, Judged, Refused, refused_by_guard, say
from agenyx.agent.normalise import Normaliser
from agenyx.agent.ports import Emitter, Ports
from agenyx.core.approval import Approval, Decision
from agenyx.core.events import (
    ApprovalAsked,
    ApprovalSettled,
    CallAccepted,
    CallFinished,
    EffectStarted,
    Notice,
    Output,
)
from agenyx.core.limits import MAX_PARALLEL
from agenyx.core.messages import Text, ToolResult
from agenyx.core.tools import Effects
from agenyx.policy.decide import Policy
from agenyx.session.records import Asked, Checkpoint, Decided, EffectsBegun, Result
from agenyx.session.session import Session
from agenyx.session.state import CallState
from agenyx.tools.spec import Context, Outcome

INTERRUPTED = (
    "Agenyx was stopped while this call ran. Whether it took effect is not known, and it was not run again: "
    "look at the state of things before you repeat it."
)
MAX_EDITS = 2  # of one call; the reference is AgentX §6.2
TOO_OFTEN = "Denied: what the user changed it to needs another approval, and it was changed twice already."
CANCELLED = "The turn was stopped before this call ran."
CANCELLED_RUNNING = "The turn was stopped while this call ran; part of it may have happened."


class Ready(Struct, frozen=True):
    """A call that passed every stage before execution, unless a human has to decide first."""

    state: CallState
    judged: Judged


class Boundary:
    """`context` makes what one call runs in: it is given where live output goes, the call's id and what was judged."""

    def __init__(
        self,
        session: Session,
        judge: Judge,
        policy: Policy,
        context: Callable[[Callable[[bytes], None], str, Effects], Context],
        normalise: Normaliser,
        ports: Ports,
        emit: Emitter,
    ) -> None:
        self._session, self._judge = session, judge
        self.policy = policy  # the person may change the mode while the session lives
        self._context, self._normalise = context, normalise
        self._ports, self._emit = ports, emit
        self.hooking = Hooking(session, ports.hooks, emit, judge.registry)

    async def settle(self, calls: Sequence[CallState]) -> None:
        """Bring the next of the calls to their results: one, or several that run together. Or ask a human first."""
        group = await self._group(calls)
        if asking := [ready for ready in group if ready.judged.asks]:
            await self._ask(asking)
            if self._ports.ahead:
                await self._ahead(calls)
        elif group:
            await self._execute(group)

    async def answer(self, approvals: Sequence[Approval]) -> Decision | None:
        """Put the questions to the approver; returns the decision that stops the turn, if one does."""
        for approval in approvals:
            decision = None
            if self._session.state.rules:  # an earlier answer may cover what follows
                decision = await self._ruled(approval)
            decision = decision or await self._ports.approver.decide(approval)
            self._session.append(Decided(decision), sync=True)
            self._emit(ApprovalSettled(decision))
            if decision.stop:
                return decision
            keeps = decision.choice == "allow" and decision.scope == "saved"
            if keeps and (problem := self._ports.remember(approval.verdict.offer)):
                self._emit(Notice("warning", f"The rule holds for this session, but was not saved: {problem}."))
        return None

    async def _ruled(self, approval: Approval) -> Decision | None:
        state = self._session.state.pending[approval.call.id]
        judged = await self._judge(state.call.name, state.args, self._rules, before=self.hooking.before(state))
        if isinstance(judged, Judged) and judged.verdict.decision == "allow":
            return Decision(approval.id, "allow", by="rule", at=self._session.clock())
        return None

    def abandon(self, calls: Sequence[CallState], *, crashed: bool = False, why: str = CANCELLED) -> None:
        """Give every open call its result because the turn ends here; nothing runs."""
        for state in calls:
            if crashed and state.begun and state.acts:
                outcome = Outcome.error(INTERRUPTED, "interrupted")
            else:
                outcome = Outcome.error(CANCELLED_RUNNING if state.begun else why, "cancelled")
            self._persist(state, state.call.name, outcome, 0.0)

    # --- stages ----------------------------------------------------------------------------------------------------

    async def _group(self, todo: Sequence[CallState]) -> list[Ready]:
        """The next calls to run together: one, or several in a row that only look. Empty if the first was settled."""
        group: list[Ready] = []
        for state in todo[:MAX_PARALLEL]:
            if state.waiting:
                break
            ready = await self._prepare(state)
            seen = ready.judged.effects if isinstance(ready, Ready) else ready.effects
            together = isinstance(ready, Ready) and seen.parallel
            if group and not together:
                break
            if state.approval is None:
                self._emit(CallAccepted(state.call, seen))
            if isinstance(ready, Refused):
                self._persist(state, state.call.name, ready.outcome, 0.0)
                await self.hooking.denied(state, ready)
                break
            group.append(ready)
            if not together:
                break
        return group

    async def _prepare(self, state: CallState) -> Ready | Refused:
        """Judge the call, and see what hooks and a human have said to it."""
        if state.begun and state.acts:
            return Refused(Outcome.error(INTERRUPTED, "interrupted"))
        decision, approval = state.decision, state.approval
        if decision is not None and decision.choice == "deny":
            effects = approval.effects if approval is not None else Effects()
            return Refused(Outcome.error(f"Denied: {decision.message or 'the user said no.'}", "denied"), effects)
        before = self.hooking.before(state)
        judged = await self._judge(state.call.name, state.args, self._rules, approval, decision, before)
        if isinstance(judged, Refused):
            return judged
        if judged.asks and state.edits >= MAX_EDITS:
            return Refused(Outcome.error(TOO_OFTEN, "denied"), judged.effects)
        return Ready(state, judged)

    def _rules(self) -> Policy:
        """The policy as it is now, with the rules that the person set while answering and the scope of the turn."""
        state, policy = self._session.state, self.policy
        if state.scope.by:
            policy = replace(policy, scopes=(*policy.scopes, state.scope))
        return replace(policy, rules=(*policy.rules, *state.rules)) if state.rules else policy

    async def _ask(self, asking: Sequence[Ready]) -> None:
        for ready in asking:
            approval = await question(self._session, ready.state, ready.judged.effects, ready.judged.verdict)
            self._session.append(Asked(approval), sync=True)
            self._emit(ApprovalAsked(approval))

    async def _ahead(self, calls: Sequence[CallState]) -> None:
        """Ask about later calls of the response as well. When their turn comes they are judged again."""
        for state in calls:
            if state.approval is None:
                ready = await self._prepare(state)
                if isinstance(ready, Ready) and ready.judged.asks:
                    self._emit(CallAccepted(state.call, ready.judged.effects))
                    await self._ask([ready])

    async def _execute(self, group: Sequence[Ready]) -> None:
        """Run a group that was allowed. Its results go on record in the order of the calls."""
        ids = tuple(ready.state.call.id for ready in group)
        edited = {ready.state.call.id: text for ready in group if (text := ready.state.changed) is not None}
        acts = any(not ready.judged.effects.parallel for ready in group)
        keeper, kept = self._ports.keeper, list[Checkpoint]()
        if acts:
            for ready in group:
                kept += await keeper.before(ready.state.call.id, ready.judged.effects)
            await self._ports.barrier()
        if lost := self._judge.guard():
            for ready in group:
                self._persist(ready.state, ready.judged.tool.name, refused_by_guard(lost).outcome, 0.0)
            return
        # On disk before the effect: that is what tells a crashed call from one that never started.
        self._session.append(*kept, EffectsBegun(ids, acts, edited or UNSET), sync=acts)
        self._emit(EffectStarted(ids))
        async with asyncio.TaskGroup() as tasks:
            runs = [tasks.create_task(self._run(ready)) for ready in group]
        for ready, run in zip(group, runs, strict=True):
            outcome, seconds = run.result()
            self._persist(ready.state, ready.judged.tool.name, outcome, seconds, ready.judged.effects)
            if (asked := ready.state.approval) and (said := ready.state.decision) and said.by != "rule":
                before = dict(asked.files)
                for one in outcome.observed:
                    self._ports.approved(one.path, before.get(one.path, ""), one.sha256)
        for ready in group:
            await self._ports.touched(ready.judged.effects)
        await self.hooking.after([(r.state, r.judged, run.result()[1]) for r, run in zip(group, runs, strict=True)])

    async def _run(self, ready: Ready) -> tuple[Outcome, float]:
        call, tool, started = ready.state.call, ready.judged.tool, time.monotonic()
        feed, end = self._normalise.live(lambda data: self._emit(Output(call.id, data)))
        try:
            outcome = await tool.run(ready.judged.args, self._context(feed, call.id, ready.judged.effects))
        except Exception as error:  # noqa: BLE001 - the rim around a tool: its errors are data
            outcome = Outcome.error(f"{tool.name} failed: {say(error)}")
        end()
        seconds = time.monotonic() - started
        await self._ports.keeper.after(call.id)
        return outcome, seconds

    def _persist(
        self, state: CallState, name: str, outcome: Outcome, seconds: float, effects: Effects | None = None
    ) -> None:
        if told := changed_by(state):
            outcome = replace(outcome, content=(Text(told), *outcome.content))
        kept = self._ports.keeper.ended(state.call.id)
        if kept.note:
            outcome = replace(outcome, content=(*outcome.content, Text(kept.note)))
        result: ToolResult = self._normalise(state.call, outcome, effects)
        self._session.append(*kept.records, Result(result, outcome.observed, outcome.scope, outcome.tasks))
        self._emit(CallFinished(result, name, seconds))

"""The one way from a model's call to an effect: resolve, validate, project, decide, execute, normalise, persist.

Every call of every surface and agent crosses these stages in this order. The boundary knows no tool by name: it sees
specs, arguments, Effects and Verdicts. Each stage that fails gives the model a result; only the store ends a turn.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from agenyx.agent.normalise import Normaliser
from agenyx.agent.ports import Emitter, Ports
from agenyx.core import json
from agenyx.core.approval import Approval, Decision
from agenyx.core.events import (
    ApprovalAsked,
    ApprovalSettled,
    CallAccepted,
    CallFinished,
    EffectStarted,
    Output,
)
from agenyx.core.limits import MAX_PARALLEL
from agenyx.core.messages import ToolResult
from agenyx.core.tools import Effects
from agenyx.core.verdict import Verdict
from agenyx.policy.decide import Policy, decide
from agenyx.session.records import Asked, Decided, EffectsBegun, Result
from agenyx.session.session import Session
from agenyx.session.state import CallState
from agenyx.tools.registry import Registry, parse_args
from agenyx.tools.spec import Context, Look, Outcome, Tool
from agenyx.workspace.names import show

INTERRUPTED = (
    "Agenyx was stopped while this call ran. Whether it took effect is not known, and it was not run again: "
    "look at the state of things before you repeat it."
)
CANCELLED = "The turn was stopped before this call ran."
CANCELLED_RUNNING = "The turn was stopped while this call ran; part of it may have happened."


class Ready(Struct, frozen=True):
    """A call that passed every stage before execution. `asks` when a human has to decide first."""

    state: CallState
    tool: Tool[Any]
    args: Struct
    effects: Effects
    verdict: Verdict

    @property
    def asks(self) -> bool:
        return self.verdict.decision == "ask" and self.state.decision is None


class Refused(Struct, frozen=True):
    """A call that ended before execution, with its effects as far as they were seen."""

    outcome: Outcome
    effects: Effects = Effects()


class Boundary:
    """`context` makes what one call runs in: it is given where live output goes and the call's id."""

    def __init__(
        self,
        session: Session,
        registry: Registry,
        policy: Policy,
        look: Callable[[], Look],
        context: Callable[[Callable[[bytes], None], str], Context],
        normalise: Normaliser,
        ports: Ports,
        emit: Emitter,
    ) -> None:
        self._session, self._registry = session, registry
        self.policy = policy  # the person may change the mode while the session lives
        self._look, self._context, self._normalise = look, context, normalise
        self._ports, self._emit = ports, emit

    async def settle(self, calls: Sequence[CallState]) -> None:
        """Bring the calls to their results, in order. Returns early when a call has to wait for a human."""
        todo = list(calls)
        while todo:
            group = await self._group(todo)
            if asking := [ready for ready in group if ready.asks]:
                self._ask(asking)
                return
            if group:
                await self._execute(group)
            todo = [state for state in todo if state.result is None]

    async def answer(self, approvals: Sequence[Approval]) -> Decision | None:
        """Put the questions to the approver; returns the decision that stops the turn, if one does."""
        for approval in approvals:
            decision = await self._ports.approver.decide(approval)
            self._session.append(Decided(decision), sync=True)
            self._emit(ApprovalSettled(decision))
            if decision.stop:
                return decision
        return None

    def abandon(self, calls: Sequence[CallState], *, crashed: bool = False) -> None:
        """Give every open call its result because the turn ends here; nothing runs."""
        for state in calls:
            if crashed and state.begun and state.acts:
                outcome = Outcome.error(INTERRUPTED, "interrupted")
            else:
                outcome = Outcome.error(CANCELLED_RUNNING if state.begun else CANCELLED, "cancelled")
            self._persist(state, state.call.name, outcome, 0.0)

    # --- stages ----------------------------------------------------------------------------------------------------

    async def _group(self, todo: Sequence[CallState]) -> list[Ready]:
        """The next calls to run together: one, or several in a row that only look. Empty if the first was settled."""
        group: list[Ready] = []
        for state in todo[:MAX_PARALLEL]:
            ready = await self._prepare(state)
            together = isinstance(ready, Ready) and ready.effects.parallel
            if group and not together:
                break
            if state.approval is None:
                self._emit(CallAccepted(state.call, ready.effects))
            if isinstance(ready, Refused):
                self._persist(state, state.call.name, ready.outcome, 0.0)
                break
            group.append(ready)
            if not together:
                break
        return group

    async def _prepare(self, state: CallState) -> Ready | Refused:
        """Resolve, validate, project, decide. Changes nothing."""
        call = state.call
        if state.begun and state.acts:
            return Refused(Outcome.error(INTERRUPTED, "interrupted"))
        tool = self._registry.find(call.name)
        if tool is None:
            known = ", ".join(self._registry.names())
            text = f"There is no tool named {call.name!r}. The tools are: {known}."
            return Refused(Outcome.error(text, "unavailable"))
        try:
            args = parse_args(tool, call.args)
        except json.JsonError as error:
            text = f"The arguments are not valid: {error}. You sent: {call.args[:2000]}"
            return Refused(Outcome.error(text, "malformed"))
        try:
            effects = await tool.project(args, self._look())
        except Exception as error:  # noqa: BLE001 - the rim around a tool: its errors are data
            return Refused(Outcome.error(f"{tool.name} failed while it was checked: {_say(error)}"))
        verdict = decide(tool.name, effects, self.policy)
        decision = state.decision
        if verdict.decision == "deny":
            return Refused(Outcome.error(f"Denied: {verdict.text}.", "denied"), effects)
        if verdict.decision == "ask" and decision is not None and decision.choice == "deny":
            return Refused(Outcome.error(f"Denied: {decision.message or 'the user said no.'}", "denied"), effects)
        return Ready(state, tool, args, effects, verdict)

    def _ask(self, asking: Sequence[Ready]) -> None:
        session = self._session
        for ready in asking:
            seen = session.state.seen
            paths = [show(ref.real) for ref in (*ready.effects.writes, *ready.effects.removes)]
            files = tuple((path, seen.get(path, "")) for path in paths)
            approval = Approval(
                session.ids.new("apr"),
                ready.state.call,
                ready.verdict,
                ready.effects,
                files,
                asked_at=session.clock(),
            )
            session.append(Asked(approval), sync=True)
            self._emit(ApprovalAsked(approval))

    async def _execute(self, group: Sequence[Ready]) -> None:
        """Run a group that was allowed. Its results go on record in the order of the calls."""
        ids = tuple(ready.state.call.id for ready in group)
        acts = any(not ready.effects.parallel for ready in group)
        if acts:
            await self._ports.barrier()
        # On disk before the effect: that is what tells a crashed call from one that never started.
        self._session.append(EffectsBegun(ids, acts), sync=acts)
        self._emit(EffectStarted(ids))
        async with asyncio.TaskGroup() as tasks:
            runs = [tasks.create_task(self._run(ready)) for ready in group]
        for ready, run in zip(group, runs, strict=True):
            outcome, seconds = run.result()
            self._persist(ready.state, ready.tool.name, outcome, seconds)

    async def _run(self, ready: Ready) -> tuple[Outcome, float]:
        call, started = ready.state.call, time.monotonic()

        feed, end = self._normalise.live(lambda data: self._emit(Output(call.id, data)))
        try:
            outcome = await ready.tool.run(ready.args, self._context(feed, call.id))
        except Exception as error:  # noqa: BLE001 - the rim around a tool: its errors are data
            outcome = Outcome.error(f"{ready.tool.name} failed: {_say(error)}")
        end()
        return outcome, time.monotonic() - started

    def _persist(self, state: CallState, name: str, outcome: Outcome, seconds: float) -> None:
        result: ToolResult = self._normalise(state.call, outcome)
        self._session.append(Result(result, outcome.observed))
        self._emit(CallFinished(result, name, seconds))


def _say(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__

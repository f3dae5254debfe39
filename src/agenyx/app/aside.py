"""A call that no model made: a command that a person runs may read files and run others. It crosses the same boundary.

Judged like a call of the model, by the same rules, mode and hooks; asked about in the same words; masked and bounded in
the same way. It stands in no step: what it says goes where the command puts it. What it changes can be put back.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from agenyx.agent.asking import question
from agenyx.agent.boundary import CANCELLED_RUNNING
from agenyx.agent.hooked import Before, fire, value_of
from agenyx.agent.judge import Judged, Refused, say
from agenyx.agent.ports import Deferred
from agenyx.core import json
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
from agenyx.core.hooks import Event, Fired
from agenyx.core.messages import ToolCall, ToolResult
from agenyx.core.tools import Effects
from agenyx.policy.decide import Policy
from agenyx.session.records import Hooked
from agenyx.session.state import CallState
from agenyx.tools.spec import Outcome, Tool

if TYPE_CHECKING:
    from agenyx.app.runtime import Conversation

_ASKED = 3  # times about one call, where its answers change it


class Said(Struct, frozen=True):
    """`ran`: it was not refused. Then `result` says how it went, also where it went wrong."""

    ran: bool
    result: ToolResult


class Aside:
    """Calls of one command. A scope keeps the model to something, so none holds for them: they are in the file."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation, self._parts = conversation, conversation.parts
        self._session = conversation.parts.source.session

    async def __call__(self, name: str, args: dict[str, object]) -> Said:
        """Run one call to its end. Raises StoreError."""
        call = ToolCall(self._session.ids.new("call"), "", name, json.encode(args).decode())
        judged = await self._judged(call)
        if isinstance(judged, Refused):
            return self._finished(call, judged.outcome, 0.0, ran=False)
        if lost := self._parts.judge.guard():
            return self._finished(call, Outcome.error(f"Denied: {lost}.", "denied"), 0.0, ran=False)
        return await self._run(call, judged)

    def _policy(self) -> Policy:
        policy = self._parts.boundary.policy
        return replace(policy, rules=(*policy.rules, *self._session.state.rules))

    async def _judged(self, call: ToolCall) -> Judged | Refused:
        """Judge the call until it may run or may not; a person is asked where the rules say so."""
        args, asked, answer, accepted, before = call.args, None, None, False, self._hooks(call)
        for _ in range(_ASKED):
            judged = await self._parts.judge(call.name, args, self._policy, asked, answer, before(args != call.args))
            if not accepted:
                self._parts.emit(CallAccepted(call, judged.effects))
                accepted = True
            if isinstance(judged, Refused) or not judged.asks:
                return judged
            asked, answer = await self._ask(call, args, judged)
            if answer.choice == "deny":
                why = answer.message or "the user said no."
                return Refused(Outcome.error(f"Denied: {why}", "denied"), judged.effects)
            args = answer.args or args
        return Refused(Outcome.error("Denied: it was changed too often while it was asked about.", "denied"))

    def _hooks(self, call: ToolCall) -> Callable[[bool], Before | None]:
        """What asks the hooks about the call, once; they do not change what a person `edited`."""
        hooks, emit, told = self._parts.ports.hooks, self._parts.emit, list[Hooked | None]()

        async def ask(tool: Tool[Any], args: str, effects: Callable[[], Awaitable[Effects]]) -> Hooked | None:
            if not told:
                data = {"tool_name": tool.name, "tool_input": value_of(args), "tool_use_id": call.id}
                said = await fire(hooks, emit, Fired("PreToolUse", tool.name, data, tool.aliases), effects)
                answer = Hooked("PreToolUse", call.id, said.decision, said.reason, said.args, stop=said.stop)
                told.append(answer if said.ran else None)
            return told[0]

        async def spared(tool: Tool[Any], args: str, effects: Callable[[], Awaitable[Effects]]) -> Hooked | None:
            answer = await ask(tool, args, effects)
            return answer and replace(answer, args=None)

        wanted = hooks.wants("PreToolUse")
        return lambda edited: (spared if edited else ask) if wanted else None

    async def _ran(self, call: ToolCall, judged: Judged, result: ToolResult, seconds: float) -> None:
        """Let hooks know what it came to; they change nothing about it."""
        ports, tool = self._parts.ports, judged.tool
        await ports.touched(judged.effects)
        event: Event = "PostToolUse" if result.status == "ok" else "PostToolUseFailure"
        if not ports.hooks.wants(event):
            return
        data = {"tool_name": tool.name, "tool_input": value_of(judged.text), "tool_use_id": call.id}
        data["duration_ms"] = round(seconds * 1000)
        if event == "PostToolUse":
            data["tool_response"] = {"status": result.status, "content": result.text}
        else:
            data |= {"error": result.text, "is_interrupt": result.status in ("cancelled", "interrupted")}
        await fire(ports.hooks, self._parts.emit, Fired(event, tool.name, data, tool.aliases))

    async def _ask(self, call: ToolCall, args: str, judged: Judged) -> tuple[Approval, Decision]:
        emit, ports, verdict = self._parts.emit, self._parts.ports, judged.verdict
        asked = await question(self._session, CallState(call), judged.effects, verdict)
        asked = replace(asked, args=args) if args != call.args else asked
        emit(ApprovalAsked(asked))
        try:
            answer = await ports.approver.decide(asked)
        except Deferred:
            why = "it needs your yes, and a command cannot wait for one."
            answer = Decision(asked.id, "deny", message=why, at=self._session.clock())
        emit(ApprovalSettled(answer))
        if answer.choice == "allow" and answer.scope != "once":
            boundary = self._parts.boundary
            boundary.policy = replace(boundary.policy, rules=(*boundary.policy.rules, *verdict.offer))
            if answer.scope == "saved" and (problem := ports.remember(verdict.offer)):
                emit(Notice("warning", f"The rule holds for this session, but was not saved: {problem}."))
        return asked, answer

    async def _run(self, call: ToolCall, judged: Judged) -> Said:
        parts, keeper, started = self._parts, self._parts.ports.keeper, time.monotonic()
        if judged.effects.acts:
            self._conversation.held += await keeper.before(call.id, judged.effects)
            await parts.ports.barrier()
        parts.emit(EffectStarted((call.id,)))
        feed, end = parts.normalise.live(lambda data: parts.emit(Output(call.id, data)))
        stopped: asyncio.CancelledError | None = None
        try:
            context = parts.context(feed, call.id, judged.effects)
            outcome = await judged.tool.run(judged.args, context)
        except asyncio.CancelledError as error:
            outcome, stopped = Outcome.error(CANCELLED_RUNNING, "cancelled"), error
        except Exception as error:  # noqa: BLE001 - the rim around a tool: its errors are data
            outcome = Outcome.error(f"{judged.tool.name} failed: {say(error)}")
        end()
        await keeper.after(call.id)
        self._conversation.held += keeper.ended(call.id).records
        seconds = time.monotonic() - started
        said = self._finished(call, outcome, seconds, ran=True, judged=judged)
        if stopped is not None:
            raise stopped
        await self._ran(call, judged, said.result, seconds)
        return said

    def _finished(
        self, call: ToolCall, outcome: Outcome, seconds: float, *, ran: bool, judged: Judged | None = None
    ) -> Said:
        result = self._parts.normalise(call, outcome, judged.effects if judged else None)
        self._parts.emit(CallFinished(result, judged.tool.name if judged else call.name, seconds))
        return Said(ran, result)

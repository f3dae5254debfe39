"""The loop. It asks the session what comes next and does it, until the turn is over.

Nothing lives in local variables that a crash would lose: a process that starts in the middle of a turn reads the
records, calls `run`, and goes on where the last one stopped.
"""

from __future__ import annotations

import asyncio
import time

from msgspec.structs import replace

from agenyx.agent.boundary import CANCELLED, Boundary
from agenyx.agent.budget import Meter
from agenyx.agent.guard import advice
from agenyx.agent.notices import notice
from agenyx.agent.ports import Deferred, Emitter, Ports
from agenyx.agent.room import Room
from agenyx.core.errors import AgenyxError, StoreError
from agenyx.core.events import CallDraft, Done, Failure, Outcome, Started, StepStarted, TextDelta, TurnFinished, Usage
from agenyx.core.messages import Assistant, Block, Text, ToolCall
from agenyx.llm.request import Provider, Request
from agenyx.session.records import Accepted, Finished, Prompt, Response
from agenyx.session.session import Session
from agenyx.session.state import NeedModel, Over, Settle, Waiting


class Engine:
    """Drives one session. `max_steps` bounds the model responses of one turn."""

    def __init__(
        self,
        session: Session,
        provider: Provider,
        boundary: Boundary,
        ports: Ports,
        emit: Emitter,
        max_steps: int,
        meter: Meter | None = None,
        room: Room | None = None,
    ) -> None:
        self._session, self._boundary = session, boundary
        self.provider = provider  # the person may choose another model between two turns
        self._ports, self._emit, self._max_steps = ports, emit, max_steps
        self._meter, self._room = meter or Meter(), room

    async def run(self) -> TurnFinished:
        """Go on with the current turn until it is over. Does not raise: a cancelled task has outcome `cancelled`."""
        started, before = time.monotonic(), self._session.state.usage
        self._meter.begin()
        try:
            outcome = await self._loop()
            await self._ports.barrier()
        except Deferred:
            outcome = Outcome("waiting")
        except asyncio.CancelledError:
            outcome = self._stop(Outcome("cancelled", "Stopped by the user."))
        except StoreError as error:
            # The store is the source of truth: what it did not take has not happened, so nothing more may.
            outcome = Outcome("failed", f"{error.message}. {error.fix}".strip())
        except AgenyxError as error:
            outcome = self._stop(Outcome("failed", f"{error.message}. {error.fix}".strip()))
        state = self._session.state
        steps = state.turn_steps()
        text = steps[-1].assistant.text if steps else ""
        after = state.usage
        usage = None if after is before or after is None else after if before is None else after - before
        seconds, waiting = time.monotonic() - started, state.questions if outcome.kind == "waiting" else ()
        finished = TurnFinished(outcome, text, state.steps, seconds, usage, self._meter.turn_cost, waiting)
        self._emit(finished)
        return finished

    async def _loop(self) -> Outcome:
        session = self._session
        while True:
            if (why := session.state.halted) and session.state.outcome is None:
                return self._stop(Outcome("stopped", why))
            match session.next():
                case Over(outcome) if outcome is not None:
                    return outcome
                case Over():
                    if not self._advised() and not await self._boundary.hooking.goes_on():
                        session.append(Finished(Outcome("done")), sync=True)
                case NeedModel() if session.state.steps >= self._max_steps:
                    session.append(Finished(self._limit()), sync=True)
                case NeedModel() if (over := self._meter.over()) is not None:
                    session.append(Finished(over), sync=True)
                case NeedModel(request):
                    if self._advised():
                        continue
                    if steering := self._ports.inbox():
                        session.append(*(Prompt(user) for user in steering))
                        continue
                    if self._room and await self._room.fit(self.provider):
                        continue
                    failure = await self._model(request)
                    if failure is not None and not (self._room and await self._room.relieve(self.provider, failure)):
                        session.append(Finished(failure), sync=True)
                case Settle() if (over := self._meter.over()) is not None:
                    return self._stop(over, "The budget was reached, so this call was not started.")
                case Settle(calls):
                    await self._boundary.settle(calls)
                case Waiting(approvals):
                    if (decision := await self._boundary.answer(approvals)) is not None:
                        return self._stop(Outcome("stopped", decision.message or "Stopped by the user."))

    def interrupt(self) -> None:
        """Close what an earlier process left open, as the person goes on with something else. Raises StoreError."""
        pending = self._session.state.pending.values()
        self._boundary.abandon([call for call in pending if call.result is None], crashed=True)

    def _advised(self) -> bool:
        """Append what the guard has to say. True when it said something, so that the state has changed."""
        match advice(self._session.state):
            case None:
                return False
            case Outcome() as outcome:
                self._session.append(Finished(outcome), sync=True)
            case str(text):
                self._session.append(Prompt(notice(text)))
        return True

    async def _model(self, request: Request) -> Outcome | None:
        """One response of the model, on record. Returns the outcome when the provider failed."""
        self._session.sync()  # what the request carries is on disk before it leaves
        self._emit.step = self._session.state.steps + 1
        self._emit(StepStarted())
        text: list[str] = []
        usage: Usage | None = None
        response_id, drafted = "", dict[int, str]()
        stream = self.provider.stream(request)
        try:
            async for event in stream:
                if isinstance(event, CallDraft) and event.block not in drafted:
                    drafted[event.block] = self._session.ids.new("call")
                    event = replace(event, id=drafted[event.block])
                self._emit(event)
                match event:
                    case TextDelta():
                        text.append(event.text)
                    case Started():
                        response_id = event.response_id
                    case Usage():
                        usage = event
                    case Done(assistant):
                        self._respond(assistant, usage, response_id, drafted)
                        return None
                    case Failure():
                        self._keep("".join(text), usage, request)
                        return Outcome("failed", event.message, event)
                    case _:
                        pass
            problem = "The provider ended without an answer."
        except asyncio.CancelledError:
            self._keep("".join(text), usage, request)
            raise
        except AgenyxError:
            raise
        except Exception as error:  # noqa: BLE001 - the rim around a provider
            problem = f"The provider failed: {type(error).__name__}: {error}"
        self._keep("".join(text), usage, request)
        return Outcome("failed", problem)

    def _respond(self, assistant: Assistant, usage: Usage | None, response_id: str, drafted: dict[int, str]) -> None:
        """Put a whole response on record and take on its calls, before anything of them happens."""
        ids = iter([drafted[block] for block in sorted(drafted)])

        def own(block: Block) -> Block:
            fresh = isinstance(block, ToolCall)
            return replace(block, id=next(ids, "") or self._session.ids.new("call")) if fresh else block

        assistant = replace(assistant, blocks=tuple(own(b) for b in assistant.blocks), binding=self.provider.binding)
        accepted = (Accepted(call.id) for call in assistant.calls)
        self._session.append(Response(assistant, usage, response_id), *accepted)
        self._meter.take(usage)

    def _keep(self, text: str, usage: Usage | None, request: Request) -> None:
        """Keep the text of a response that broke off; calls in it never ran and are not kept."""
        if usage is not None:
            self._meter.take(usage)
        if text.strip():
            partial = Assistant((Text(text),), "cut", request.model, binding=self.provider.binding)
            self._session.append(Response(partial, usage))

    def _limit(self) -> Outcome:
        return Outcome(
            "step_limit",
            f"Stopped after {self._max_steps} steps, the limit for one turn; the task may not be done. "
            "Say “go on” to continue it (agenyx --continue), or raise --max-steps.",
        )

    def _stop(self, outcome: Outcome, why: str = CANCELLED) -> Outcome:
        """End the turn from outside: every open call gets its result, so that the history stays valid."""
        state = self._session.state
        try:
            self._boundary.abandon([call for call in state.pending.values() if call.result is None], why=why)
            if state.outcome is None:
                self._session.append(Finished(outcome), sync=True)
        except StoreError as error:
            return Outcome("failed", f"{error.message}. {error.fix}".strip())
        return outcome

"""The subagents of one session: so many at once, each within its limits, stopped with the call that wanted them.

How a child is made the app knows (`hire`). Nothing of a child that has ended stays here.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

from msgspec.structs import replace

from agenyx.agent.child import Child, Limits, Report, report_of
from agenyx.agent.errand import ANSWER, Errand
from agenyx.agent.notices import notice
from agenyx.agent.subagent import Order
from agenyx.core.errors import AgenyxError, StoreError
from agenyx.core.events import Notice, TurnFinished
from agenyx.core.ids import child_id
from agenyx.core.messages import User
from agenyx.ext.agents.catalogue import Catalogue
from agenyx.ext.agents.definition import Agent
from agenyx.session.records import Sent, Spent
from agenyx.session.session import Session
from agenyx.session.store import TRANSCRIPT
from agenyx.shell.jobs import Background, Jobs
from agenyx.tools.spec import Outcome

AT_ONCE = 8
GRACE = 10.0  # seconds that a child has to end once it is stopped
_NAMED = 40  # agents in a sentence
FOLDER = "agents"


class Subagents:
    """`agents` are read when the first is wanted.

    `hire` makes a child, also one that an earlier process began. `stop` ends the turn: a person wanted that. `tell`
    speaks to the person.
    """

    def __init__(
        self,
        session: Session,
        jobs: Jobs,
        agents: Callable[[], Catalogue],
        hire: Callable[[Order, Agent], Awaitable[Child]],
        stop: Callable[[], None],
        tell: Callable[[Notice], None],
        limits: Limits,
    ) -> None:
        self._session, self._jobs, self._agents = session, jobs, agents
        self._hire, self._stop, self._tell, self._limits = hire, stop, tell, limits
        self._seats = asyncio.Semaphore(AT_ONCE)
        self._away: dict[str, Errand] = {}  # by call: in the background, or ended there and the model does not know

    async def run(self, order: Order) -> Outcome:
        agent = self._agents().find(order.agent)
        if agent is None:
            return self._unknown(order.agent)
        if agent.background:
            return await self.send(order)
        report = await self._do(order, agent)
        if (task := asyncio.current_task()) is not None and task.cancelling():
            if report.more:  # nobody will read a result
                head = report.more.partition("\n")[0].strip("[]")
                self._tell(Notice("warning", f"The subagent {child_id(order.call)} was stopped: {head}."))
            raise asyncio.CancelledError
        if report.kind == "stopped":
            self._stop()
        return report.outcome(agent.name, child_id(order.call))

    async def send(self, order: Order) -> Outcome:
        agent = self._agents().find(order.agent)
        if agent is None:
            return self._unknown(order.agent)
        id, call = child_id(order.call), order.call
        errand = Errand(id, agent.name, order.task, self._directory(call), self._workspace, partial(self._heard, call))
        self._session.append(Sent(call, agent.name, order.task[:1000]), sync=True)
        errand.started(asyncio.create_task(self._errand(order, agent, errand)))
        self._away[call] = errand
        self._jobs.adopt(errand)
        return Outcome.ok(
            f"The subagent {agent.name} works in the background with task_id {id}; its end will be told. TaskOutput "
            "gives its answer, TaskStop ends it. It ends with this program at the latest."
        )

    def notices(self) -> list[User]:
        """What the model has to know of subagents that ended in the background, once each."""
        told: list[User] = []
        for call, sent in tuple(self._session.state.sent.items()):
            errand = self._away.get(call)
            if errand is not None and errand.running:
                continue
            how = errand.status if errand else "ended when Agenyx stopped"
            task = " ".join(sent.task.split())[:100]
            id = child_id(call)
            there = " TaskOutput gives what it said." if os.path.isdir(self._directory(call)) else ""
            text = f"The subagent {id} in the background ({sent.agent}: {task}) {how}.{there}"
            told.append(replace(notice(text), prompt_id=call))  # by which the records know that it was told
            self._away.pop(call, None)
        return told

    # --- one child ---------------------------------------------------------------------------------------------------

    async def _errand(self, order: Order, agent: Agent, errand: Errand) -> None:
        try:
            report = await self._do(order, agent, errand)
        except asyncio.CancelledError:
            report = Report("cancelled", "it was stopped before it began.")
        errand.ended(report)

    async def _do(self, order: Order, agent: Agent, errand: Errand | None = None) -> Report:
        """From an order to what it came to: the one place where a subagent begins and ends. Raises only when it is
        cancelled before it began."""
        async with self._seats:
            try:
                child = await self._hire(order, agent)
            except AgenyxError as error:
                return Report("failed", f"{error.message}. {error.fix}".strip())
            except OSError as error:
                return Report("failed", f"it could not begin: {error.strerror or error}.")
            if errand is not None:
                errand.pulse = child.pulse
            try:
                return await self._watched(child)
            finally:
                if (used := child.session.state.usage) is not None:
                    with suppress(StoreError):  # the next write of the parent ends its turn and says why
                        self._session.append(Spent(order.call, used))

    async def _watched(self, child: Child) -> Report:
        """Run the turn of a child within its limits. When this is cancelled the child ends first, with a report."""
        work = asyncio.create_task(child.engine.run())
        work.add_done_callback(lambda _: child.close())  # and not before: it may still write
        over, cancelled = "", False
        try:
            while not work.done() and not over:
                await asyncio.wait((work,), timeout=child.pulse.rest(self._limits))
                over = "" if work.done() else child.pulse.over(self._limits)
        except asyncio.CancelledError:
            cancelled = True
        if not work.done():
            work.cancel()
            await asyncio.wait((work,), timeout=GRACE)
        state, cost = child.session.state, child.meter.turn_cost
        ended: TurnFinished | None = None
        if work.done() and not work.cancelled() and work.exception() is None:
            ended = work.result()
        more = await child.finish()
        if cancelled:
            return report_of(ended, state, cost, "it was stopped.", more)
        if not over:
            why = "" if ended is not None else f"it broke down: {work.exception()!r}." if work.done() else ""
            return report_of(ended, state, cost, why, more)
        report = report_of(ended, state, cost, "", more)
        why = f"it was stopped after {self._limits.deadline:.0f} s, the most that it may take."
        if over == "silence":
            why = f"it was stopped, as nothing was heard of it for {self._limits.silence:.0f} s."
        return Report("timed_out", why, report.text, report.steps, cost, more)

    # --- names -------------------------------------------------------------------------------------------------------

    def _unknown(self, name: str) -> Outcome:
        names = self._agents().names
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return Outcome.error(f"There is no agent {name!r}. There are: {', '.join(names[:_NAMED])}{more}.")

    @property
    def _workspace(self) -> str:
        opened = self._session.state.opened
        return opened.workspace if opened else ""

    def _directory(self, call: str) -> str:
        return os.path.join(self._session.directory, FOLDER, call)

    def _folders(self) -> list[str]:
        try:
            return os.listdir(os.path.join(self._session.directory, FOLDER))
        except OSError:
            return []

    def find(self, id: str) -> Background | None:
        """One of an earlier process, by its id."""
        if not (id[:1] == "a" and id.isalnum()):
            return None
        for call in self._folders():
            directory = self._directory(call)
            known = any(os.path.isfile(os.path.join(directory, name)) for name in (TRANSCRIPT, ANSWER))
            if known and child_id(call) == id:
                sent = self._session.state.sent.get(call)
                agent = sent.agent if sent else "of before"
                return Errand(
                    id, agent, sent.task if sent else "", directory, self._workspace, partial(self._heard, call)
                )
        return None

    def _heard(self, call: str) -> None:
        self._away.pop(call, None)
        if call in self._session.state.sent:
            with suppress(StoreError):
                self._session.append(Sent(call, told=True))

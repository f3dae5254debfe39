"""A conversation that a program holds: its runs, answers to what waits, and what may be changed between them."""

from __future__ import annotations

import asyncio
import os
import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar, overload

from msgspec import UNSET

from agenyx.api.approving import Allow, Answer, ProgramApprover, decision_of
from agenyx.api.delivery import Delivery
from agenyx.api.opening import Opened, opened
from agenyx.api.output import Form, form_of
from agenyx.api.result import Result
from agenyx.api.run import Run, ended, stopped
from agenyx.api.setup import Setup
from agenyx.api.turn import formed, structured
from agenyx.api.words import in_words, worded
from agenyx.app.runtime import Conversation
from agenyx.app.settings import Settings
from agenyx.core import json
from agenyx.core.approval import Approval
from agenyx.core.errors import UsageError
from agenyx.core.events import ApprovalSettled, Notice, Outcome, TurnFinished, Usage
from agenyx.core.messages import Text, User
from agenyx.core.verdict import Mode

T = TypeVar("T")
Paths = Sequence[str | os.PathLike[str]]


class Session:
    """Made by `Agent.session`; open within `async with`. One run at a time; it belongs to one event loop.

    What is not closed when the program forgets it, or when its loop is gone, is killed and released: the turn stays on
    record as after a crash.
    """

    def __init__(self, setup: Setup, settings: Settings, delivery: Delivery, *, alone: bool = False) -> None:
        """`alone`: it ends with its one run, so what waits can be answered only where it is stored."""
        self._setup, self._settings, self._delivery, self._alone = setup, settings, delivery, alone
        self._approver = ProgramApprover(setup.approver, setup.approvals, self._tell)
        self._opened: Opened | None = None
        self._task: asyncio.Task[Any] | None = None  # the run that is under way
        self._release: weakref.finalize[Any, Any] | None = None

    # --- life -------------------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Session:
        """Raises AgenyxError: what is wrong and what to do next."""
        if self._opened is not None:
            raise UsageError("this session is open already", "Make another one with agent.session().")
        delivery, approver = self._delivery, self._approver
        with worded():
            self._opened = made = await opened(self._setup, self._settings, approver, delivery.emit, delivery.barrier)
        self._release = weakref.finalize(self, _abandon, os.getpid(), made.conversation.abandoning())
        if self._alone and approver.how == "defer" and not made.conversation.persistent:
            approver.how = "deny"  # nobody could answer: the session is gone when the run is over
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """End the run that is under way and everything that was started. Twice is no error."""
        made, self._opened = self._opened, None
        if made is None:
            return
        try:
            if self._task is not None and self._task is not asyncio.current_task():
                await stopped(self._task)
        finally:
            await self._closed(made)

    async def _closed(self, made: Opened) -> None:
        try:
            await ended(asyncio.ensure_future(made.close()))
        finally:
            if self._release is not None:
                self._release.detach()

    # --- what it is -------------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """By which another process, or another day, goes on with it."""
        return self._conversation.session_id

    @property
    def mode(self) -> Mode:
        return self._conversation.mode

    @property
    def model(self) -> str:
        return self._conversation.model

    @property
    def stored(self) -> bool:
        """Whether it stands on disk."""
        return self._conversation.persistent

    @property
    def usage(self) -> Usage | None:
        """The tokens of the whole session, None where nothing was counted yet."""
        return self._conversation.parts.source.session.state.usage

    @property
    def cost(self) -> float | None:
        """What this process spent on it in US dollars, None where that is not known."""
        return self._conversation.status().cost

    @property
    def unfinished(self) -> bool:
        """Whether the last turn is open, by a crash or for want of answers: `resume` goes on with it."""
        return self._conversation.unfinished

    @property
    def waiting(self) -> tuple[Approval, ...]:
        """The calls that need an answer before the turn goes on."""
        return self._conversation.parts.source.session.state.questions

    # --- runs -------------------------------------------------------------------------------------------------------

    @overload
    def prompt(self, text: str, *, images: Paths = ()) -> Run[None]: ...

    @overload
    def prompt(self, text: str, *, output: type[T], images: Paths = ()) -> Run[T]: ...

    @overload
    def prompt(self, text: str, *, output: Mapping[str, Any], images: Paths = ()) -> Run[Any]: ...

    def prompt(self, text: str, *, output: Any = None, images: Paths = ()) -> Run[Any]:
        """A turn with these words. `output` is the type, or the JSON schema, of the one value that the answer has to
        be; `images` are files that the model is shown. What waited for an answer is given up."""
        form = None if output is None else form_of(output)

        def work() -> Coroutine[Any, Any, Result[Any]]:
            return self._run(lambda: self._said(text, images), form)

        return Run(work, self._delivery)

    @overload
    def resume(self) -> Run[None]: ...

    @overload
    def resume(self, *, output: type[T]) -> Run[T]: ...

    @overload
    def resume(self, *, output: Mapping[str, Any]) -> Run[Any]: ...

    def resume(self, *, output: Any = None) -> Run[Any]:
        """Go on with the turn that is open. The model is not asked again about calls that it has made. `output` as it
        was with the prompt."""
        form = None if output is None else form_of(output)

        def work() -> Coroutine[Any, Any, Result[Any]]:
            return self._run(None, form)

        return Run(work, self._delivery)

    async def _run(self, said: Callable[[], User] | None, form: Form[Any] | None) -> Result[Any]:
        conversation, task = self._conversation, asyncio.current_task()
        if self._task is not None and self._task is not task and not self._task.done():
            raise UsageError("a run of this session is under way", "Wait for its end, or say it with steer().")
        if said is None and not conversation.unfinished:
            raise UsageError("there is no open turn to go on with", "Say what to do next, with prompt().")
        self._task = task

        async def turn() -> TurnFinished:
            if said is None:
                return await conversation.go_on()
            return await conversation.prompt(said() if form is None else structured(said(), form.schema))

        try:
            finished, value = (await turn(), UNSET) if form is None else await formed(conversation, turn, form)
        except asyncio.CancelledError:  # it was stopped before the turn began
            finished, value = TurnFinished(Outcome("cancelled", "Stopped by the user."), "", 0, 0.0), UNSET
        return self._result(conversation.session_id, finished, value)

    def _said(self, text: str, images: Paths) -> User:
        words = json.scrub(text)
        if not words.strip():
            raise UsageError("the prompt is empty", "Say what to do.")
        if not images:
            return User((Text(words),))
        from agenyx.app.sight import attached

        return attached(self._conversation, words, [os.fspath(path) for path in images])

    def _result(self, ident: str, ended: TurnFinished, value: Any) -> Result[Any]:
        return Result(
            ended.outcome.kind,
            ended.text,
            ident,
            in_words(ended.outcome.message),
            ended.outcome.failure,
            ended.steps,
            ended.seconds,
            ended.usage,
            ended.cost,
            ended.waiting,
            self._delivery.taken(),
            value,
        )

    # --- while it runs, and between ---------------------------------------------------------------------------------

    async def answer(self, approval: str | Approval, answer: Answer, *, args: Mapping[str, Any] | None = None) -> None:
        """Answer a call that waits, by its approval or the id of it; `args` are arguments to run it with instead.

        It is on disk when this returns; `resume` acts on it. Raises UsageError where nothing waits under that id, or
        where the answer does not fit.
        """
        if self._task is not None and not self._task.done():
            raise UsageError("the turn runs, so nothing waits", "Answer in the approver, or when the run is over.")
        if args is not None:
            if answer not in (True, "allow"):
                raise UsageError("arguments go with a yes only", 'Write answer(approval, "allow", args={...}).')
            answer = Allow(args=args)
        ident = approval if isinstance(approval, str) else approval.id
        conversation = self._conversation
        session = conversation.parts.source.session
        pending = session.state.pending.values()
        found = next((c for c in pending if c.waiting and c.approval and c.approval.id == ident), None)
        if found is None or found.approval is None:
            waiting = ", ".join(one.id for one in self.waiting) or "nothing"
            raise UsageError(f"no call waits for an answer under {ident}", f"What waits: {waiting}.")
        decision = decision_of(found.approval, answer)
        self._check(found.approval, decision.args)
        from agenyx.app.approvals import decide

        decide(session, found, decision)
        conversation.parts.emit(ApprovalSettled(decision))
        offered = found.approval.verdict.offer
        if decision.scope == "saved" and (problem := conversation.parts.ports.remember(offered)):
            self._tell(f"The rule holds for this session, but was not saved: {problem}.", "")

    def _check(self, approval: Approval, args: str | None) -> None:
        """Raises UsageError for arguments that the tool would not take."""
        from agenyx.tools.registry import parse_args

        tool = self._conversation.parts.registry.find(approval.call.name)
        if args is None or tool is None:
            return
        try:
            parse_args(tool, args)
        except json.JsonError as error:
            raise UsageError(f"these are no arguments of {tool.name}: {error}", "Nothing was answered.") from None

    def steer(self, text: str) -> None:
        """Say something to the running turn: the model reads it with the next request."""
        self._conversation.steer(text)

    def interrupt(self) -> None:
        """Stop the running turn; its result says "cancelled". Where nothing runs it does nothing."""
        if self._task is not None and not self._task.done():
            self._task.cancel()

    def set_mode(self, mode: Mode) -> None:
        """Another permission mode, for calls that are not judged yet. Raises UsageError."""
        with worded():
            self._conversation.set_mode(mode)

    def set_model(self, name: str) -> None:
        """Another model of the same server, from the next turn on. Raises UsageError where there is no other."""
        with worded():
            self._conversation.set_model(name)

    def set_effort(self, level: str) -> None:
        """Another reasoning effort, from the next turn on. Raises UsageError where the model does not take it."""
        self._conversation.set_effort(level)

    async def compact(self, focus: str = "") -> bool:
        """Summarise the conversation now, between two turns; `focus` says what to keep above all. False where there is
        nothing to. Raises AgenyxError."""
        if self._task is not None and not self._task.done():
            raise UsageError("the turn runs, so nothing can be summarised", "Wait for the end of the run.")
        return await self._conversation.compact(focus) is not None

    @property
    def _conversation(self) -> Conversation:
        if self._opened is None:
            raise UsageError("this session is not open", "Use it within: async with agent.session() as session.")
        return self._opened.conversation

    def _tell(self, text: str, fix: str) -> None:
        if self._opened is not None:
            self._opened.conversation.parts.emit(Notice("warning", text, fix))


def _abandon(pid: int, release: Callable[[], None]) -> None:
    if os.getpid() == pid:  # a fork of this process has the object too, but not what it stands for
        release()

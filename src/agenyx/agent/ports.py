"""What the agent asks of whoever drives it. Surfaces implement these; the agent knows none of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import count
from typing import Protocol, cast

from msgspec import Struct

from agenyx.core.approval import Approval, Decision
from agenyx.core.events import AgentEvent, Body, CallDraft, Done, Output, ReasoningDelta, TextDelta, Usage
from agenyx.core.hooks import NOTHING, Event, Fired, Said
from agenyx.core.messages import User
from agenyx.core.redact import Masker
from agenyx.core.tools import Effects
from agenyx.core.verdict import Rule
from agenyx.session.records import Checkpoint


class Deferred(Exception):
    """Raised by an approver: the answer comes later, perhaps in another process. The turn stays open."""


class Approver(Protocol):
    """Answers a question that needs a human. It may take as long as the human does; it may be cancelled."""

    async def decide(self, approval: Approval) -> Decision: ...


def _nothing() -> Sequence[User]:
    return ()


def _forgotten(_rules: Sequence[Rule]) -> str:
    return "there is no place to keep rules here"


def _unheard(_path: str, _before: str, _after: str) -> None:
    pass


async def _delivered() -> None:
    pass


async def _unasked(_by: str, _focus: str) -> str:
    return ""


async def _untold(_summary: str) -> None:
    pass


async def _unfelt(_effects: Effects) -> None:
    pass


class Kept(Struct, frozen=True):
    """What goes on record with the result of a call, and a note that its text gets."""

    records: Sequence[Checkpoint] = ()
    note: str = ""


class Keeper(Protocol):
    """Keeps what calls change, so that it can be put back. None of the three fails a call."""

    async def before(self, call: str, effects: Effects) -> Sequence[Checkpoint]: ...

    async def after(self, call: str) -> None: ...

    def ended(self, call: str) -> Kept: ...


class LateKeeper:
    """A keeper that is made when the first call acts. Without `make` nothing is kept."""

    def __init__(self, make: Callable[[], Keeper] | None = None) -> None:
        self._make, self._keeper = make, cast("Keeper | None", None)

    async def before(self, call: str, effects: Effects) -> Sequence[Checkpoint]:
        if self._make is None or not effects.acts:
            return ()
        self._keeper = self._keeper or self._make()
        return await self._keeper.before(call, effects)

    async def after(self, call: str) -> None:
        if self._keeper is not None:
            await self._keeper.after(call)

    def ended(self, call: str) -> Kept:
        return self._keeper.ended(call) if self._keeper is not None else Kept()


class Hooks(Protocol):
    """What a person hangs on events. `wants` is asked at every event and costs next to nothing; `fire` does not raise.

    `effects` tells what the call of the event would do, for conditions in the grammar of rules.
    """

    def wants(self, event: Event) -> bool: ...

    async def fire(self, fired: Fired, effects: Callable[[], Awaitable[Effects]] | None = None) -> Said: ...


class NoHooks:
    def wants(self, event: Event) -> bool:
        return False

    async def fire(self, fired: Fired, effects: Callable[[], Awaitable[Effects]] | None = None) -> Said:
        return NOTHING


class Ports(Struct, frozen=True):
    """`emit` never awaits and never fails a turn. `barrier` returns when everything emitted has been delivered, and
    raises when it could not be: what was not shown does not act. `inbox` hands over steering text for the next step.
    `remember` keeps rules for good that the person chose to; it says what went wrong, or "". `approved` hears of each
    file that a person let a call change: its path, and its SHA-256 when asked and now. With `ahead` all questions of
    a response are asked at once, as nobody is there to answer the first before the second. `keeper` takes checkpoints
    around the calls that act. `compacting` is awaited before a summary, with what caused it ("auto", "overflow" or
    "user") and what the user wants kept; it may name more to keep, or raise UsageError to hold back one
    that the user wanted. `compacted` is awaited with the summary, `touched` with the effects of each call that ran.
    `hooks` are asked at the events of `core.hooks`."""

    approver: Approver
    emit: Callable[[AgentEvent], None]
    barrier: Callable[[], Awaitable[None]] = _delivered
    inbox: Callable[[], Sequence[User]] = _nothing
    remember: Callable[[Sequence[Rule]], str] = _forgotten
    approved: Callable[[str, str, str], None] = _unheard
    keeper: Keeper = LateKeeper()
    compacting: Callable[[str, str], Awaitable[str]] = _unasked
    compacted: Callable[[str], Awaitable[None]] = _untold
    hooks: Hooks = NoHooks()
    touched: Callable[[Effects], Awaitable[None]] = _unfelt
    ahead: bool = False


# Masked where they come from: they are too many to be looked through again.
_STREAMED = (TextDelta, ReasoningDelta, CallDraft, Usage, Done, Output)


class Emitter:
    """Stamps bodies with the session, the agent, the turn and the step, counts them, and masks the secrets in them."""

    def __init__(self, session: str, emit: Callable[[AgentEvent], None], agent: str = "") -> None:
        self._session, self._emit, self._agent, self._seq = session, emit, agent, count(1)
        self.turn, self.step = "", 0
        self.masker = Masker()  # set as soon as the secrets are known

    def __call__(self, body: Body) -> None:
        if not isinstance(body, _STREAMED):
            body = self.masker.value(body)
        self._emit(AgentEvent(next(self._seq), self._session, self.turn, self.step, body, self._agent))

    def child(self, agent: str, emit: Callable[[AgentEvent], None]) -> Emitter:
        """The same for a subagent of the session: one count for all."""
        made = Emitter(self._session, emit, agent)
        made._seq, made.masker = self._seq, self.masker
        return made

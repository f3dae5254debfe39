"""What the agent asks of whoever drives it. Surfaces implement these; the agent knows none of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import Struct

from agenyx.core.approval import Approval, Decision
from agenyx.core.events import AgentEvent, Body, CallDraft, Done, Output, ReasoningDelta, TextDelta, Usage
from agenyx.core.messages import User
from agenyx.core.redact import Masker
from agenyx.core.verdict import Rule


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


class Ports(Struct, frozen=True):
    """`emit` never awaits and never fails a turn. `barrier` returns when everything emitted has been delivered, and
    raises when it could not be: what was not shown does not act. `inbox` hands over steering text for the next step.
    `remember` keeps rules for good that the person chose to; it says what went wrong, or "". `approved` hears of each
    file that a person let a call change: its path, and its SHA-256 when asked and now."""

    approver: Approver
    emit: Callable[[AgentEvent], None]
    barrier: Callable[[], Awaitable[None]] = _delivered
    inbox: Callable[[], Sequence[User]] = _nothing
    remember: Callable[[Sequence[Rule]], str] = _forgotten
    approved: Callable[[str, str, str], None] = _unheard


# Masked where they come from: they are too many to be looked through again.
_STREAMED = (TextDelta, ReasoningDelta, CallDraft, Usage, Done, Output)


class Emitter:
    """Stamps bodies with the session, the turn and the step, counts them, and masks the secrets in them."""

    def __init__(self, session: str, emit: Callable[[AgentEvent], None]) -> None:
        self._session, self._emit, self._seq = session, emit, 0
        self.turn, self.step = "", 0
        self.masker = Masker()  # set as soon as the secrets are known

    def __call__(self, body: Body) -> None:
        self._seq += 1
        if not isinstance(body, _STREAMED):
            body = self.masker.value(body)
        self._emit(AgentEvent(self._seq, self._session, self.turn, self.step, body))

"""What the agent asks of whoever drives it. Surfaces implement these; the agent knows none of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import Struct

from agenyx.core.approval import Approval, Decision
from agenyx.core.events import AgentEvent, Body
from agenyx.core.messages import User


class Approver(Protocol):
    """Answers a question that needs a human. It may take as long as the human does; it may be cancelled."""

    async def decide(self, approval: Approval) -> Decision: ...


def _nothing() -> Sequence[User]:
    return ()


async def _delivered() -> None:
    pass


class Ports(Struct, frozen=True):
    """`emit` never awaits and never fails a turn. `barrier` returns when everything emitted has been delivered, and
    raises when it could not be: what was not shown does not act. `inbox` hands over steering text for the next step."""

    approver: Approver
    emit: Callable[[AgentEvent], None]
    barrier: Callable[[], Awaitable[None]] = _delivered
    inbox: Callable[[], Sequence[User]] = _nothing


class Emitter:
    """Stamps bodies with the session, the turn and the step, and counts them."""

    def __init__(self, session: str, emit: Callable[[AgentEvent], None]) -> None:
        self._session, self._emit, self._seq = session, emit, 0
        self.turn, self.step = "", 0

    def __call__(self, body: Body) -> None:
        self._seq += 1
        self._emit(AgentEvent(self._seq, self._session, self.turn, self.step, body))

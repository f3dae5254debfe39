"""How a run ended, with all that it came to."""

from __future__ import annotations

from typing import Any, Generic, TypeVar, cast

from msgspec import UNSET, Struct, UnsetType

from agenyx.core.approval import Approval
from agenyx.core.errors import AgenyxError
from agenyx.core.events import Failure, Notice, OutcomeKind, Usage

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class RunError(AgenyxError):
    """A run did not come to its end. `result` is what it came to."""

    def __init__(self, message: str, fix: str, result: Result[Any]) -> None:
        super().__init__(message, fix)
        self.result = result


class Result(Struct, Generic[T_co], frozen=True):
    """`kind` says how it ended: "done", "waiting" for answers, "cancelled", "stopped", "step_limit", "budget", "loop"
    or "failed"; `message` says why, for people, and `failure` is set where the provider failed.

    `text` is the last answer. `cost` in US dollars, None where a price is not known; `usage` None where the server did
    not say. `waiting` are the calls that need an answer before the turn goes on. `notices` are warnings of the run.
    """

    kind: OutcomeKind
    text: str
    session_id: str
    message: str = ""
    failure: Failure | None = None
    steps: int = 0
    seconds: float = 0.0
    usage: Usage | None = None
    cost: float | None = None
    waiting: tuple[Approval, ...] = ()
    notices: tuple[Notice, ...] = ()
    value: Any | UnsetType = UNSET

    @property
    def ok(self) -> bool:
        """Whether it came to its end."""
        return self.kind == "done"

    @property
    def output(self) -> T_co:
        """The answer as the type that was asked for. Raises RunError where there is none."""
        if self.value is UNSET:
            raise self._error("the run has no output of a type")
        return cast("T_co", self.value)

    def check(self) -> Result[T_co]:
        """Itself. Raises RunError unless it is done."""
        if not self.ok:
            raise self._error("the run is not done")
        return self

    def _error(self, what: str) -> RunError:
        why = self.message or f"it ended as {self.kind!r}"
        fix = "Answer what is in `waiting`, then resume." if self.waiting else ""
        return RunError(f"{what}: {why}", fix or (self.failure.fix if self.failure else ""), self)

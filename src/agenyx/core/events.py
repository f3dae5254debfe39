"""What happens, as values: ModelEvents come from a provider, AgentEvents go to every surface."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from agenyx.core.approval import Approval, Decision
from agenyx.core.messages import Assistant, ToolCall, ToolResult
from agenyx.core.tools import Effects
from agenyx.core.verdict import Mode

FailureKind = Literal[
    "auth",
    "not_found",
    "invalid",
    "overflow",
    "quota",
    "busy",
    "server",
    "connect",
    "tls",
    "idle",
    "truncated",
    "protocol",
]

OutcomeKind = Literal["done", "failed", "step_limit", "budget", "loop", "cancelled", "stopped", "waiting", "idle"]


def snake(name: str) -> str:
    """The tag of a type on the wire and in records: `CallFinished` is `call_finished`."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


class _Event(Struct, frozen=True, tag_field="type", tag=snake):
    pass


# --- from a provider ---------------------------------------------------------------------------------------------


class Started(_Event, frozen=True):
    response_id: str
    model: str


class TextDelta(_Event, frozen=True):
    """All text that one read brought, merged: one event a read, not one a token."""

    block: int
    text: str


class ReasoningDelta(_Event, frozen=True):
    block: int
    text: str


class CallDraft(_Event, frozen=True):
    """A call while it streams. Display only: nothing runs from it.

    The first of a call has the `id` that the call will have where the response becomes whole.
    """

    block: int
    name: str
    text: str
    id: str = ""


class Usage(_Event, frozen=True):
    """Tokens of one response, normalised: `fresh` input excludes the cache figures; `out` includes `reasoning`."""

    fresh: int = 0
    cache_read: int = 0
    cache_write: int = 0
    out: int = 0
    reasoning: int = 0

    @property
    def given(self) -> int:
        """All input."""
        return self.fresh + self.cache_read + self.cache_write

    @property
    def hit_rate(self) -> float | None:
        """The share of the input that came from the provider's cache, None when there was no input."""
        return round(self.cache_read / self.given, 4) if self.given else None

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.fresh + other.fresh,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.out + other.out,
            self.reasoning + other.reasoning,
        )

    def __sub__(self, other: Usage) -> Usage:
        return Usage(
            self.fresh - other.fresh,
            self.cache_read - other.cache_read,
            self.cache_write - other.cache_write,
            self.out - other.out,
            self.reasoning - other.reasoning,
        )


class Done(_Event, frozen=True):
    """The whole response, after the server's own end mark. Calls carry `wire_id`; their `id` is still empty."""

    assistant: Assistant


class Failure(_Event, frozen=True):
    """The request came to nothing. `fix` says what to do next; `retry_after` in seconds."""

    kind: FailureKind
    message: str
    fix: str = ""
    retryable: bool = False
    retry_after: float | None = None


class Retrying(_Event, frozen=True):
    """The stream waits `delay` seconds and then sends the same bytes again."""

    attempt: int
    limit: int
    delay: float
    reason: str


ModelEvent = Started | TextDelta | ReasoningDelta | CallDraft | Usage | Done | Failure | Retrying

# --- from the agent ----------------------------------------------------------------------------------------------


class TurnStarted(_Event, frozen=True):
    prompt: str
    model: str
    mode: Mode


class StepStarted(_Event, frozen=True):
    pass


class CallAccepted(_Event, frozen=True):
    call: ToolCall
    effects: Effects


class ApprovalAsked(_Event, frozen=True):
    approval: Approval


class ApprovalSettled(_Event, frozen=True):
    decision: Decision


class EffectStarted(_Event, frozen=True):
    calls: tuple[str, ...]


class Output(_Event, frozen=True):
    """Bytes that a running call printed; for display, not the result."""

    call: str
    data: bytes


class CallFinished(_Event, frozen=True):
    """`seconds` is the time the call itself ran."""

    result: ToolResult
    name: str
    seconds: float = 0.0


class Compacted(_Event, frozen=True):
    summary: str


class PrefixBroke(_Event, frozen=True):
    cause: str


class QueueChanged(_Event, frozen=True):
    waiting: int


class ModeChanged(_Event, frozen=True):
    mode: Mode


class Notice(_Event, frozen=True):
    """Something a person should know. `fix` says what to do about it."""

    level: Literal["info", "warning", "error"]
    text: str
    fix: str = ""


class Outcome(_Event, frozen=True):
    """How a turn ended. `failure` is set when the provider failed; `message` is for people."""

    kind: OutcomeKind
    message: str = ""
    failure: Failure | None = None


class TurnFinished(_Event, frozen=True):
    """`usage` is None when the server never said; `cost` in US dollars, None when the price is unknown.

    A turn that waits for answers is not over: `waiting` holds the questions, and a later process goes on with it.
    """

    outcome: Outcome
    text: str
    steps: int
    seconds: float
    usage: Usage | None = None
    cost: float | None = None
    waiting: tuple[Approval, ...] = ()


Body = (
    Started
    | TextDelta
    | ReasoningDelta
    | CallDraft
    | Usage
    | Done
    | Failure
    | Retrying
    | TurnStarted
    | StepStarted
    | CallAccepted
    | ApprovalAsked
    | ApprovalSettled
    | EffectStarted
    | Output
    | CallFinished
    | Compacted
    | PrefixBroke
    | QueueChanged
    | ModeChanged
    | Notice
    | TurnFinished
)


class AgentEvent(Struct, frozen=True):
    """One event of one session. `agent` is the path of the agent ("" is the main one); `seq` counts per session."""

    seq: int
    session: str
    turn: str
    step: int
    body: Body
    agent: str = ""

"""What a run has come to so far, reduced from its events. It writes nothing and knows no format."""

from __future__ import annotations

from msgspec.structs import replace

from agenyx.core.events import (
    AgentEvent,
    ApprovalAsked,
    ApprovalSettled,
    CallAccepted,
    CallFinished,
    Done,
    Failure,
    PrefixBroke,
    Retrying,
    Started,
    StepStarted,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from agenyx.core.messages import ToolCall


class View:
    """`streamed` is the text of the main agent's current response; `denied` the refused calls by id, in order.

    `breaks` says what made the prompt cache start anew; `agents` are the paths of the subagents.
    `api_seconds` is the time that responses took, retries included; `step_seconds` that of the last one.
    """

    def __init__(self) -> None:
        self.session = ""
        self.model = ""
        self.streamed = ""
        self.calls: dict[str, ToolCall] = {}
        self.denied: dict[str, ToolCall] = {}
        self.api_seconds = self.step_seconds = 0.0
        self.finished: TurnFinished | None = None
        self.breaks: list[str] = []
        self.agents: set[str] = set()
        self._asked: dict[str, ToolCall] = {}
        self._proposed: list[ToolCall] = []  # of the last response, without ids, not accounted for yet
        self._asked_at: float | None = None

    def apply(self, event: AgentEvent, now: float) -> None:
        """Take one event in. `now` in seconds of any clock that does not go back."""
        main = not event.agent
        if event.agent:
            self.agents.add(event.agent)
        self.session = event.session or self.session
        match event.body:
            case TurnStarted(_, model) if main:
                self.model = model or self.model
            case StepStarted() if main:
                self.streamed, self._asked_at = "", now
            case Started(_, model) if main:
                self.model = model or self.model
            case TextDelta(_, text) if main:
                self.streamed += text
            case Retrying() if main:
                self.streamed = ""
            case Done() | Failure() if main and self._asked_at is not None:
                self.step_seconds, self._asked_at = now - self._asked_at, None
                self.api_seconds += self.step_seconds
                self._proposed = list(event.body.assistant.calls) if isinstance(event.body, Done) else []
            case CallAccepted(call):
                self.calls[call.id] = call
                if main:
                    self._take(call.name)
            case ApprovalAsked(approval):
                self._asked[approval.id] = approval.call
            case ApprovalSettled(decision) if decision.choice == "deny":
                if call := self._asked.get(decision.approval):
                    self.denied[call.id] = call
            case CallFinished(result, name):
                if result.call not in self.calls:  # refused before it was taken on: calls settle in their order
                    taken = self._take(name) if main else ToolCall("", "", name, "{}")
                    self.calls[result.call] = replace(taken, id=result.call)
                if result.status == "denied":
                    self.denied[result.call] = self.calls[result.call]
            case PrefixBroke(cause) if main:
                self.breaks.append(cause)
            case TurnFinished() if main:
                self.finished = event.body
            case _:
                pass

    def _take(self, name: str) -> ToolCall:
        """Take the first proposed call of this name off the list."""
        for index, call in enumerate(self._proposed):
            if call.name == name:
                return self._proposed.pop(index)
        return ToolCall("", "", name, "{}")

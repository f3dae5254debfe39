"""What is going on just now: the calls that run, what they print, what is asked, what subagents do. No history."""

from __future__ import annotations

from collections.abc import Callable

from agenyx.core.approval import Approval
from agenyx.core.events import (
    AgentEvent,
    ApprovalAsked,
    ApprovalSettled,
    Body,
    CallAccepted,
    CallDraft,
    CallFinished,
    Done,
    EffectStarted,
    Output,
    ReasoningDelta,
    StepStarted,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Effects
from agenyx.ui.activity import child_line, clip

TAIL = 4096  # bytes of a running call's output that are kept


class Pulse:
    """`since` is the clock when the turn began, None between turns; `doing` what the main agent does, "" where a call
    runs. `calls` are those of the main agent that have no result yet; `running` maps those that run to their begin,
    `output` to the end of what they printed. `asked` holds the open questions, `children` what each subagent does, by
    its path.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.clock = clock
        self.since: float | None = None
        self.doing = ""
        self.calls: dict[str, tuple[ToolCall, Effects]] = {}
        self.seen: set[str] = set()  # calls of this turn about which a person was asked
        self.running: dict[str, float] = {}
        self.output: dict[str, bytes] = {}
        self.asked: dict[str, Approval] = {}
        self.children: dict[str, str] = {}

    def apply(self, event: AgentEvent) -> None:
        body = event.body
        match body:
            case ApprovalAsked(approval):
                self.asked[approval.id] = approval
                self.seen.add(approval.call.id)
            case ApprovalSettled(decision):
                self.asked.pop(decision.approval, None)
            case _ if event.agent:
                self._child(event.agent, body)
            case _:
                self._main(body)

    def _main(self, body: Body) -> None:
        match body:
            case TurnStarted():
                self.since, self.doing = self.clock(), "waiting for the model"
            case StepStarted():
                self.doing = "waiting for the model"
            case TextDelta():
                self.doing = "answering"
            case ReasoningDelta():
                self.doing = "thinking"
            case CallDraft(_, name, _):
                self.doing = f"writing a call of {clip(name, 40)}" if name else "writing a call"
            case Done():
                self.doing = ""
            case CallAccepted(call, effects):
                self.calls[call.id] = (call, effects)
            case EffectStarted(calls):
                for call in calls:
                    self.running[call] = self.clock()
            case Output(call, data):
                self.output[call] = (self.output.get(call, b"") + data)[-TAIL:]
            case CallFinished(result):
                self.calls.pop(result.call, None)
                self.running.pop(result.call, None)
                self.output.pop(result.call, None)
            case TurnFinished():
                self.since, self.doing = None, ""
                self.asked = {id: approval for id, approval in self.asked.items() if approval.agent}
                for held in (self.calls, self.running, self.output, self.seen):
                    held.clear()
            case _:
                pass

    def _child(self, agent: str, body: Body) -> None:
        match body:
            case TurnStarted():
                self.children[agent] = f"{agent}: begins"
            case TurnFinished():
                self.children.pop(agent, None)
            case _ if text := child_line(agent, body):
                self.children[agent] = text.strip()
            case _:
                pass

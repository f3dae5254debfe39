"""What the records amount to: a fold over them, kept incrementally, and the pure function that says what comes next.

The engine loops over this state and over nothing else. Crash recovery, a waiting approval, resume and steering are
then one path: read the records, ask `next_action`, go on.
"""

from __future__ import annotations

from msgspec import Struct

from agenyx.core.approval import Approval, Decision
from agenyx.core.events import Outcome, Usage
from agenyx.core.messages import Assistant, Entry, Step, ToolCall, ToolResult
from agenyx.core.verdict import Rule
from agenyx.llm.request import Request
from agenyx.session.records import (
    Accepted,
    Asked,
    Binding,
    Decided,
    EffectsBegun,
    Finished,
    Opened,
    Prefix,
    Prompt,
    Record,
    Response,
    Result,
)


class CallState(Struct):
    """How far one call of the pending response has come. `edited` are the arguments that the user gave instead."""

    call: ToolCall
    accepted: bool = False
    approval: Approval | None = None
    decision: Decision | None = None
    begun: bool = False
    acts: bool = False
    result: ToolResult | None = None
    edited: str | None = None
    edits: int = 0

    @property
    def args(self) -> str:
        """The arguments that count."""
        return self.call.args if self.edited is None else self.edited


class NeedModel(Struct, frozen=True):
    """The model has the word."""

    request: Request


class Settle(Struct, frozen=True):
    """These calls of the last response have no result yet, in their order."""

    calls: tuple[CallState, ...]


class Waiting(Struct, frozen=True):
    """These approvals have no decision yet; the first call without a result waits for one of them."""

    approvals: tuple[Approval, ...]


class Over(Struct, frozen=True):
    """The turn is over: with its recorded outcome, or with None when the model gave its final answer just now."""

    outcome: Outcome | None


Next = NeedModel | Settle | Waiting | Over


class State:
    """The fold. `apply` takes records in file order and never fails: what does not fit is counted in `problems`."""

    def __init__(self) -> None:
        self.opened: Opened | None = None
        self.binding: Binding | None = None
        self.prefix: Prefix | None = None
        self.entries: list[Entry] = []
        self.pending: dict[str, CallState] = {}
        self.seen: dict[str, str] = {}
        self.rules: list[Rule] = []  # that the user set while answering
        self.turn: str = ""
        self.turn_entry = 0
        self.steps = 0
        self.outcome: Outcome | None = Outcome("idle")
        self.usage: Usage | None = None
        self.last_usage: Usage | None = None
        self.seq = 0
        self.head = ""
        self.problems: list[str] = []
        self._assistant: Assistant | None = None

    @property
    def model(self) -> str:
        return self.binding.model if self.binding else ""

    def turn_steps(self, last: int | None = None) -> list[Step]:
        """The finished steps of the current turn; with `last`, those among about so many of its latest."""
        start = self.turn_entry if last is None else max(self.turn_entry, len(self.entries) - 2 * last)
        return [entry for entry in self.entries[start:] if isinstance(entry, Step)]

    def apply(self, record: Record) -> None:
        self.seq, self.head = max(self.seq, record.seq), record.id
        match record.body:
            case Opened() as body:
                self.opened = body
            case Binding() as body:
                self.binding = body
            case Prefix() as body:
                self.prefix = body
            case Prompt(user):
                self._prompt(record)
                self.entries.append(user)
            case Response() as body:
                self._response(body)
            case Accepted(call) if call in self.pending:
                self.pending[call].accepted = True
            case Asked(approval) if approval.call.id in self.pending:
                call = self.pending[approval.call.id]
                call.approval, call.decision = approval, None
            case Decided(decision):
                self._decided(decision)
            case EffectsBegun(calls, acts):
                for call in calls:
                    if call in self.pending:
                        self.pending[call].begun, self.pending[call].acts = True, acts
            case Result() as body:
                self._result(record, body)
            case Finished(outcome):
                self.outcome = outcome
            case Accepted() | Asked():
                self.problems.append(f"record {record.seq} names a call that is not open")
            case _:
                pass

    def _prompt(self, record: Record) -> None:
        if self._assistant is not None:
            # Only a damaged file has a prompt here: results were lost, so the step is closed without them.
            self.problems.append(f"record {record.seq}: {self._close('interrupted')} results were lost")
        if record.turn != self.turn:
            self.turn, self.steps, self.turn_entry = record.turn, 0, len(self.entries)
        self.outcome = None

    def _response(self, body: Response) -> None:
        if self._assistant is not None:
            self.problems.append(f"{self._close('interrupted')} results were lost")
        self.steps += 1
        if body.usage is not None:
            self.last_usage = body.usage
            self.usage = body.usage if self.usage is None else self.usage + body.usage
        self._assistant = body.assistant
        self.pending = {call.id: CallState(call) for call in body.assistant.calls}
        self._advance()

    def _decided(self, decision: Decision) -> None:
        for state in self.pending.values():
            # The first decision counts: it is the one that was acted on.
            if state.approval is not None and state.approval.id == decision.approval and state.decision is None:
                state.decision = decision
                if decision.args is not None:
                    state.edited, state.edits = decision.args, state.edits + 1
                if decision.choice == "allow" and decision.scope != "once":
                    self.rules += [rule for rule in state.approval.verdict.offer if rule not in self.rules]

    def _result(self, record: Record, body: Result) -> None:
        state = self.pending.get(body.result.call)
        if state is None or state.result is not None:
            self.problems.append(f"record {record.seq} is a result for a call that is not open")
            return
        state.result = body.result
        for observed in body.observed:
            self.seen[observed.path] = observed.sha256
        self._advance()

    def _advance(self) -> None:
        results = [state.result for state in self.pending.values()]
        settled = tuple(result for result in results if result is not None)
        if self._assistant is not None and len(settled) == len(results):
            self.entries.append(Step(self._assistant, settled))
            self._assistant, self.pending = None, {}

    def _close(self, status: str) -> int:
        """Give every open call of the pending response an interrupted result; says how many."""
        lost = [state for state in self.pending.values() if state.result is None]
        for state in lost:
            state.result = ToolResult(state.call.id, "interrupted", ())
        self._advance()
        return len(lost)


def next_action(state: State) -> Next:
    """What comes next. A pure function of the state, which is a pure function of the records."""
    unresolved = tuple(call for call in state.pending.values() if call.result is None)
    if unresolved:
        first = unresolved[0]
        if first.approval is not None and first.decision is None:
            asked = (call.approval for call in unresolved if call.decision is None)
            return Waiting(tuple(approval for approval in asked if approval is not None))
        return Settle(unresolved)
    if state.outcome is not None:
        return Over(state.outcome)
    last = state.entries[-1] if state.entries else None
    if isinstance(last, Step) and not last.results and last.assistant.stop != "cut":
        return Over(None)
    return NeedModel(_request(state))


def _request(state: State) -> Request:
    prefix, binding = state.prefix, state.binding
    if prefix is None or binding is None:
        raise ValueError("a session has its Binding and Prefix records before its first prompt")
    return Request(binding.model, prefix.options, prefix.tools, prefix.system, state.entries, prefix.hash)

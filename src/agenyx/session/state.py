"""What the records amount to: a fold over them, kept incrementally, and the pure function that says what comes next.

The engine loops over this state and over nothing else. Crash recovery, a waiting approval, resume and steering are
then one path: read the records, ask `next_action`, go on.
"""

from __future__ import annotations

from msgspec import Struct, UnsetType
from msgspec.structs import replace

from agenyx.core.approval import Approval, Decision
from agenyx.core.events import Outcome, Usage
from agenyx.core.messages import Assistant, Entry, Step, ToolCall, ToolResult
from agenyx.core.tasks import WorkTask
from agenyx.core.verdict import Rule, Scope
from agenyx.llm.request import Request
from agenyx.session.binding import unbound
from agenyx.session.diagnostics import tell
from agenyx.session.records import (
    REWIND,
    Accepted,
    Asked,
    Binding,
    Checkpoint,
    Compacted,
    Decided,
    EffectsBegun,
    Finished,
    Folders,
    Head,
    Hooked,
    Opened,
    Prefix,
    Prompt,
    Pruned,
    Record,
    Response,
    Result,
    Sent,
    Spent,
    Terms,
    Title,
    Trimmed,
    Unseen,
)
from agenyx.session.view import View, exchanged, shown

PROGRESS = 3  # whole responses after which a summary was of use


class CallState(Struct):
    """How far one call of the pending response has come. `edited` are the arguments that the user gave instead.

    `hooked` is what hooks said before it, None while they were not asked.
    """

    call: ToolCall
    accepted: bool = False
    approval: Approval | None = None
    decision: Decision | None = None
    begun: bool = False
    acts: bool = False
    result: ToolResult | None = None
    edited: str | None = None
    edits: int = 0
    hooked: Hooked | None = None

    @property
    def args(self) -> str:
        """The arguments that count."""
        return self.call.args if self.edited is None else self.edited

    @property
    def changed(self) -> str | None:
        """The arguments that count where they are not the model's: the user's, or else a hook's."""
        return self.edited if self.edited is not None or self.hooked is None else self.hooked.args

    @property
    def answer(self) -> str | None:
        """The arguments that a person gave with their yes; those of a rule or a hook are nobody's answer."""
        said = self.decision
        return said.args if said and said.choice == "allow" and said.by not in ("rule", "hook") else None

    @property
    def waiting(self) -> bool:
        """Whether a question about it has no answer yet."""
        return self.result is None and self.approval is not None and self.decision is None


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
        self.terms = Terms()
        self.folders: tuple[str, ...] = ()  # beside the workspace
        self.entries: list[Entry] = []  # all of them; the next request holds what `view` does
        self.view = View()
        self.breaks: dict[str, int] = {}  # what made a request differ from the start of the one before, and how often
        self.floor = 0  # tokens that were left when room was made last
        self._estimated = False  # they were not counted by a server yet
        self.tries = 0  # summaries in a row that were followed by fewer than PROGRESS responses
        self._since = 0  # whole responses since the last summary
        self.overflowed = False  # room was made for a request that did not fit, and no response came since
        self.pending: dict[str, CallState] = {}
        self.seen: dict[str, str] = {}
        self.prompts: set[str] = set()  # ids of those taken up
        self.rules: list[Rule] = []  # that the user set while answering
        self.told: list[str] = []  # by hooks, and not shown to the model yet
        self.halted = ""  # why hooks end this turn
        self.held = 0  # how often they have kept this turn from ending
        self.scope = Scope()  # of the skill or command that was used last in this turn
        self.tasks: dict[str, WorkTask] = {}  # the work graph, by id
        self.turn: str = ""
        self.turn_entry = 0
        self.steps = 0
        self.outcome: Outcome | None = Outcome("idle")
        self.sent: dict[str, Sent] = {}  # subagents in the background whose end the model does not know, by call
        self.spent: dict[str, Usage] = {}  # by subagents, by call; it is part of `usage`
        self.usage: Usage | None = None
        self.last_usage: Usage | None = None
        self.seq = 0
        self.head = ""
        self.title = ""  # that the person gave
        self.rewound = False  # the head was moved, and nothing was said since
        self.restored: list[str] = []  # files that the person put back, by absolute path, and nothing was said since
        self.problems: list[str] = []
        self._assistant: Assistant | None = None

    @property
    def model(self) -> str:
        return self.binding.model if self.binding else ""

    @property
    def questions(self) -> tuple[Approval, ...]:
        """The approvals that have no decision yet, in the order of their calls."""
        return tuple(call.approval for call in self.pending.values() if call.approval is not None and call.waiting)

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
                if self.binding is not None and self.binding.model != body.model:
                    self._broke(f"the model changed from {self.binding.model} to {body.model}")
                    self.floor = self.tries = 0
                elif self.binding is not None and self.binding.sees != body.sees and any(map(shown, self.view.entries)):
                    self._broke("what the model can be shown changed")
                self.binding = body
                if body.rebound:
                    self.entries = [unbound(entry) for entry in self.entries]
                    self.view.entries = [unbound(entry) for entry in self.view.entries]
            case Prefix() as body:
                if self.prefix is not None:
                    self._broke(body.cause or "the head changed")
                self.prefix = body
            case Terms() as body:
                self.terms = body
            case Folders(paths):
                self.folders = paths
            case Prompt(user):
                self._prompt(record)
                self.sent.pop(user.prompt_id, None)
                if user.origin == "typed":
                    self.scope = Scope() if isinstance(user.scope, UnsetType) else user.scope
                if user.origin == "hook":
                    self.told = []
                self.prompts.add(user.prompt_id)
                self.entries.append(user)
                self.view.add(user, record.id)
            case Response() as body:
                self._response(record, body)
            case Accepted(call) if call in self.pending:
                self.pending[call].accepted = True
            case Asked(approval) if approval.call.id in self.pending:
                call = self.pending[approval.call.id]
                call.approval, call.decision = approval, None
            case Decided(decision):
                self._decided(decision)
            case Hooked() as body:
                self._hooked(body)
            case EffectsBegun(calls, acts):
                for call in calls:
                    if call in self.pending:
                        self.pending[call].begun, self.pending[call].acts = True, acts
            case Result() as body:
                self._result(record, body)
            case Finished(outcome):
                self.outcome = outcome
            case Pruned() as body:
                self._pruned(body)
            case Compacted() as body:
                self._compacted(body)
            case Trimmed():
                self.view.trim()
                self._broke("earlier turns were shortened to what was said")
            case Unseen(media):
                self.view.unsee(frozenset(media))
                self._broke("the server refused an image")
            case Sent(call, told=True):
                self.sent.pop(call, None)
            case Sent(call) as body:
                self.sent[call] = body
            case Spent(call, usage):
                before, self.spent[call] = self.spent.get(call, Usage()), usage
                self.usage = (usage if self.usage is None else self.usage + usage) - before
            case Title(text):
                self.title = text
            case Checkpoint(call=call, path=path, before=before, after=after, mode=mode, mode_after=mode_after):
                changed = after is not None and (before, mode) != (after, mode_after)
                if call.startswith(REWIND) and changed and path not in self.restored:
                    self.restored.append(path)
            case Head(to, reason):
                self.restored += [path for path in record.body.restored if path not in self.restored]
                self.head, self.rewound = to, self.rewound or reason != "branch"
                self.outcome = self.outcome or Outcome("idle")
                if reason != "branch":
                    self._broke("the conversation goes on from another point")
            case Accepted() | Asked():
                tell(self.problems, "orphan_event", f"record {record.seq} names a call that is not open")
            case _:
                pass

    def _prompt(self, record: Record) -> None:
        if self._assistant is not None:
            self._close(record)
        if record.turn != self.turn:
            self.turn, self.steps, self.turn_entry = record.turn, 0, len(self.entries)
            self.tries, self.overflowed = 0, False  # the person goes on, not a loop
            self.halted, self.held = "", 0
        self.outcome, self.rewound, self.restored = None, False, []

    def _response(self, record: Record, body: Response) -> None:
        if self._assistant is not None:
            self._close(record)
        self.steps += 1
        if (counted := self.view.measure(body.usage)) and self._estimated:
            self.floor, self._estimated = counted, False
        if body.assistant.stop != "cut":
            self.overflowed, self._since = False, self._since + 1
            self.tries = self.tries if self._since < PROGRESS else 0
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

    def _hooked(self, body: Hooked) -> None:
        if body.event == "PreToolUse" and body.call in self.pending:
            self.pending[body.call].hooked = body
        self.told += body.context
        self.held += body.event in ("Stop", "SubagentStop")
        if body.stop:
            self.halted = body.reason or "A hook stopped the turn."

    def _result(self, record: Record, body: Result) -> None:
        state = self.pending.get(body.result.call)
        if state is None or state.result is not None:
            code = "orphan_tool_result" if state is None else "duplicate_tool_result"
            tell(self.problems, code, f"record {record.seq} is a result for a call that is not open")
            return
        state.result = body.result
        if not isinstance(body.scope, UnsetType):
            self.scope = body.scope
        self.tasks.update({task.id: task for task in body.tasks or ()})
        for observed in body.observed:
            self.seen[observed.path] = observed.sha256
        self._advance()

    def _advance(self) -> None:
        results = [state.result for state in self.pending.values()]
        settled = tuple(result for result in results if result is not None)
        if self._assistant is not None and len(settled) == len(results):
            step = Step(self._assistant, settled)
            self.entries.append(step)
            self.view.add(step, self.head)
            self._assistant, self.pending = None, {}

    def _pruned(self, body: Pruned) -> None:
        self.view.prune(body)
        self.floor, self._estimated = body.tokens, True
        self._broke("old results were taken out to make room")
        spills = {result.call: result.spill for result in body.results if result.spill}
        for index in range(len(self.entries) - 1, -1, -1):
            if not spills:
                break  # they are among the latest: a long history is not gone through
            entry = self.entries[index]
            if isinstance(entry, Step) and any(result.call in spills for result in entry.results):
                named = {r.call: replace(r, spill=spills.pop(r.call)) for r in entry.results if r.call in spills}
                self.entries[index] = exchanged(entry, named)

    def _compacted(self, body: Compacted) -> None:
        self.view.compact(body)
        self.floor, self._estimated = body.tokens, True
        self.overflowed = self.overflowed or body.by == "overflow"
        if body.by != "user":
            self.tries, self._since = self.tries + 1, 0
        self._broke("compaction")
        if body.usage is not None:
            self.usage = body.usage if self.usage is None else self.usage + body.usage

    def _broke(self, cause: str) -> None:
        self.breaks[cause] = self.breaks.get(cause, 0) + 1

    def _close(self, record: Record) -> None:
        """End the pending response before `record`: only a damaged file lacks results there.

        Its open calls get interrupted results; where none was answered it is left out, and stays in the file.
        """
        lost = [state for state in self.pending.values() if state.result is None]
        if len(lost) == len(self.pending):
            what = f"record {record.seq}: all results of the response before it were lost, so it is left out"
            tell(self.problems, "omitted_fully_unresolved_group", what)
            self._assistant, self.pending = None, {}
            return
        tell(self.problems, "recovered_interrupted_tool", f"record {record.seq}: {len(lost)} results were lost")
        for state in lost:
            state.result = ToolResult(state.call.id, "interrupted", ())
        self._advance()


def next_action(state: State) -> Next:
    """What comes next. A pure function of the state, which is a pure function of the records."""
    unresolved = tuple(call for call in state.pending.values() if call.result is None)
    if unresolved:
        return Waiting(state.questions) if unresolved[0].waiting else Settle(unresolved)
    if state.outcome is not None:
        return Over(state.outcome)
    last = state.entries[-1] if state.entries else None
    if isinstance(last, Step) and not last.results and last.assistant.stop != "cut":
        return Over(None)
    return NeedModel(request_of(state))


def request_of(state: State) -> Request:
    """The next request, as it stands."""
    prefix, binding = state.prefix, state.binding
    if prefix is None or binding is None:
        raise ValueError("a session has its Binding and Prefix records before its first prompt")
    entries, sees = state.view.entries, binding.sees
    return Request(binding.model, prefix.options, prefix.tools, prefix.system, entries, prefix.hash, sees)

"""AgentEvents to spans and measures, as values. Pure: time comes with each event, nothing is exported here.

A turn is `invoke_agent`, each of its responses `chat`, each of its calls `execute_tool`; both stand below the turn. The
turn of a subagent stands below the call that it does. Content is in them only where it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from agenyx.app.telemetry import content, names
from agenyx.app.telemetry.operations import Attributes, Begin, End, Facts, Forget, Mark, Measure, Operation
from agenyx.core.events import (
    AgentEvent,
    ApprovalAsked,
    ApprovalSettled,
    CallAccepted,
    CallDraft,
    CallFinished,
    Compacted,
    Done,
    EffectStarted,
    Failure,
    ModeChanged,
    PrefixBroke,
    ReasoningDelta,
    Retrying,
    Started,
    StepStarted,
    TextDelta,
    TurnFinished,
    TurnStarted,
    Usage,
)
from agenyx.core.ids import child_id
from agenyx.core.messages import ToolCall, ToolResult

MOST_CALLS = 4_096  # that are remembered after their end, as what a subagent in the background stands below


class _Step(Struct):
    """A response while it is made. Times in seconds."""

    key: str
    began: float
    model: str
    last: float | None = None  # when a piece of it came
    answered: str = ""  # the model as the server calls it
    usage: Usage | None = None
    attributes: Attributes = {}


class _Turn(Struct):
    key: str
    began: float
    model: str
    name: str
    step: _Step | None = None
    new: list[content.Message] = []  # what the next request has that the one before had not
    calls: dict[str, tuple[str, float]] = {}  # open ones by id: the tool, and when they were taken on


class Projection:
    """One session with its subagents. `capture`: content is wanted."""

    def __init__(self, facts: Facts, *, capture: bool = False) -> None:
        self.facts, self._capture = facts, capture
        self._turns: dict[str, _Turn] = {}  # by the path of the agent
        self._calls: dict[str, None] = {}  # all that began, in order
        self._count = 0

    def take(self, event: AgentEvent, now: float) -> Iterator[Operation]:
        """What one event comes to; `now` in seconds of any clock that does not go back."""
        body, path = event.body, event.agent
        if isinstance(body, TurnStarted):
            yield from self._begin(event, body, now)
            return
        turn = self._turns.get(path)
        if turn is None:
            return
        match body:
            case StepStarted():
                yield from self._step(turn, event.step, now)
            case CallAccepted(call):
                yield from self._call(turn, call, now)
            case CallFinished(result, name, seconds):
                yield from self._finished(turn, result, name, seconds, now)
            case ApprovalAsked(approval):
                yield Mark(approval.call.id, "agenyx.approval.asked", {})
            case ApprovalSettled(decision):
                key = next(iter(turn.calls), turn.key)
                yield Mark(key, "agenyx.approval.settled", {"agenyx.choice": decision.choice, "agenyx.by": decision.by})
            case EffectStarted(calls):
                for call in calls:
                    yield Mark(call, "agenyx.effect.started", {})
            case Compacted(summary):
                yield Mark(turn.key, "agenyx.compacted", {"agenyx.chars": len(summary)})
            case PrefixBroke():
                yield Mark(turn.key, "agenyx.cache.broke", {})
            case ModeChanged(mode):
                yield Mark(turn.key, "agenyx.mode.changed", {"agenyx.mode": mode})
            case TurnFinished():
                yield from self._over(path, turn, body, now)
            case _ if turn.step is not None:
                yield from self._answer(turn, turn.step, body, now)
            case _:
                pass

    def abandon(self, now: float) -> Iterator[Operation]:
        """End what is open, as nothing more comes."""
        for path, turn in list(self._turns.items()):
            yield from self._close(turn, "incomplete", now)
            yield End(turn.key, {}, "incomplete")
            del self._turns[path]

    # --- turns ------------------------------------------------------------------------------------------------------

    def _begin(self, event: AgentEvent, body: TurnStarted, now: float) -> Iterator[Operation]:
        path = event.agent
        if (left := self._turns.pop(path, None)) is not None:
            yield from self._close(left, "incomplete", now)
            yield End(left.key, {}, "incomplete")
        self._count += 1
        name = path.partition("/")[0] or "agenyx"
        turn = _Turn(f"turn:{self._count}", now, body.model, name)
        turn.new, turn.calls = [content.user(body.prompt)] if self._capture and body.prompt else [], {}
        self._turns[path] = turn
        attributes: Attributes = {
            **self._common("invoke_agent", body.model),
            names.AGENT_NAME: name,
            names.CONVERSATION: event.session,
            "agenyx.turn": event.turn,
            "agenyx.mode": body.mode,
        }
        if path:
            attributes[names.AGENT_ID] = path.rpartition("/")[2]
        if self.facts.version:
            attributes[names.AGENT_VERSION] = self.facts.version
        if turn.new:
            attributes[names.INPUT_MESSAGES] = content.messages(turn.new)
        yield Begin(turn.key, self._above(path), f"invoke_agent {name}", attributes)

    def _above(self, path: str) -> str:
        """The call that a subagent does, by its path; the main turn where it is not known."""
        if not path:
            return ""
        ident = path.rpartition("/")[2]
        main = self._turns.get("")
        found = next((call for call in reversed(self._calls) if child_id(call) == ident), "")
        return found or (main.key if main else "")

    def _over(self, path: str, turn: _Turn, body: TurnFinished, now: float) -> Iterator[Operation]:
        kind = body.outcome.kind
        error = "" if kind in ("done", "waiting") else kind
        if body.outcome.failure is not None:
            error = body.outcome.failure.kind
        yield from self._close(turn, error or "incomplete", now)
        attributes: Attributes = {"agenyx.outcome": kind, "agenyx.steps": body.steps, **_tokens(body.usage)}
        if body.cost is not None:
            attributes["agenyx.cost.usd"] = body.cost
        if self._capture and body.text:
            attributes[names.OUTPUT_MESSAGES] = content.messages([content.said(body.text)])
        yield Measure(names.DURATION, now - turn.began, self._measured("invoke_agent", turn.model, error))
        yield End(turn.key, attributes, error)
        yield Forget(turn.key)
        del self._turns[path]

    def _close(self, turn: _Turn, error: str, now: float) -> Iterator[Operation]:
        """End what stands below a turn and is still open."""
        if turn.step is not None:
            yield from self._answered(turn, turn.step, error, now)
        for call in list(turn.calls):
            yield End(call, {}, error)
        turn.calls = {}

    # --- responses --------------------------------------------------------------------------------------------------

    def _step(self, turn: _Turn, number: int, now: float) -> Iterator[Operation]:
        if turn.step is not None:
            yield from self._answered(turn, turn.step, "incomplete", now)
        self._count += 1
        turn.step = _Step(f"chat:{self._count}", now, turn.model, attributes={})
        attributes: Attributes = {**self._common("chat", turn.model), names.REQUEST_STREAM: True}
        attributes |= {names.OUTPUT_TYPE: "text", "agenyx.step": number}
        if turn.new:
            attributes[names.INPUT_MESSAGES] = content.messages(turn.new)
        turn.new = []
        yield Begin(turn.step.key, turn.key, f"chat {turn.model}".rstrip(), attributes, client=True)

    def _answer(self, turn: _Turn, step: _Step, body: object, now: float) -> Iterator[Operation]:
        match body:
            case Started(response, model):
                step.answered = model
                given = {names.RESPONSE_ID: response, names.RESPONSE_MODEL: model}
                step.attributes |= {name: value for name, value in given.items() if value}
            case TextDelta() | ReasoningDelta() | CallDraft():
                yield self._chunk(turn, step, now)
            case Retrying(attempt, limit, delay):
                told: Attributes = {"agenyx.attempt": attempt, "agenyx.limit": limit, "agenyx.delay": delay}
                yield Mark(step.key, "agenyx.retry", told)
                step.last = None
            case Usage():
                step.usage = body
            case Done(assistant):
                step.attributes[names.FINISH_REASONS] = (names.FINISH[assistant.stop],)
                if self._capture:
                    answer = content.answered(assistant, names.FINISH[assistant.stop])
                    step.attributes[names.OUTPUT_MESSAGES] = content.messages([answer])
                yield from self._answered(turn, step, "", now)
            case Failure(kind):
                yield from self._answered(turn, step, kind, now)
            case _:
                pass

    def _chunk(self, turn: _Turn, step: _Step, now: float) -> Measure:
        measured = self._measured("chat", turn.model, "", step.answered)
        last, step.last = step.last, now
        if last is not None:
            return Measure(names.TIME_PER_CHUNK, now - last, measured)
        step.attributes[names.FIRST_CHUNK] = now - step.began
        return Measure(names.TIME_TO_FIRST, now - step.began, measured)

    def _answered(self, turn: _Turn, step: _Step, error: str, now: float) -> Iterator[Operation]:
        turn.step = None
        yield Measure(names.DURATION, now - step.began, self._measured("chat", turn.model, error, step.answered))
        if step.usage is not None:
            measured = self._measured("chat", turn.model, "", step.answered)
            for kind, count in (("input", step.usage.given), ("output", step.usage.out)):
                yield Measure(names.TOKENS, count, {**measured, names.TOKEN_TYPE: kind})
        yield End(step.key, {**step.attributes, **_tokens(step.usage)}, error)
        yield Forget(step.key)

    # --- calls ------------------------------------------------------------------------------------------------------

    def _call(self, turn: _Turn, call: ToolCall, now: float) -> Iterator[Operation]:
        if call.id in turn.calls:
            return
        turn.calls[call.id] = call.name, now
        self._calls[call.id] = None
        yield self._tool(turn, call.id, call.name, call.args)
        while len(self._calls) > MOST_CALLS:
            oldest = next(iter(self._calls))
            del self._calls[oldest]
            yield Forget(oldest)

    def _tool(self, turn: _Turn, call: str, name: str, args: str = "") -> Begin:
        tool = plain(name)
        attributes: Attributes = {
            names.OPERATION: "execute_tool",
            names.TOOL_NAME: tool,
            names.TOOL_CALL: call,
            names.TOOL_TYPE: "function",
        }
        mark, server, _ = (*tool.split("__", 2), "", "")[:3]
        if mark == "mcp" and server:
            attributes |= {names.MCP_METHOD: "tools/call", names.TOOL_TYPE: "extension", "agenyx.mcp.server": server}
        if self._capture and args:
            attributes[names.TOOL_ARGUMENTS] = content.cut(args)
        return Begin(call, turn.key, f"execute_tool {tool}", attributes)

    def _finished(self, turn: _Turn, result: ToolResult, name: str, seconds: float, now: float) -> Iterator[Operation]:
        if result.call not in turn.calls:  # refused before it was taken on
            yield self._tool(turn, result.call, name)
            self._calls[result.call] = None
        turn.calls.pop(result.call, None)
        error = "" if result.status == "ok" else result.status
        attributes: Attributes = {"agenyx.status": result.status, "agenyx.run.seconds": seconds}
        if self._capture:
            turn.new.append(content.result(result))
            attributes[names.TOOL_RESULT] = content.cut(result.text)
        measured = self._measured("execute_tool", "", error)
        yield Measure(names.DURATION, seconds, {**measured, names.TOOL_NAME: plain(name)})
        yield End(result.call, attributes, error)

    # --- shared -----------------------------------------------------------------------------------------------------

    def _common(self, operation: str, model: str) -> Attributes:
        facts = self.facts
        given: Attributes = {
            names.OPERATION: operation,
            names.PROVIDER: facts.provider,
            names.REQUEST_MODEL: model,
            names.SERVER: facts.host,
            names.PORT: facts.port,
        }
        return {name: value for name, value in given.items() if value}

    def _measured(self, operation: str, model: str, error: str, answered: str = "") -> Attributes:
        given = self._common(operation, model)
        if answered:
            given[names.RESPONSE_MODEL] = answered
        if error:
            given[names.ERROR] = error
        return given


def _tokens(usage: Usage | None) -> Attributes:
    if usage is None:
        return {}
    return {
        names.INPUT_TOKENS: usage.given,
        names.OUTPUT_TOKENS: usage.out,
        names.CACHE_READ: usage.cache_read,
        names.CACHE_CREATION: usage.cache_write,
        names.REASONING_TOKENS: usage.reasoning,
    }


def plain(name: str) -> str:
    """A tool's name as the model gave it, without what is no name."""
    return name[:64] if name and name.isascii() and name.isprintable() and " " not in name else "(no tool name)"

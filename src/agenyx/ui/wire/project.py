"""AgentEvents to records: what a program sees of a session. Pure: ids and time come from outside, nothing is written.

Knows neither streams nor controls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import UNSET

from agenyx.core import message_ids
from agenyx.core.events import (
    AgentEvent,
    CallAccepted,
    CallFinished,
    Compacted,
    Done,
    ModeChanged,
    Notice,
    Output,
    Retrying,
    Started,
    StepStarted,
    TextDelta,
    TurnFinished,
    TurnStarted,
    Usage,
)
from agenyx.core.ids import child_id
from agenyx.core.messages import Assistant, Media, Reasoning, Text, ToolCall, ToolResult
from agenyx.ui.view import View
from agenyx.ui.wire.dialect import Dialect
from agenyx.ui.wire.outbound import (
    ApiRetry,
    AssistantMessage,
    AssistantRecord,
    CompactBoundary,
    Informational,
    JsonObject,
    MessageUsage,
    Outbound,
    ResultRecord,
    StatusRecord,
    StreamEvent,
    TextBlock,
    ThinkingBlock,
    ToolProgress,
    ToolResultBlock,
    ToolUseBlock,
    UserMessage,
    UserRecord,
)
from agenyx.ui.wire.partials import STOPS, Partials
from agenyx.ui.wire.results import arguments, result

INTERRUPTED = "[Request interrupted by user]"
_TELL = 1.0  # seconds between two records about the progress of one call


class _Agent:
    """What is known of the response that one agent's model is making."""

    def __init__(self) -> None:
        self.message, self.model, self.usage = "", "", Usage()
        self.streamed: list[str] = []
        self.at: tuple[str, int] = "", 0  # turn and step
        self.partials = Partials()


class Projection:
    """`partial`: also the answer while it is made. `forward`: also what subagents say. `new_id` makes uuids."""

    def __init__(self, dialect: Dialect, new_id: Callable[[], str], *, partial: bool = False) -> None:
        self.dialect: Dialect = dialect
        self._new_id, self._partial = new_id, partial
        self.forward = self.manual = self.again = False  # again: the turn that begins belongs to the one before
        self.session = ""
        self.total: Usage | None = None
        self.windows: tuple[int | None, int | None] = (None, None)
        self.view = View()
        self.stop: str | None = None
        self._agents: dict[str, _Agent] = {}
        self._told: set[str] = set()  # calls whose record was written
        self._progressed: dict[str, tuple[float, float]] = {}  # when a call first and last told of its progress
        self._size = 0

    def records(self, event: AgentEvent, now: float) -> Iterator[Outbound]:
        """What one event comes to; `now` in seconds of any clock that does not go back."""
        body, path = event.body, event.agent
        if isinstance(body, TurnStarted) and not path and not self.again:
            model = self.view.model
            self.view, self.stop, self._agents = View(), None, {}
            self.view.model = model
        known = self.view.calls
        unknown = isinstance(body, CallFinished) and body.result.call not in known
        self.view.apply(event, now)
        self.session = self.view.session or self.session
        agent = self._agents.setdefault(path, _Agent())
        agent.at = event.turn, event.step
        self._follow(agent, body)
        if path and self.dialect == "agentx":
            return
        parent = self._parent(path)
        if self._partial and (not path or self.forward):
            yield from self._pieces(agent, body, parent)
        match body:
            case Done(assistant):
                yield from self._said(agent, assistant, parent, path)
            case CallAccepted(call):
                yield from self._call(agent, call, parent)
            case CallFinished(done, name):
                if unknown:
                    yield from self._call(agent, self.view.calls[done.call], parent)
                yield self._result(done, name, parent)
            case Output(call) if self._partial and call in known:
                yield from self._progress(call, known[call].name, now, parent)
            case Retrying(attempt, limit, delay, why) if self.dialect == "sdk":
                yield ApiRetry(attempt, limit, round(delay * 1000), why, self.session, self._new_id())
            case ModeChanged(mode) if not path and self.dialect == "sdk":
                yield StatusRecord(mode, self.session, self._new_id())
            case Notice("warning" | "error", text, fix) if self.dialect == "sdk":
                yield Informational(f"{text} {fix}".rstrip(), "warning", self.session, self._new_id())
            case Compacted() if not path:
                trigger, self.manual = "manual" if self.manual else "auto", False
                yield CompactBoundary({"trigger": trigger, "pre_tokens": self._size}, self.session, self._new_id())
            case TurnFinished(outcome) if not path:
                yield from self._broken_off(agent)
                if outcome.kind == "cancelled" and self.dialect == "sdk":
                    yield UserRecord(UserMessage((TextBlock(INTERRUPTED),)), self.session, self._new_id())
            case _:
                pass

    def result(
        self,
        ended: TurnFinished | BaseException,
        prompt: str = "",
        seconds: float = 0.0,
        data: Any = UNSET,
        structured: Any = UNSET,
        subtype: str | None = None,
    ) -> ResultRecord:
        """The record for the end of a turn, or of what should have been one."""
        return result(
            self.dialect,
            self.view,
            ended,
            uuid=self._new_id(),
            session=self.session,
            stop=self.stop,
            prompt=prompt,
            total=self.total,
            windows=self.windows,
            seconds=seconds,
            data=data,
            structured=structured,
            subtype=subtype,
        )

    # --- what the model says ----------------------------------------------------------------------------------------

    def _follow(self, agent: _Agent, body: object) -> None:
        match body:
            case StepStarted():
                agent.message, agent.usage, agent.streamed = f"msg_{self._new_id().replace('-', '')}", Usage(), []
            case Started(response, model):
                agent.message, agent.model = response or agent.message, model or agent.model
            case TextDelta(_, text):
                agent.streamed.append(text)
            case Retrying():
                agent.streamed = []
            case Usage():
                agent.usage = agent.usage + body
                self._size = agent.usage.given + agent.usage.out
                self.total = body if self.total is None else self.total + body
            case _:
                pass

    def _pieces(self, agent: _Agent, body: Any, parent: str | None) -> Iterator[Outbound]:
        if self.dialect == "agentx":
            if isinstance(body, TextDelta):
                delta = {"type": "response.output_text.delta", "delta": body.text}
                yield StreamEvent(delta, self.session, self._new_id())
            return
        for event in agent.partials.events(body, agent.message, agent.model or self.view.model):
            yield StreamEvent(event, self.session, self._new_id(), parent)

    def _said(self, agent: _Agent, assistant: Assistant, parent: str | None, path: str) -> Iterator[Outbound]:
        agent.model, agent.streamed = assistant.model or agent.model, []
        if not path:
            self.stop = STOPS[assistant.stop]
        if path and not self.forward:
            return
        blocks: list[TextBlock | ThinkingBlock] = []
        for block in assistant.blocks:
            match block:
                case Text(text) if text:
                    blocks.append(TextBlock(text))
                case Reasoning(text) if text and self.dialect == "sdk":
                    blocks.append(ThinkingBlock(text))
                case _:
                    pass
        if blocks:
            yield self._assistant(agent, tuple(blocks), parent, phase=assistant.phase)

    def _broken_off(self, agent: _Agent) -> Iterator[Outbound]:
        """The text of a response that came to no end: it stays in the session, so it is told."""
        text, agent.streamed = "".join(agent.streamed), []
        if text.strip():
            yield self._assistant(agent, (TextBlock(text),), None)

    def _assistant(
        self,
        agent: _Agent,
        blocks: tuple[TextBlock | ThinkingBlock | ToolUseBlock, ...],
        parent: str | None,
        stop: str | None = None,
        phase: str = "",
    ) -> AssistantRecord:
        usage, counted = agent.usage, MessageUsage()
        if self.dialect == "sdk":
            counted = MessageUsage(usage.fresh, usage.out, usage.cache_write, usage.cache_read)
        model = agent.model or self.view.model
        message = AssistantMessage(
            agent.message, model, blocks, counted, stop, phase=phase if phase and self.dialect == "agentx" else UNSET
        )
        call = blocks[0].id if isinstance(blocks[0], ToolUseBlock) else ""
        uuid = message_ids.called(call) if call else message_ids.said(*agent.at)
        return AssistantRecord(message, self.session, uuid, parent)

    # --- calls ------------------------------------------------------------------------------------------------------

    def _call(self, agent: _Agent, call: ToolCall, parent: str | None) -> Iterator[Outbound]:
        if call.id in self._told:
            return
        self._told.add(call.id)
        block = ToolUseBlock(call.id, call.name, arguments(call.args))
        yield self._assistant(agent, (block,), parent, "tool_use" if self.dialect == "agentx" else None)

    def _result(self, done: ToolResult, name: str, parent: str | None) -> UserRecord:
        blocks = tuple(TextBlock(_shown(block)) for block in done.content)
        block = ToolResultBlock(done.call, blocks, done.status != "ok")
        self._progressed.pop(done.call, None)
        message, uuid = UserMessage((block,)), message_ids.answered(done.call)
        if self.dialect == "agentx":
            return UserRecord(message, self.session, uuid, isSynthetic=True)
        extra: JsonObject = {"tool": name, "status": done.status}
        if done.spill:
            extra["spill"] = done.spill
        return UserRecord(message, self.session, uuid, parent, tool_use_result=extra)

    def _progress(self, call: str, name: str, now: float, parent: str | None) -> Iterator[Outbound]:
        first, last = self._progressed.get(call, (now, now - _TELL))
        if now - last >= _TELL:
            self._progressed[call] = first, now
            yield ToolProgress(call, name, round(now - first, 3), self.session, self._new_id(), parent)

    def _parent(self, path: str) -> str | None:
        """The call that a subagent does, by the subagent's path."""
        if not path:
            return None
        ident = path.rpartition("/")[2]
        return next((call for call in self.view.calls if child_id(call) == ident), None)


def _shown(block: Text | Media) -> str:
    return block.text if isinstance(block, Text) else f"[{block.kind} {block.name}, {block.mime}, {block.size} bytes]"

"""Events and scenes for tests of what draws them: a few words stand for a whole event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agenyx.core.approval import Approval
from agenyx.core.events import AgentEvent, Body, CallAccepted, CallFinished, Done, EffectStarted, StepStarted
from agenyx.core.ids import child_id
from agenyx.core.messages import Assistant, Block, Media, Status, Text, ToolCall, ToolResult
from agenyx.core.tools import Effects, PathRef
from agenyx.core.verdict import Reason, Verdict
from agenyx.ui.scene.blocks import Block as Shown
from agenyx.ui.scene.blocks import Card
from agenyx.ui.scene.scene import Scene


class Clock:
    """A clock that stands still until it is told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Stage(Scene):
    """A scene with a short way to its events."""

    def __init__(self) -> None:
        self.time = Clock()
        super().__init__(self.time)
        self._seq = 0

    def events(self, *bodies: Body, agent: str = "") -> None:
        for body in bodies:
            self._seq += 1
            self.apply(AgentEvent(self._seq, "s", "t", 1, body, agent))

    def calls(self, *calls: ToolCall, effects: Effects | None = None, agent: str = "", text: str = "") -> None:
        """A whole response that makes these calls, which are then taken on."""
        blocks: tuple[Block, ...] = (*((Text(text),) if text else ()), *calls)
        self.events(StepStarted(), Done(Assistant(blocks, "calls")), agent=agent)
        self.events(*(CallAccepted(call, effects or Effects()) for call in calls), agent=agent)

    def ran(
        self,
        call: ToolCall,
        text: str = "",
        status: Status = "ok",
        *,
        effects: Effects | None = None,
        seconds: float = 0.0,
        agent: str = "",
        media: tuple[Media, ...] = (),
    ) -> None:
        """A whole call, from the response to its result."""
        self.calls(call, effects=effects, agent=agent)
        self.events(EffectStarted((call.id,)), finished(call, text, status, seconds, media), agent=agent)

    def card(self, name: str = "") -> Card:
        """The last card, or the last of this name."""
        return [block for block in cards(self.blocks) if name in ("", block.name)][-1]


def call(name: str = "Bash", args: str = "{}", id: str = "call_00000001") -> ToolCall:
    return ToolCall(id, f"wire_{id[-4:]}", name, args)


def finished(
    call: ToolCall, text: str = "", status: Status = "ok", seconds: float = 0.0, media: tuple[Media, ...] = ()
) -> CallFinished:
    return CallFinished(ToolResult(call.id, status, (Text(text), *media)), call.name, seconds)


def asked(call: ToolCall, id: str = "apr", effects: Effects | None = None, agent: str = "") -> Approval:
    return Approval(id, call, Verdict("ask", (Reason("default", "it acts"),)), effects or Effects(), agent=agent)


def agent_of(call: ToolCall, name: str = "explorer") -> str:
    """The path of the subagent that does this call."""
    return f"{name}/{child_id(call.id)}"


def path(shown: str) -> PathRef:
    return PathRef(shown, f"/w/{shown}".encode(), "/w")


def change(shown: str, preview: str) -> Effects:
    return Effects(writes=(path(shown),), preview=preview)


def cards(blocks: Iterable[Shown]) -> Iterator[Card]:
    """All cards, those inside others too."""
    for block in blocks:
        if isinstance(block, Card):
            yield block
            yield from cards(block.inner)


def outline(blocks: Iterable[Shown], indent: str = "") -> list[str]:
    """Each block in a line: its kind, and what tells it."""
    rows: list[str] = []
    for block in blocks:
        told = (
            f"{block.name} {block.stage} {block.status or ''}"
            if isinstance(block, Card)
            else getattr(block, "text", "")
        )
        rows.append(f"{indent}{type(block).__name__} {told}".rstrip())
        if isinstance(block, Card):
            rows += outline(block.inner, f"{indent}  ")
    return rows

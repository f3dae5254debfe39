"""A conversation and a surface that tell what they were asked, for tests of the loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from msgspec import Struct

from agenyx.agent.context import Levels, Parts
from agenyx.core.errors import UsageError
from agenyx.core.events import AgentEvent, Body, Outcome, StepStarted, TextDelta, TurnFinished, TurnStarted, Usage
from agenyx.core.verdict import Mode, Rule
from agenyx.session.records import Compacted
from agenyx.ui.repl.transcript import Transcript
from agenyx.ui.spans import ASCII, Line, plain


class FakeStatus(Struct, frozen=True):
    session_id: str = "s-1"
    profile: str = "fake"
    model: str = "model-1"
    effort: str = ""
    mode: Mode = "default"
    workspace: str = "/w"
    persistent: bool = True
    usage: Usage | None = None
    context: int | None = None
    branch: str = "main"
    cost: float | None = None
    window: int | None = None
    levels: Levels | None = None
    parts: Parts = Parts(0, 0, 0, 0, 0)
    breaks: dict[str, int] = {}


class FakeTalk:
    """Answers `<prompt>`; `wait` is a prompt that only a cancellation ends, `fail` one that fails, `crash` a fault."""

    def __init__(self, emit: Callable[[AgentEvent], None], session: str = "s-1") -> None:
        self.session_id, self._emit = session, emit
        self.extensions = self.library = self.mcp = None
        self.unfinished = False
        self.facts = FakeStatus(session_id=session)
        self.told: list[str] = []
        self.waiting = asyncio.Event()
        self.closed = asyncio.Event()
        self.stubborn = False
        self.held: tuple[Rule, ...] = ()
        self.made: Compacted | None = None

    def emit(self, body: Body) -> None:
        self._emit(AgentEvent(1, self.session_id, "t", 1, body))

    async def prompt(self, text: str) -> TurnFinished:
        self.told.append(text)
        self.emit(TurnStarted(text, "model-1", "default"))
        self.emit(StepStarted())
        outcome, answer = Outcome("done"), f"<{text}>"
        try:
            if text.startswith("wait"):
                self.waiting.set()
                await asyncio.Event().wait()
        except asyncio.CancelledError:
            while self.stubborn:
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.Event().wait()
            outcome, answer = Outcome("cancelled", "Stopped by the user."), ""
        if text == "crash":
            raise RuntimeError("the fake is broken")
        if text == "fail":
            outcome, answer = Outcome("failed", "no such luck"), ""
        if answer:
            self.emit(TextDelta(0, answer))
        finished = TurnFinished(outcome, answer, 1, 0.1)
        self.emit(finished)
        return finished

    async def go_on(self) -> TurnFinished:
        self.unfinished = False
        return await self.prompt("(go on)")

    async def compact(self, focus: str) -> Compacted | None:
        self.told.append(f"compact {focus}".rstrip())
        return self.made

    def steer(self, text: str) -> None:
        self.told.append(f"steer {text}")

    def set_mode(self, mode: Mode) -> None:
        if mode == "bypassPermissions":
            raise UsageError("not without the flag", "Use acceptEdits.")
        self.facts = FakeStatus(mode=mode)

    def set_model(self, name: str) -> None:
        self.facts = FakeStatus(model=name)

    def set_effort(self, level: str) -> None:
        self.facts = FakeStatus(effort=level)

    def rules(self) -> tuple[Rule, ...]:
        return self.held

    def status(self) -> FakeStatus:
        return self.facts

    async def clear(self) -> FakeTalk:
        self.told.append("closed")
        return FakeTalk(self._emit, "s-2")

    async def close(self, reason: str = "other") -> None:
        self.told.append("closed")
        self.closed.set()


class FakeSurface:
    """Collects what is shown. `asked` is set when the next input is wanted."""

    columns, echoes = 80, False

    def __init__(self) -> None:
        self.transcript = Transcript(lambda: self.columns, ASCII, lambda: 100.0)
        self.lines: list[Line] = []
        self.asked = asyncio.Event()
        self.taken_back: list[str] = []
        self._shown = asyncio.Event()

    @property
    def text(self) -> str:
        return "\n".join(plain(spans) for spans in self.lines)

    def changed(self) -> None:
        self.lines += self.transcript.take()
        self._shown.set()

    async def see(self, text: str) -> None:
        """Wait until it was shown, and for the steps that were due then."""
        async with asyncio.timeout(30):
            while text not in self.text:
                self._shown.clear()
                await self._shown.wait()
            for _ in range(3):
                await asyncio.sleep(0)

    def ready(self) -> None:
        self.asked.set()

    def take_back(self, text: str) -> None:
        self.taken_back.append(text)

    def paint(self, theme: str) -> bool:
        self.theme = theme
        return True

    async def flush(self) -> None:
        pass

"""A screen with nothing but the approver and its panel."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget

from agenyx.core.approval import Approval, Decision
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Effects
from agenyx.core.verdict import Reason, Rule, Verdict
from agenyx.ui.tui.asking.approver import TuiApprover
from agenyx.ui.tui.asking.panel import AskPanel
from agenyx.ui.tui.colours import PREFIX, themes
from agenyx.ui.tui.keymap import Keymap
from support.tui import until

WHY = (Reason("shell", "no rule allows npm test", part="npm test"),)
NPM = Rule("allow", "Bash", "npm test")


def approval(
    effects: Effects | None = None,
    *,
    id: str = "apr_1",
    name: str = "Bash",
    args: str = '{"command":"npm test"}',
    offer: tuple[Rule, ...] = (NPM,),
    edited: str | None = None,
) -> Approval:
    verdict = Verdict("ask", WHY, offer=offer)
    return Approval(
        id, ToolCall(f"call_{id}", "w", name, args), verdict, effects or Effects(preview="npm test"), args=edited
    )


class Clock:
    """Seconds that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def _shown() -> None:
    pass


class Talk(Widget):
    """What stands above the question."""

    DEFAULT_CSS = "Talk { height: 1fr; }"

    def render(self) -> str:
        return "the conversation"


class Place(App[None]):
    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [("ctrl+c", "key('ctrl+c')", ""), ("f1", "key('f1')", ""), ("x", "key('x')", "")]  # noqa: RUF012

    def __init__(self, theme: str, **manner: Any) -> None:
        super().__init__()
        self.approver = TuiApprover(_shown, lambda: 1.0, {"HOME": "/home/p"})
        self.panel = AskPanel(Keymap(), env={}, **manner)
        self.told: list[str] = []
        self.pressed: list[str] = []
        for one in themes():
            self.register_theme(one)
        self.theme = PREFIX + theme

    def compose(self) -> ComposeResult:
        yield Talk()
        yield self.panel

    def on_mount(self) -> None:
        self.approver.attach(self.panel.present)

    def action_key(self, key: str) -> None:
        self.pressed.append(key)

    def on_ask_panel_opened(self) -> None:
        self.told.append("opened")

    def on_ask_panel_closed(self) -> None:
        self.told.append("closed")


class Room:
    """A place that runs, with the questions that were put in it."""

    def __init__(self, app: Place, pilot: Pilot[None]) -> None:
        self.app, self.pilot, self.panel = app, pilot, app.panel
        self.asked: list[asyncio.Task[Decision]] = []

    async def ask(self, one: Approval) -> asyncio.Task[Decision]:
        """Put a question and wait until it stands on the screen, or in the queue."""
        task = asyncio.ensure_future(self.app.approver.decide(one))
        self.asked.append(task)
        count = self.app.approver.waiting
        await until(self.pilot, lambda: self.app.approver.waiting > count or task.done(), "the question")
        await self.settle()
        return task

    async def settle(self) -> None:
        """The panel has drawn what it has to say."""
        await until(self.pilot, lambda: self.panel.ask is None or self.panel.sheet.drawn, "the question is drawn")
        await self.pilot.pause()
        await self.pilot.pause()

    async def press(self, *keys: str) -> None:
        """Each key by itself, and what comes of it drawn."""
        for key in keys:
            await self.pilot.press(key)
            await until(self.pilot, lambda: not self.panel._ears._held, f"{key} is taken up")
            await self.settle()

    async def answer(self, task: asyncio.Task[Decision]) -> Decision:
        await until(self.pilot, task.done, "the answer")
        return task.result()


@asynccontextmanager
async def place(
    size: tuple[int, int] = (80, 24),
    theme: str = "default",
    *,
    deaf: float = 0.0,
    quiet: float = 0.001,
    clock: Callable[[], float] | None = None,
    **manner: Any,
) -> AsyncGenerator[Room, None]:
    app = Place(theme, deaf=deaf, quiet=quiet, **({"clock": clock} if clock else {}), **manner)
    async with app.run_test(size=size) as pilot:
        room = Room(app, pilot)
        try:
            yield room
        finally:
            app.approver.close()
            await asyncio.gather(*room.asked, return_exceptions=True)

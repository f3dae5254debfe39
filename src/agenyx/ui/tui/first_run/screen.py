"""Shows the steps of a first run, over everything else. What follows what is decided in `flow`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen

from agenyx.core.tty import safe
from agenyx.ui.spans import Line, line, wrap
from agenyx.ui.tui.first_run.flow import Flow
from agenyx.ui.tui.first_run.port import Choice, Ready, Stopped
from agenyx.ui.tui.first_run.secret import Secret
from agenyx.ui.tui.sheet import Foot, Sheet, app_of

T = TypeVar("T")
_LEAVE = ("escape", "ctrl+c", "ctrl+d")


class FirstRun(ModalScreen[Ready | None]):
    """`flow` makes the steps for this screen; the result is theirs."""

    DEFAULT_CSS = """
    FirstRun { align: center middle; background: $background; }
    FirstRun > Vertical { width: 100%; max-width: 100; height: auto; max-height: 100%; padding: 1 2; }
    FirstRun Sheet { height: auto; max-height: 100%; }
    FirstRun Secret { display: none; height: 1; }
    """

    def __init__(self, flow: Callable[[FirstRun], Flow], title: str) -> None:
        super().__init__()
        self._flow, self._title = flow, title
        self._rows: list[Line] = []
        self._choices: Sequence[Choice] = ()
        self._at = 0
        self._answer: asyncio.Future[str | None] | None = None
        self._work: asyncio.Task[object] | None = None
        self._hint = ""
        self.sheet = Sheet(self._lines)
        self.sheet.can_focus = True
        self.field = Secret()
        self._foot = Foot(self._foot_lines)
        self._flowing: asyncio.Task[None] | None = None

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self.sheet
            yield self.field
            yield self._foot

    def on_mount(self) -> None:
        self._flowing = asyncio.get_running_loop().create_task(self._run())

    def on_unmount(self) -> None:
        if self._flowing is not None:
            self._flowing.cancel()

    async def _run(self) -> None:
        try:
            ready = await self._flow(self).run(self._title)
        except Exception as error:  # noqa: BLE001 - the rim around the steps: a fault of ours is told as any other
            app_of(self)._handle_exception(error)  # pyright: ignore[reportPrivateUsage]
            return
        self._flowing = None
        self.dismiss(ready)

    # --- what the steps ask ------------------------------------------------------------------------------------------

    async def choose(self, title: str, choices: Sequence[Choice], note: str = "") -> str | None:
        self._pose(title, note, choices, "Up Down choose   Enter takes it   Esc back")
        self.sheet.focus()
        return await self._answered()

    async def enter(
        self, title: str, label: str, *, hidden: bool = False, text: str = "", note: str = ""
    ) -> str | None:
        self._pose(title, note, (), "Enter goes on   Esc back")
        self.field.hidden = hidden
        self.field.set(text, label=label)
        self.field.display = True
        self.field.focus()
        try:
            return await self._answered()
        finally:
            self.field.set("")
            self.field.display = False

    async def busy(self, text: str, work: Callable[[Callable[[str], None]], Awaitable[T]]) -> T:
        loop = asyncio.get_running_loop()

        def tell(words: str) -> None:
            loop.call_soon_threadsafe(self._pose, words, "", (), "Esc stops")

        self._pose(f"{text} ...", "", (), "Esc stops")
        self.sheet.focus()

        async def run() -> T:
            return await work(tell)

        task = loop.create_task(run())
        self._work = task
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            task.cancel()
            raise
        finally:
            self._work = None
        if task.cancelled():
            raise Stopped
        return task.result()

    async def _answered(self) -> str | None:
        self._answer = asyncio.get_running_loop().create_future()
        try:
            return await self._answer
        finally:
            self._answer = None

    def _pose(self, title: str, note: str, choices: Sequence[Choice], hint: str) -> None:
        self._rows = [line(safe(row), "title" if at == 0 else "") for at, row in enumerate(title.split("\n"))]
        if note:
            self._rows.append(line(safe(note), "warn"))
        self._choices, self._at, self._hint = choices, 0, hint
        self._draw()

    def _draw(self) -> None:
        self.sheet.show(self._lines, keep=True)
        self._foot.refresh(layout=True)

    # --- rows --------------------------------------------------------------------------------------------------------

    def _lines(self, width: int) -> list[Line]:
        made = [piece for row in self._rows for piece in (wrap(row, width) if row else [()])]
        made.append(())
        wide = max((len(choice.label) for choice in self._choices), default=0) + 2
        for at, choice in enumerate(self._choices):
            marked = at == self._at
            head = f"{'> ' if marked else '  '}{at + 1 if at < 9 else ' '}  {safe(choice.label).ljust(wide)}"
            row: Line = (("selected" if marked else "", head), ("selected" if marked else "dim", safe(choice.text)))
            made += wrap(row, width, " " * 5)
        return made

    def _foot_lines(self, width: int) -> list[Line]:
        return [(), *wrap(line(self._hint, "dim"), max(width - 1, 10))]

    # --- keys --------------------------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        key = event.key
        if key in ("ctrl+z", "ctrl+l"):
            return
        event.stop()
        event.prevent_default()
        if key in _LEAVE:
            self._leave()
        elif self.field.display:
            if key == "enter":
                self._give(self.field.text.strip())
        elif self._choices and key in ("up", "down", "tab", "shift+tab"):
            self._at = (self._at + (-1 if key in ("up", "shift+tab") else 1)) % len(self._choices)
            self._draw()
            top = len(self.sheet.rows_at(self.sheet.size.width)) - len(self._choices)
            self.sheet.reveal(top + self._at, top + self._at)
        elif self._choices and key == "enter":
            self._give(self._choices[self._at].name)
        elif self._choices and key.isdecimal() and 0 < int(key) <= len(self._choices):
            self._give(self._choices[int(key) - 1].name)

    def _give(self, answer: str | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(answer)

    def _leave(self) -> None:
        """One step back; what runs is stopped."""
        if self._work is not None:
            self._work.cancel()
        else:
            self._give(None)

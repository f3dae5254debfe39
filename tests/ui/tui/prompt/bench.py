"""The input on a screen of its own, with a conversation that only notes what it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace
from textual.app import App, ComposeResult

from agenyx.app.commands.spec import Command
from agenyx.app.commands.table import BUILTIN
from agenyx.ui.chat.fuzzy import Index
from agenyx.ui.tui.colours import PREFIX, themes
from agenyx.ui.tui.prompt.box import PromptBox
from agenyx.ui.tui.prompt.sources import Sources


class Waits:
    def __init__(self) -> None:
        self.running = False
        self.queued: list[str] = []

    def withdraw(self, index: int = -1) -> str | None:
        return self.queued.pop(index) if self.queued else None


class Earlier:
    def __init__(self, *newest_first: str) -> None:
        self.kept = list(newest_first)
        self.stored: list[str] = []

    def load(self) -> list[str]:
        return self.kept

    def store(self, text: str) -> None:
        self.stored.append(text)


class Listed:
    """Files that are there at once, or come when `gate` is set."""

    def __init__(self, *names: str) -> None:
        self.index, self.gate = Index(), asyncio.Event()
        self.index.add(names)
        self.gate.set()
        self.asked: list[str] = []

    async def search(self, query: str, most: int, show: Callable[[list[str]], None]) -> None:
        self.asked.append(query)
        await self.gate.wait()
        for found in self.index.search(query, most, lambda: False):
            show(found)


class Bench(App[None]):
    """`told` has what was sent, steered and run, in order; `complaints` what went wrong."""

    CSS = "Screen { layout: vertical; } #above { height: 1fr; }"

    def __init__(self, theme: str = "default", **given: Any) -> None:
        super().__init__()
        self.driver, self.told = Waits(), list[tuple[str, ...]]()
        self.complaints: list[tuple[str, str]] = []
        usual = Sources(
            self.driver,
            commands=lambda: BUILTIN,
            values=values,
            complain=lambda message, fix: self.complaints.append((message, fix)),
        )
        for one in themes():
            self.register_theme(one)
        self.theme = PREFIX + theme
        self.box = PromptBox(replace(usual, **given))

    def compose(self) -> ComposeResult:
        from textual.widgets import Static

        yield Static(id="above")
        yield self.box

    def on_mount(self) -> None:
        self.box.focus()

    @property
    def text(self) -> str:
        return self.box.editor.buffer.text

    @property
    def at(self) -> int:
        return self.box.editor.buffer.at

    def on_prompt_box_sent(self, message: PromptBox.Sent) -> None:
        self.told.append(("sent", message.text, *message.images))

    def on_prompt_box_steered(self, message: PromptBox.Steered) -> None:
        self.told.append(("steered", message.text))

    def on_prompt_box_shell(self, message: PromptBox.Shell) -> None:
        self.told.append(("shell", message.text))


async def values(command: Command, words: Sequence[str]) -> Sequence[tuple[str, str]]:
    return [(choice, "") for choice in command.choices]

"""Overlays by themselves: lists, texts, questions of the program, and how they look."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widget import Widget

from agenyx.app.commands.spec import Command, Desk, Reply
from agenyx.core.approval import Approval
from agenyx.core.errors import AgenyxError
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Effects
from agenyx.core.verdict import Reason, Verdict
from agenyx.ui.spans import Line, line
from agenyx.ui.tui.asking.approver import TuiApprover
from agenyx.ui.tui.asking.panel import AskPanel
from agenyx.ui.tui.colours import PREFIX, themes
from agenyx.ui.tui.keymap import Keymap
from agenyx.ui.tui.overlays import help as helping
from agenyx.ui.tui.overlays.confirm import Confirm
from agenyx.ui.tui.overlays.pager import Pager, text_rows
from agenyx.ui.tui.overlays.picker import Entry, Picker
from agenyx.ui.tui.overlays.words import Words
from support.tui import SIZES, rows, see, snapshot, text, until

GOLDEN = Path(__file__).with_name("golden")
MODELS = (
    Entry("gpt-5", "gpt-5", "400k window", current=True),
    Entry("gpt-5-mini", "gpt-5-mini", "400k window"),
    Entry("o3", "o3", "200k window"),
    Entry("whisper", "whisper", "", refused="It hears only."),
)


async def _shown() -> None:
    pass


class Below(Widget):
    DEFAULT_CSS = "Below { height: 1fr; }"

    def render(self) -> str:
        return "the conversation"


class Hall(App[None]):
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, theme: str = "default") -> None:
        super().__init__()
        self.approver = TuiApprover(_shown, lambda: 1.0, {})
        self.panel = AskPanel(Keymap(), env={}, quiet=0.001)
        for one in themes():
            self.register_theme(one)
        self.theme = PREFIX + theme
        self.result: list[Any] = []

    def compose(self) -> ComposeResult:
        yield Below()
        yield self.panel

    def on_mount(self) -> None:
        self.approver.attach(self.panel.present)


@asynccontextmanager
async def shown(
    screen: Screen[Any], size: tuple[int, int] = (80, 24), theme: str = "default"
) -> AsyncGenerator[Pilot[None], None]:
    app = Hall(theme)
    async with app.run_test(size=size) as pilot:
        app.push_screen(screen, app.result.append)
        await until(pilot, lambda: app.screen is screen and screen.is_mounted)
        await pilot.pause()
        yield pilot
        app.approver.close()


def closed(pilot: Pilot[None]) -> list[Any]:
    app = pilot.app
    assert isinstance(app, Hall)
    return app.result


def picker(entries: Sequence[Entry] = MODELS, **more: Any) -> Picker:
    return Picker("Models of this server", entries, Keymap(), **more)


# --- lists -----------------------------------------------------------------------------------------------------------


async def test_the_current_entry_is_marked_and_any_may_be_taken() -> None:
    async with shown(picker()) as pilot:
        assert any(row.strip("│ ").startswith(">* gpt-5 ") for row in rows(pilot.app))
        await pilot.press("down", "down", "enter")
        await until(pilot, lambda: closed(pilot) == ["o3"])


async def test_typing_filters_by_all_words_of_text_and_detail() -> None:
    async with shown(picker()) as pilot:
        await pilot.press(*"400", "space", *"MINI")
        await until(pilot, lambda: "o3" not in text(pilot.app))
        await pilot.press("enter")
        await until(pilot, lambda: closed(pilot) == ["gpt-5-mini"])


async def test_nothing_fits() -> None:
    async with shown(picker()) as pilot:
        await pilot.press("z", "z")
        await see(pilot, "nothing fits what is typed")
        await pilot.press("enter")
        await pilot.pause()
        assert closed(pilot) == []


async def test_an_entry_of_ones_own() -> None:
    async with shown(picker(own=lambda name: Entry(name, name, "not listed"))) as pilot:
        await pilot.press(*"qwen")
        await see(pilot, "not listed")
        await pilot.press("enter")
        await until(pilot, lambda: closed(pilot) == ["qwen"])


async def test_a_refusal_says_why_and_stays_open() -> None:
    async with shown(picker()) as pilot:
        await pilot.press("ctrl+n", "ctrl+n", "ctrl+n", "enter")
        await see(pilot, "It hears only.")
        assert closed(pilot) == []


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_closing_takes_nothing(key: str) -> None:
    async with shown(picker()) as pilot:
        await pilot.press("down", key)
        await until(pilot, lambda: closed(pilot) == [None])


async def test_entries_that_take_time_and_a_failure_that_says_what_to_do() -> None:
    go = asyncio.Event()

    async def load() -> Sequence[Entry]:
        await go.wait()
        raise AgenyxError("the models could not be listed: refused", "Name it with --model.")

    async with shown(Picker("Models", load, Keymap(), own=lambda name: Entry(name, name))) as pilot:
        await see(pilot, "one moment")
        go.set()
        await see(pilot, "the models could not be listed: refused. Name it with --model.")
        await pilot.press(*"m1", "enter")
        await until(pilot, lambda: closed(pilot) == ["m1"])


async def test_each_entry_that_is_passed_is_heard_of() -> None:
    seen: list[str] = []
    async with shown(picker(marked=lambda entry: seen.append(entry.value))) as pilot:
        await pilot.press("down", "down", "up")
        await until(pilot, lambda: seen == ["gpt-5", "gpt-5-mini", "o3", "gpt-5-mini"])


async def test_a_long_list_keeps_the_mark_on_the_screen() -> None:
    many = [Entry(str(number), f"entry {number}") for number in range(500)]
    async with shown(picker(many), (60, 15)) as pilot:
        await pilot.press("pagedown", "pagedown", "down")
        await until(pilot, lambda: any("> " in row and "entry" in row for row in rows(pilot.app)))
        marked = next(row for row in rows(pilot.app) if "entry" in row and ">" in row)
        await pilot.press("enter")
        await until(pilot, lambda: closed(pilot) and f"entry {closed(pilot)[0]}" in marked)


async def test_a_preview_follows_the_mark_and_scrolls() -> None:
    async def preview(entry: Entry) -> Any:
        def make(width: int) -> list[Line]:
            return [line(f"{entry.value} row {number}") for number in range(50)]

        return make

    async with shown(picker(preview=preview)) as pilot:
        await see(pilot, "gpt-5 row 0")
        await pilot.press("down")
        await see(pilot, "gpt-5-mini row 0")
        await pilot.press("tab", "pagedown")
        await until(pilot, lambda: "gpt-5-mini row 0" not in text(pilot.app) and "gpt-5-mini row" in text(pilot.app))
        await pilot.press("tab", "down")
        await see(pilot, "o3 row 0")


async def test_on_a_small_screen_the_preview_takes_the_place_of_the_list() -> None:
    async def preview(entry: Entry) -> Any:
        return lambda width: [line("the preview")]

    async with shown(picker(preview=preview), (60, 15)) as pilot:
        assert "the preview" not in text(pilot.app)
        await pilot.press("tab")
        await see(pilot, "the preview")
        assert "400k" not in text(pilot.app)


async def test_foreign_text_is_safe() -> None:
    bad = [Entry("x", "a\x1b[2J\n[red]b\u202e", "d\x07", lead="")]
    async with shown(picker(bad)) as pilot:
        assert "a\\x1b[2J [red]b\\u202e" in text(pilot.app)
        assert not set(text(pilot.app)) & {"\x1b", "\x07", "\u202e"}


# --- texts, words, yes and no ----------------------------------------------------------------------------------------


async def test_a_text_scrolls_and_is_searched_in() -> None:
    body = "\n".join(f"row {number} of {'odd' if number % 2 else 'even'}" for number in range(100))
    async with shown(Pager("A text", text_rows(body), Keymap())) as pilot:
        assert "row 0 of even" in text(pilot.app) and "row 60 " not in text(pilot.app)
        await pilot.press("pagedown")
        await until(pilot, lambda: "row 0 of" not in text(pilot.app) and "row 18 of" in text(pilot.app))
        await pilot.press(*"odd", "space", "9", "7")
        await until(pilot, lambda: "row 97 of odd" in text(pilot.app) and "even" not in text(pilot.app))
        await pilot.press("escape")
        await until(pilot, lambda: closed(pilot) == [None])


async def test_words_are_edited_and_given_up() -> None:
    async with shown(Words("A title", "the bug", Keymap())) as pilot:
        await pilot.press("ctrl+w", *"fix", "enter")
        await until(pilot, lambda: closed(pilot) == ["the fix"])
    async with shown(Words("A title", "the bug", Keymap())) as pilot:
        await pilot.press("escape")
        await until(pilot, lambda: closed(pilot) == [None])


@pytest.mark.parametrize(("key", "answer"), [("y", True), ("n", False), ("enter", False), ("escape", False)])
async def test_yes_and_no(key: str, answer: bool) -> None:
    async with shown(Confirm("Delete it?", "a\x1b[2J", deaf=0.0)) as pilot:
        assert "a\\x1b[2J" in text(pilot.app)
        await pilot.pause()
        await pilot.press("x", key)
        await until(pilot, lambda: closed(pilot) == [answer])


async def test_a_yes_that_was_typed_ahead_counts_for_nothing() -> None:
    async with shown(Confirm("Delete it?", "all of it", deaf=1e9)) as pilot:
        await pilot.press("y", "y")
        await pilot.pause()
        assert closed(pilot) == []
        await pilot.press("escape")
        await until(pilot, lambda: closed(pilot) == [False])


async def test_a_question_that_comes_meanwhile_is_told_and_waits() -> None:
    async with shown(picker()) as pilot:
        app = pilot.app
        assert isinstance(app, Hall)
        one = Approval(
            "apr_1", ToolCall("c", "w", "Bash", "{}"), Verdict("ask", (Reason("rule", "x"),)), Effects(preview="ls")
        )
        task = asyncio.ensure_future(app.approver.decide(one))
        await see(pilot, "a question waits")
        await pilot.press("y")  # it goes into the list's field
        await pilot.press("escape")
        await until(pilot, lambda: "Bash asks for approval" in text(app))
        await pilot.press("y")  # and this one comes too early
        await pilot.pause()
        assert not task.done()
        task.cancel()


# --- how they look ---------------------------------------------------------------------------------------------------


async def _nothing(desk: Desk, args: str) -> Reply:
    return Reply()


COMMANDS = (Command("model", "show the model, or go on with another one", _nothing, "[NAME]"),)


def _help() -> Pager:
    keymap = Keymap()
    return Pager("Keys and commands", lambda width: helping.rows(keymap, COMMANDS, width), keymap)


@pytest.mark.parametrize("theme", ["default", "light"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["picker", "help", "confirm"])
async def test_picture(name: str, size: tuple[int, int], theme: str) -> None:
    made: Screen[Any] = {
        "picker": lambda: picker(note="A turn runs: this waits until it is over."),
        "help": _help,
        "confirm": lambda: Confirm("Delete this session for good?", "the bug\n\nIt cannot be brought back."),
    }[name]()
    async with shown(made, size, theme) as pilot:
        await pilot.pause()
        snapshot(pilot.app, GOLDEN / f"{name}-{size[0]}x{size[1]}-{theme}.txt")


@pytest.mark.parametrize("theme", ["contrast", "ansi", "mono"])
async def test_what_is_marked_is_told_by_signs_in_every_theme(theme: str) -> None:
    async with shown(picker(), theme=theme) as pilot:
        await pilot.press("down")
        await until(pilot, lambda: any(row.strip("│ ").startswith(">  gpt-5-mini") for row in rows(pilot.app)))
        assert any(row.strip("│ ").startswith("* gpt-5 ") for row in rows(pilot.app))

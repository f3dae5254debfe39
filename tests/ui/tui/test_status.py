"""The status line and the panel at the side: what they say, what they leave out, and when they move."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace
from textual.app import App, ComposeResult

from agenyx.agent.context import Levels, Parts
from agenyx.app.status import Status
from agenyx.core.events import Usage
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Effects
from agenyx.ui.scene.pulse import Pulse
from agenyx.ui.spans import Glyphs, cells
from agenyx.ui.tui.aside_rows import Job, side_lines
from agenyx.ui.tui.colours import PREFIX, themes
from agenyx.ui.tui.figures import figures, fitted
from agenyx.ui.tui.status import StatusLine, duration
from support.tui import see, style_of, text

FULL = Status(
    "s1",
    "work",
    "gpt-5",
    "high",
    "acceptEdits",
    "/w",
    True,
    Usage(fresh=1000, cache_read=9000, out=50),
    12_800,
    "main",
    0.25,
    128_000,
    Levels(128_000, 120_000, 100_000, 110_000, 120_000),
    Parts(0, 0, 0, 0, 0),
    {},
)


def shown(width: int, status: Status = FULL, queued: int = 0) -> str:
    return "".join(piece for _, piece in fitted(figures(status, queued), width, Glyphs()))


def test_all_of_it_where_there_is_room() -> None:
    assert shown(150, queued=2) == (
        "2 queued · acceptEdits · gpt-5 · high · 10% of 128k context · cache 90% · $0.25 · main · no sandbox · work"
    )


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (85, "acceptEdits · gpt-5 · high · 10% of 128k context · $0.25 · main · no sandbox"),
        (75, "acceptEdits · gpt-5 · 10% of 128k context · $0.25 · main · no sandbox"),
        (60, "acceptEdits · gpt-5 · 10% of 128k context · $0.25 · main"),
        (40, "acceptEdits · gpt-5"),
        (12, "acceptEdits"),
        (3, ""),
    ],
)
def test_what_matters_least_goes_first(width: int, line: str) -> None:
    assert shown(width) == line
    assert cells(shown(width)) <= width


def test_names_of_others_are_safe_and_short() -> None:
    line = shown(200, replace(FULL, branch="x\x1b[2J\n" + "y" * 100, model="[b]m[/b]"))
    assert "x\\x1b[2J y" in line and "…" in line and "[b]m[/b]" in line and "\x1b" not in line


def test_what_is_not_known_is_left_out() -> None:
    bare = replace(FULL, usage=None, context=None, branch="", effort="", cost=None, persistent=False, mode="default")
    assert shown(150, bare) == "default · gpt-5 · no sandbox · in memory only · work"


def test_durations() -> None:
    assert [duration(seconds) for seconds in (0.9, 59.9, 60, 187, 7500)] == ["0s", "59s", "1m 00s", "3m 07s", "2h 05m"]


class Loop:
    """What the line asks of the loop."""

    def __init__(self) -> None:
        self.hint, self.last, self.running, self.queued = "", FULL, False, ()


class Line(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0
        self.pulse = Pulse(lambda: self.now)
        self.line = StatusLine(lambda: self.pulse, clock=lambda: self.now)
        for one in themes():
            self.register_theme(one)
        self.theme = PREFIX + "default"

    def compose(self) -> ComposeResult:
        yield self.line


@asynccontextmanager
async def a_line(width: int = 80) -> AsyncGenerator[tuple[Line, Any], None]:
    app = Line()
    async with app.run_test(size=(width, 3)) as pilot:
        yield app, pilot


async def test_it_says_what_runs_and_moves_only_then() -> None:
    async with a_line(100) as (app, pilot):
        loop = Loop()
        app.line.update(loop)
        await see(pilot, "acceptEdits")
        assert app.line._beat is None
        loop.running = True
        app.pulse.since, app.pulse.doing = 93.0, "thinking"
        app.line.update(loop)
        await see(pilot, "7s · Esc stops · thinking")
        assert app.line._beat is not None and app.line._beat._interval >= 0.25
        app.pulse.calls["c"] = (ToolCall("c", "w", "Bash", '{"command":"npm test\\u001b[2J"}'), Effects())
        app.pulse.running["c"] = 95.0
        app.line.update(loop)
        await see(pilot, "running Bash npm test\\x1b[2J")
        app.pulse.asked["apr"] = None  # type: ignore[assignment]
        app.line.update(loop)
        await see(pilot, "waits for your answer")
        loop.running = False
        app.line.update(loop)
        await pilot.pause()
        assert app.line._beat is None and "answer" not in text(app)


async def test_a_hint_outranks_what_runs() -> None:
    async with a_line(60) as (app, pilot):
        loop = Loop()
        loop.hint = "Ctrl+C once more leaves, so does Ctrl+D"
        app.line.update(loop)
        await see(pilot, "Ctrl+C once more leaves")
        assert style_of(app, "Ctrl+C once").startswith("#e6c46a")


async def test_nothing_is_drawn_where_nothing_changed() -> None:
    async with a_line() as (app, pilot):
        loop = Loop()
        app.line.update(loop)
        await see(pilot, "gpt-5")
        drawn: list[int] = []
        app.line.refresh = lambda *_, **__: drawn.append(1)  # type: ignore[method-assign,assignment]
        app.line.update(loop)
        assert drawn == []


def test_the_side_shows_tasks_children_jobs_and_files() -> None:
    made = side_lines(
        [("completed", "read"), ("in_progress", "writing the\x1b test"), ("pending", "x" * 80)],
        [Job("job_1", True, "running", "npm run\nwatch")],
        {"a": "a: reads"},
        {"src/a/very/long/path/that/does/not/fit/here.py": 3, "b.py": 1},
        30,
        Glyphs(),
    )
    lines = ["".join(piece for _, piece in row) for row in made]
    assert lines[0] == "Tasks 1/3" and "[x] read" in lines and "[>] writing the\\x1b test" in lines
    assert "job_1 running: npm run watch" in lines and "a: reads" in lines
    assert lines[lines.index("Files 2") + 1] == "b.py"
    assert any(row.startswith("…") and row.endswith("here.py x3") for row in lines)
    assert all(cells(row) <= 30 for row in lines)

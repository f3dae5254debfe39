"""The transcript as it looks: three sizes, two themes, closed and opened."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.tui import SIZES, snapshot
from ui.tui.transcript.rich import Shown, rich, running

GOLDEN = Path(__file__).with_name("golden")


@pytest.mark.parametrize("theme", ["default", "light"])
@pytest.mark.parametrize("size", SIZES, ids=lambda size: "x".join(map(str, size)))
@pytest.mark.parametrize("opened", [False, True], ids=["closed", "opened"])
async def test_a_rich_conversation(theme: str, size: tuple[int, int], opened: bool) -> None:
    app = Shown(rich(), theme)
    async with app.run_test(size=size) as pilot:
        if opened:
            app.view.toggle_all()
            app.view.look(app.view.window.to_start)
            app.view.page(1 if size[1] < 50 else 0)
        await pilot.pause()
        name = f"rich-{size[0]}x{size[1]}-{theme}-{'opened' if opened else 'closed'}.txt"
        snapshot(app, GOLDEN / name, coloured=size == (80, 24))


@pytest.mark.parametrize("theme", ["ansi", "contrast", "mono"])
async def test_a_turn_that_runs(theme: str) -> None:
    app = Shown(running(), theme)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        snapshot(app, GOLDEN / f"running-80x24-{theme}.txt")

"""How the input looks with something waiting, something to choose and a mark in the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.events import Paste

from support.tui import SIZES, see, snapshot
from ui.tui.prompt.bench import Bench, Earlier, Listed

GOLDEN = Path(__file__).with_name("golden")


@pytest.mark.parametrize("theme", ["default", "light"])
@pytest.mark.parametrize("size", SIZES)
async def test_choosing_a_file(size: tuple[int, int], theme: str) -> None:
    app = Bench(theme=theme, files=Listed("src/", "src/loop.py", "src/漢字 loop.py", "docs/loop.md"))
    async with app.run_test(size=size) as pilot:
        app.driver.queued = ["then run the tests", "and\ncommit"]
        app.box.refresh_queue()
        await pilot.press(*"fix ")
        app.post_message(Paste("\n".join(map(str, range(40)))))
        await see(pilot, "[Pasted text #1, 40 lines]")
        await pilot.press(*" in @loop")
        await see(pilot, "> src/loop.py")
        await pilot.press("down")
        await see(pilot, "> docs/loop.md")
        snapshot(app, GOLDEN / f"files-{size[0]}x{size[1]}-{theme}.txt")


@pytest.mark.parametrize("theme", ["default", "mono"])
async def test_searching(theme: str) -> None:
    app = Bench(theme=theme, history=Earlier("fix the lexer", "fix\nthe\nparser\nof\nmine", "look"))
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.pause()
        await pilot.press(*"draft", "ctrl+r", "ctrl+u", *"fix", "down")
        await see(pilot, "… 2 more lines")
        snapshot(app, GOLDEN / f"search-60x15-{theme}.txt")

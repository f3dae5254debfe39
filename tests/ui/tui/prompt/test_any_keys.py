"""Whatever keys come in whatever order: nothing breaks, the caret stands in the text, and undo leads back."""

from __future__ import annotations

import random

import pytest
from textual.events import Key, Paste

from agenyx.ui.tui.prompt.buffer import Buffer
from agenyx.ui.tui.prompt.editing import EDITS
from agenyx.ui.tui.prompt.graphemes import UNITS
from agenyx.ui.tui.prompt.rows import Rows
from agenyx.ui.tui.prompt.vim import Vim
from ui.tui.prompt.bench import Bench, Earlier, Listed

PIECES = [
    "a",
    "B c",
    "漢",
    "\U0001f469\u200d\U0001f467",
    "e\u0301",
    "\n",
    "\t",
    " ",
    UNITS[0],
    "(x)",
    '"q"',
    "שָׁ",
    "-",
    "\u200d",
]


def text_of(random_: random.Random) -> str:
    return "".join(random_.choices(PIECES, k=random_.randrange(0, 25)))


@pytest.mark.parametrize("seed", range(20))
def test_editing_keys(seed: int) -> None:
    random_ = random.Random(seed)
    for _ in range(30):
        buffer = Buffer(text_of(random_))
        first = buffer.text
        for _ in range(60):
            if random_.random() < 0.3:
                buffer.insert(random_.choice(PIECES))
            else:
                EDITS[random_.choice(list(EDITS))](buffer)
            assert 0 <= buffer.at <= len(buffer.text)
            rows = Rows(buffer.text, 12, {})
            row, _ = rows.place(buffer.at)
            assert 0 <= row < len(rows)
        while buffer.undo():
            pass
        assert buffer.text == first


@pytest.mark.parametrize("seed", range(20))
def test_keys_of_vi(seed: int) -> None:
    random_ = random.Random(seed)
    keys = [*"hjklwbeWBE0^$gGdcyxXDCYsSpPJ~rRiIaAoOuv.fFtT;,123\"'()zq", "escape", "escape", "ctrl+r"]
    for _ in range(30):
        buffer = Buffer(text_of(random_))
        vim = Vim(buffer, lambda by: None)
        for _ in range(80):
            key = random_.choice(keys)
            if not vim.key(key) and vim.mode == "insert":
                buffer.insert(key if len(key) == 1 else "ü")
            assert 0 <= buffer.at <= len(buffer.text)
            if vim.mode == "normal":
                assert buffer.mark is None
                line = buffer.text[: buffer.at].rpartition("\n")[2] + buffer.text[buffer.at :].partition("\n")[0]
                assert not line or buffer.text[buffer.at : buffer.at + 1] not in ("", "\n")
        vim.key("escape")
        vim.key("escape")
        assert vim.mode == "normal" and vim.held == ""


@pytest.mark.parametrize("seed", range(4))
async def test_the_whole_input(seed: int) -> None:
    random_ = random.Random(seed)
    names = [*EDITS, "up", "down", "enter", "tab", "escape", "ctrl+r", "ctrl+j", "alt+up", "ctrl+s", "pageup", "ctrl+g"]
    app = Bench(
        vim=seed % 2 == 1,
        history=Earlier("one", "two\nlines", "x" * 3_000),
        files=Listed("src/", "src/a b.py", "shot.png"),
        env={"EDITOR": "false"},
    )
    async with app.run_test(size=(40, 12)) as pilot:
        for _ in range(400):
            dice = random_.random()
            if dice < 0.03:
                app.post_message(Paste(random_.choice(["x\n" * 30, "\x1b[201~y", "漢" * 2_000, "/no/such.png"])))
            elif dice < 0.5:
                app.post_message(Key(char := random_.choice("ab @/!\\漢é\u0301"), char))
            else:
                app.post_message(Key(random_.choice(names), None))
            if dice > 0.9:
                app.driver.running = not app.driver.running
                app.driver.queued = ["waits"] * random_.randrange(0, 5)
                app.box.refresh_queue()
                await pilot.pause()
        await pilot.pause()
        assert 0 <= app.at <= len(app.text)
        assert app.box.size.height <= 12

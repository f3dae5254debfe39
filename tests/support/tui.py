"""What a full-screen surface shows, as text: rows of the compositor, runs of style, and snapshots of both.

    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("h", "i")
        assert "hi" in "\\n".join(rows(app))
        snapshot(app, Path(__file__).with_name("golden") / "greeting-80x24-dark.txt")

A snapshot that differs fails with the difference. AGENYX_WRITE_GOLDEN=1 writes them anew: read the diff
before you keep it.
"""

from __future__ import annotations

import asyncio
import difflib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.app import App
from textual.pilot import Pilot
from textual.strip import Strip

SIZES = ((60, 15), (80, 24), (200, 50))
DEADLINE = 30.0  # seconds until a condition that never came true fails a test


def strips(app: App[Any]) -> list[Strip]:
    """What the compositor draws now, all layers of the screen on top."""
    return app.screen._compositor.render_strips()


def rows(app: App[Any]) -> list[str]:
    """The visible rows, without blanks at their ends."""
    return [strip.text.rstrip() for strip in strips(app)]


def text(app: App[Any]) -> str:
    return "\n".join(rows(app))


def styles(app: App[Any]) -> list[list[tuple[str, str]]]:
    """Each row as runs of one style: (style in words, text). Blank ends of rows that bear no style are left out."""
    found: list[list[tuple[str, str]]] = []
    for strip in strips(app):
        runs: list[tuple[str, str]] = []
        for segment in strip:
            style = _words(segment.style)
            if runs and runs[-1][0] == style:
                runs[-1] = (style, runs[-1][1] + segment.text)
            else:
                runs.append((style, segment.text))
        found.append(runs)
    return found


def _words(style: Any) -> str:
    if style is None:
        return ""
    flags = [name for name in ("bold", "dim", "italic", "underline", "reverse", "strike") if getattr(style, name)]
    colour = style.color.name if style.color is not None else ""
    ground = style.bgcolor.name if style.bgcolor is not None else ""
    return " ".join([*flags, *([colour] if colour else []), *([f"on {ground}"] if ground else [])])


def style_of(app: App[Any], needle: str) -> str:
    """The style of the first run that holds this text, in words."""
    for row in styles(app):
        for style, part in row:
            if needle in part:
                return style
    raise AssertionError(f"{needle!r} is not on the screen:\n{text(app)}")


def picture(app: App[Any], *, coloured: bool = True) -> str:
    """Rows in a frame, then the runs of style that are not blank."""
    shown = rows(app)
    wide = app.size.width
    lines = [f"+{'-' * wide}+", *(f"|{_padded(row, wide)}|" for row in shown), f"+{'-' * wide}+"]
    if coloured:
        for number, row in enumerate(styles(app)):
            runs = [f"{part.strip()!r}: {style}" for style, part in row if part.strip() and style]
            lines += [f"{number:>3}  {run}" for run in runs]
    return "\n".join(lines) + "\n"


def _padded(row: str, wide: int) -> str:
    from agenyx.ui.spans import cells

    return row + " " * (wide - cells(row))


def snapshot(app: App[Any], path: Path, *, coloured: bool = True) -> None:
    """Fail where the screen is not what the file says."""
    now = picture(app, coloured=coloured)
    if os.environ.get("AGENYX_WRITE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(now, "utf-8")
        return
    assert path.exists(), f"{path} is missing; write it with AGENYX_WRITE_GOLDEN=1. The screen:\n{now}"
    before = path.read_text("utf-8")
    if now != before:
        changed = "".join(difflib.unified_diff(before.splitlines(True), now.splitlines(True), "golden", "now"))
        raise AssertionError(f"{path.name} differs:\n{changed}")


async def until(pilot: Pilot[Any], condition: Callable[[], object], what: str = "the condition") -> None:
    """Let the app work until `condition` holds."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"never happened: {what}. The screen:\n{text(pilot.app)}"
        await pilot.pause()
        await asyncio.sleep(0.005)


async def see(pilot: Pilot[Any], needle: str) -> None:
    """Wait until a text stands on the screen."""
    await until(pilot, lambda: needle in text(pilot.app), f"{needle!r} on the screen")

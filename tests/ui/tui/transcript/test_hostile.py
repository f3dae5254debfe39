"""Hostile texts (S66, S68): whatever a block holds, the rows hold nothing that acts, are never read as markup, and are
made in bounded time and number."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from agenyx.core.events import (
    CallDraft,
    EffectStarted,
    Notice,
    Outcome,
    Output,
    ReasoningDelta,
    TextDelta,
    TurnFinished,
)
from agenyx.core.messages import Media
from agenyx.core.tools import Effects
from agenyx.ui.scene.blocks import Block
from agenyx.ui.spans import Glyphs, Line, cells, plain
from agenyx.ui.tui.transcript import answer
from agenyx.ui.tui.transcript.render import Renderer
from support.scenes import Stage, agent_of, call, change, finished
from support.tui import strips, text
from ui.tui.transcript.rich import Shown

HOSTILE = [
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\",
    "\x1b[2J\x1b[H",
    "\x9b2J\x9d0;t\x9c",
    "\rover",
    "\x07\x08\x7f\x00",
    "a\u202eb\u2066c\u200b\ufeff",
    "[bold]x[/bold] [link=http://evil]y[/link] [/] [@click=app.quit]z[/]",
    "\x1bP+q\x1b\\",
    "\u2028\u2029",
]
WIDTHS = (8, 60, 150)


def scene_of(evil: str) -> Stage:
    """The text in every place that a stranger can fill."""
    scene = Stage()
    scene.typed(evil)
    scene.typed(evil, steer=True)
    scene.say(evil)
    scene.complain(evil, evil)
    scene.diff(evil)
    scene.events(
        Notice("warning", evil, evil),
        ReasoningDelta(0, evil),
        TextDelta(1, f"{evil}\n```python\n{evil}\n```\n|{evil}|\n"),
    )
    args = f'{{"command":{json_text(evil)},"pattern":{json_text(evil)},{json_text(evil)}:{json_text(evil)}}}'
    one = call(evil, args, "call_1")
    media = (Media("image", evil, "0" * 64, 1, evil),)
    scene.ran(one, evil, effects=Effects(script=evil), media=media)
    scene.ran(
        call("Edit", args, "call_2"), evil, effects=change(evil, f"--- {evil}\n+++ {evil}\n-{evil}\n+{evil}x\n {evil}")
    )
    scene.ran(call("Read", evil, "call_3"), evil, "error")
    scene.ran(call("Grep", '{"pattern":"x"}', "call_4"), f"{evil}:3:{evil}\n{evil}:4:x")
    task = call("Task", id="call_task0001")
    scene.ran(call("Bash", args, "call_in000001"), evil, agent=agent_of(task))
    running = call("Bash", args, "call_5")
    scene.calls(task, running)
    scene.events(EffectStarted((running.id,)), Output(running.id, evil.encode("utf-8", "replace") * 3))
    scene.events(TextDelta(0, evil), agent=agent_of(task))
    scene.events(TurnFinished(Outcome("failed", evil), evil, 1, 1.0))
    scene.events(CallDraft(0, evil, f'{{"file_path":{json_text(evil)},"content":"{evil}\\n{evil}'))
    return scene


def json_text(value: str) -> str:
    from agenyx.core import json

    return json.encode(value).decode()


def every_row(scene: Stage, width: int, *, opened: bool) -> Iterator[Line]:
    renderer = Renderer(Glyphs(), lambda _: opened, scene.time)
    for block in scene.blocks:
        yield from renderer.rendered(block, width).rows


@pytest.mark.parametrize("evil", HOSTILE)
@pytest.mark.parametrize("opened", [False, True])
def test_no_row_holds_what_a_terminal_would_act_on(evil: str, opened: bool) -> None:
    for width in WIDTHS:
        for row in every_row(scene_of(evil), width, opened=opened):
            shown = plain(row)
            assert all(char.isprintable() or char == " " for char in shown), (width, shown)
            assert not {"\u202e", "\u2066", "\u200b", "\ufeff"} & set(shown)


def test_texts_that_are_put_together_at_random() -> None:
    source = random.Random(68)
    alphabet = [
        *HOSTILE,
        "```",
        "\n",
        "| a | b |\n|---|---|\n",
        "**",
        "`",
        "é",
        "日本",
        "\t",
        "x" * 50,
        "@@ -1,1 +1,1 @@\n",
    ]
    for _ in range(40):
        evil = "".join(source.choice(alphabet) for _ in range(source.randrange(1, 30)))
        for row in every_row(scene_of(evil), source.choice(WIDTHS), opened=source.random() < 0.5):
            assert all(char.isprintable() or char == " " for char in plain(row)), evil


@pytest.mark.parametrize("width", WIDTHS)
def test_no_row_is_wider_than_it_may_be(width: int) -> None:
    for evil in (*HOSTILE, "x" * 500, "日本語" * 200, "a\tb" * 50):
        for row in every_row(scene_of(evil), width, opened=True):
            if width > 40:  # on a screen of eight columns signs alone may take more; it is cut where it is drawn
                assert cells(plain(row)) <= width, (evil, plain(row))


async def test_nothing_hostile_is_in_the_bytes_of_the_screen_and_markup_is_text() -> None:
    evil = "".join(HOSTILE)
    app = Shown(scene_of(evil))
    async with app.run_test(size=(100, 200)) as pilot:
        app.view.toggle_all()
        await pilot.pause()
        drawn = text(app)
        assert "[bold]x[/bold] [link=http://evil]y[/link]" in drawn
        for strip in strips(app):
            rendered = strip.render(app.console)
            without = _without_own(rendered)
            assert "\x1b" not in without and "\x9b" not in without, rendered
            assert all(char.isprintable() for char in without), without
        assert not any(segment.style and segment.style.link for strip in strips(app) for segment in strip)


def _without_own(rendered: str) -> str:
    """Without the sequences that set colours, which the toolkit makes of our styles."""
    import re

    return re.sub(r"\x1b\[[0-9;]*m", "", rendered)


# --- size ----------------------------------------------------------------------------------------------------------


def rows_of(block: Block, *, opened: bool = True) -> list[Line]:
    return Renderer(Glyphs(), lambda _: opened, lambda: 0.0).rendered(block, 80).rows


def test_one_line_of_five_megabytes() -> None:
    scene = Stage()
    whole = "x" * 5_000_000
    scene.typed(whole)
    scene.say(whole)
    scene.events(TextDelta(0, whole))
    scene.ran(call("Bash", '{"command":"cat x"}'), whole, effects=Effects(script="cat x"))
    scene.ran(call("Read", id="call_2"), whole)
    for block in scene.blocks:
        rows = rows_of(block)
        assert 1 < len(rows) < 200
        assert any("more characters" in plain(row) for row in rows) or "Card" in type(block).__name__


def test_a_million_short_lines() -> None:
    scene = Stage()
    whole = "y\n" * 1_000_000
    scene.typed(whole)
    scene.events(TextDelta(0, whole))
    scene.ran(call("Bash", '{"command":"yes"}'), whole[:100_000], effects=Effects(script="yes"))
    for block in scene.blocks:
        rows = rows_of(block)
        assert len(rows) <= answer.MOST + 10
        assert "more" in plain(rows[-1])


def test_five_megabytes_in_pieces_are_shown_while_they_come() -> None:
    scene = Stage()
    renderer = Renderer(Glyphs(), lambda _: False, scene.time)
    for _ in range(500):
        scene.events(TextDelta(0, "z" * 10_000))
        rows = renderer.rendered(scene.blocks[0], 80).rows
        assert len(rows) < 100


@pytest.mark.parametrize(
    "text",
    [
        "> " * 3000 + "deep",
        "- " * 3000 + "deep",
        "*" * 5000,
        "**a " * 2000,
        "[" * 5000 + "](x)" * 500,
        "`" * 5001,
        "|" + " a |" * 3000 + "\n|" + "---|" * 3000 + "\n" + ("|" + " b |" * 3000 + "\n") * 20,
        "| a | b |\n|---|---|\n" + "| c | d |\n" * 20_000,
        "```\n" * 5000,
        "e\u0301\u0301\u0301" * 3000,
        "👩‍" * 3000,
        "# " * 4000,
        "\n" * 100_000,
    ],
    ids=lambda text: repr(text[:6]),
)
def test_markdown_that_is_made_to_be_slow(text: str) -> None:
    rows = answer.render(text, 80, Glyphs())
    assert len(rows) <= answer.MOST + 10
    assert all(cells(plain(row)) <= 80 for row in rows)


def test_a_long_draft_is_shown_while_it_comes() -> None:
    scene = Stage()
    renderer = Renderer(Glyphs(), lambda _: False, scene.time)
    scene.events(CallDraft(0, "Write", '{"file_path":"big.py","content":"'))
    for number in range(2_000):
        scene.events(CallDraft(0, "", f"line {number}\\n"))
        if number % 50 == 0:
            assert len(renderer.rendered(scene.blocks[0], 80).rows) <= 5
    assert "2,001 lines" in plain(renderer.rendered(scene.blocks[0], 80).rows[0])


def test_a_result_that_comes_for_an_unknown_call_is_safe_too() -> None:
    scene = Stage()
    scene.events(finished(call("\x1b[2J", id="call_9"), "\x1b[2J"))
    assert all(char.isprintable() for row in every_row(scene, 60, opened=True) for char in plain(row))

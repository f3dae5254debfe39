"""What is in view: estimates, anchors, following the end; without a screen."""

from __future__ import annotations

import random

from agenyx.core.events import StepStarted, TextDelta
from agenyx.ui.scene.blocks import Answer, Block
from agenyx.ui.spans import Glyphs, plain
from agenyx.ui.tui.transcript.render import Renderer
from agenyx.ui.tui.transcript.window import Window
from support.scenes import Stage


def window_of(scene: Stage, width: int = 40, height: int = 10) -> Window:
    window = Window(scene, Renderer(Glyphs(), lambda _: False, scene.time))
    window.resize(width, height)
    window.sync()
    return window


def seen(window: Window) -> list[str]:
    return [plain(window.row(window.top + at)[0]) for at in range(window.height)]


def filled(count: int, words: int = 12) -> Stage:
    scene = Stage()
    for number in range(count):
        scene.typed(f"question {number}")
        scene.say(" ".join(f"word{number}" for _ in range(words)))
    return scene


def test_the_end_is_in_view_and_stays_there() -> None:
    scene = filled(50)
    window = window_of(scene)
    assert "question 49" in "\n".join(seen(window))
    scene.say("and more")
    window.sync()
    assert seen(window)[-1] == "and more"
    assert window.follows and window.below == 0


def test_nothing_and_little_are_shown_from_the_top() -> None:
    scene = Stage()
    window = window_of(scene)
    assert (window.total, window.top) == (0, 0)
    assert seen(window) == [""] * 10
    scene.say("one")
    window.sync()
    assert seen(window)[0] == "one"
    window.move(-5)
    window.move(5)
    assert seen(window)[0] == "one"


def test_who_looks_back_is_not_moved_and_is_told_what_is_new() -> None:
    scene = filled(50)
    window = window_of(scene)
    window.move(-20)
    before = seen(window)
    scene.events(StepStarted(), *(TextDelta(0, f"row {n}\n") for n in range(7)))
    window.sync()
    assert seen(window) == before
    assert window.below == 8  # and the blank before it
    scene.events(TextDelta(0, "row 7\n"))
    window.sync()
    assert (seen(window), window.below) == (before, 9)
    window.to_end()
    assert window.below == 0 and seen(window)[-1] == "row 7"


def test_every_row_is_met_once_on_the_way_up_and_down_again() -> None:
    scene = filled(60)
    window = window_of(scene)
    end = seen(window)
    up = list(reversed(end))
    while True:
        before = seen(window)
        window.move(-1)
        if seen(window) == before:
            break
        up.append(seen(window)[0])
    down = seen(window)
    for _ in range(len(up)):
        before = seen(window)
        window.move(1)
        if seen(window) == before:
            break
        down.append(seen(window)[-1])
    assert list(reversed(up)) == down
    assert sum("question" in row for row in down) == 60
    assert window.follows and seen(window) == end


def test_pages_meet_every_question() -> None:
    scene = filled(60)
    window = window_of(scene)
    met = set(seen(window))
    for _ in range(100):
        window.move(-8)
        met |= set(seen(window))
    assert {f"> question {number}" for number in range(60)} <= met
    assert window.top == 0


def test_another_width_keeps_the_reading_place() -> None:
    scene = filled(80)
    window = window_of(scene)
    window.move(-60)
    while "question" not in seen(window)[0]:
        window.move(-1)
    first = seen(window)[0]
    for width in (25, 70, 20, 40):
        window.resize(width, 10)
        assert seen(window)[0] == first, width
    assert not window.follows
    window.to_end()
    window.resize(30, 6)
    assert "word79" in seen(window)[-1]


def test_only_what_is_looked_at_is_drawn() -> None:
    scene = filled(500)
    drawn: list[int] = []

    class Counting(Renderer):
        def _made(self, block: Block, width: int, opened: bool, depth: int):  # type: ignore[no-untyped-def]
            drawn.append(block.key)
            return super()._made(block, width, opened, depth)

    window = Window(scene, Counting(Glyphs(), lambda _: False, scene.time))
    window.resize(40, 10)
    window.sync()
    assert len(set(drawn)) < 15
    drawn.clear()
    window.move(-1)
    assert len(drawn) <= 2
    window.to(window.total // 2)
    assert len(set(drawn)) < 20


def test_estimates_become_right_and_sums_agree() -> None:
    scene = filled(100, words=40)
    window = window_of(scene)
    window.to_start()
    assert seen(window)[0] == "> question 0"
    while not window.follows:
        window.move(10)
    rows = [plain(window.row(at)[0]) for at in range(window.total)]
    assert sum("> question" in row for row in rows) == 100


def test_jumps_to_any_place_and_back_never_fail() -> None:
    source = random.Random(3)
    scene = filled(300)
    window = window_of(scene)
    for _ in range(300):
        match source.randrange(6):
            case 0:
                window.to(source.randrange(-5, window.total + 5))
            case 1:
                window.move(source.randrange(-50, 50))
            case 2:
                window.resize(source.randrange(8, 100), source.randrange(1, 30))
            case 3:
                scene.say("new " * source.randrange(1, 50))
                window.sync()
            case 4:
                scene.events(TextDelta(0, "text " * source.randrange(1, 9)))
                window.sync()
            case _:
                window.to_end() if source.random() < 0.5 else window.to_start()
        assert 0 <= window.top <= max(window.total - 1, 0)
        assert window.top + window.height <= window.total or window.top == max(window.total - window.height, 0)
        assert len(seen(window)) == window.height


def test_blocks_that_are_withdrawn_leave_no_rows() -> None:
    from agenyx.core.events import Retrying

    scene = filled(3)
    window = window_of(scene)
    before = window.total
    scene.events(StepStarted(), TextDelta(0, "half\n" * 30))
    window.sync()
    assert window.total > before
    scene.events(Retrying(1, 5, 1.0, "busy"))
    window.sync()
    assert window.total == before + 2  # a blank and what is told
    assert "busy" in seen(window)[-1]


def test_another_conversation_is_shown_from_its_end() -> None:
    scene = filled(50)
    window = window_of(scene)
    window.move(-30)
    scene.restart([Answer(key=scene.key(), pieces=["only this"])])
    window.sync()
    assert seen(window)[0] == "only this" and window.follows


def test_older_blocks_are_fetched_on_the_way_up_and_do_not_move_the_view() -> None:
    scene = Stage()
    older = [[Answer(key=scene.key(), pieces=[f"old {page} {at}"]) for at in range(50)] for page in range(3)]
    scene.restart(
        [Answer(key=scene.key(), pieces=[f"new {at}"]) for at in range(50)], lambda: older.pop() if older else []
    )  # type: ignore[arg-type,return-value]
    window = window_of(scene)
    met = list(reversed(seen(window)))
    for _ in range(2000):
        window.move(-1)
        met.append(seen(window)[0])
        if not window.top and not scene.has_older:
            break
    texts = [row for row in reversed(met) if row]
    assert list(dict.fromkeys(texts)) == [
        *(f"old {page} {at}" for page in range(3) for at in range(50)),
        *(f"new {at}" for at in range(50)),
    ]
    assert not scene.has_older


def test_an_open_answer_is_parsed_once(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    from agenyx.ui.markdown import Markdown

    fed: list[int] = []
    feed = Markdown.feed
    monkeypatch.setattr(Markdown, "feed", lambda self, text: (fed.append(len(text)), feed(self, text))[1])
    scene = Stage()
    window = window_of(scene)
    for number in range(200):
        scene.events(TextDelta(0, f"line {number}\n"))
        window.sync()
    assert sum(fed) == sum(len(f"line {number}\n") for number in range(200))

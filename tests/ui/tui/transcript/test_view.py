"""Flows of the transcript on a screen: scrolling, cards, the cursor, search, copies, the editor, the mouse."""

from __future__ import annotations

import re
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from textual.geometry import Region
from textual.pilot import Pilot

from agenyx.core.events import EffectStarted, Output, StepStarted, TextDelta
from agenyx.core.tools import Effects
from agenyx.ui.scene.blocks import Said
from agenyx.ui.tui.colours import PREFIX
from agenyx.ui.tui.transcript.view import TranscriptView
from support.scenes import Stage, call, finished
from support.tui import rows, see, style_of, styles, text, until
from ui.tui.transcript.rich import Shown, rich, running


def long(count: int = 60) -> Stage:
    scene = Stage()
    for number in range(count):
        scene.typed(f"question {number}")
        scene.say(f"answer {number}")
    return scene


async def show(pilot: Pilot[Any]) -> None:
    pilot.app.query_one(TranscriptView).refresh_scene()
    await pilot.pause()


def cursor_row(app: Shown) -> str:
    return next((row for row in rows(app) if row.startswith("▌")), "")


async def test_text_that_streams_is_followed_and_looking_back_stays() -> None:
    app = Shown(long())
    async with app.run_test(size=(60, 15)) as pilot:
        assert rows(app)[-1].strip() == "answer 59"
        app.scene.events(StepStarted(), *(TextDelta(0, f"row {n}\n") for n in range(4)))  # type: ignore[attr-defined]
        await show(pilot)
        assert rows(app)[-1].strip() == "row 3"
        app.view.page(-1)
        await pilot.pause()
        before = [row[:59].rstrip() for row in rows(app)[:-1]]  # without the scrollbar
        app.scene.events(*(TextDelta(0, f"row {n}\n") for n in range(4, 9)))  # type: ignore[attr-defined]
        await show(pilot)
        assert [row[:59].rstrip() for row in rows(app)[:-1]] == before
        assert "↓ 5 new lines below" in rows(app)[-1]
        app.view.focus()
        await pilot.press("end")
        assert rows(app)[-1].strip(" ▌") == "row 8"
        assert "below" not in text(app)


async def test_a_click_on_what_is_new_goes_to_the_end() -> None:
    app = Shown(long())
    async with app.run_test(size=(60, 15)) as pilot:
        app.view.page(-1)
        app.scene.say("newest")
        await show(pilot)
        await pilot.click(TranscriptView, offset=(50, 14))
        assert rows(app)[-1].strip() == "newest"


async def test_the_wheel_and_the_scrollbar_move_the_view() -> None:
    app = Shown(long())
    async with app.run_test(size=(60, 15)) as pilot:
        before = rows(app)
        app.view.post_message(_wheel(app, up=True))
        await until(pilot, lambda: rows(app) != before)
        assert rows(app)[3:] == before[:-3] or rows(app)[3][:20] == before[0][:20]
        app.view.scroll_to(y=0, animate=False)
        await see(pilot, "question 0")
        app.view.scroll_to(y=10_000, animate=False)
        await see(pilot, "answer 59")
        assert app.view.window.follows


def _wheel(app: Shown, *, up: bool) -> Any:
    from textual.events import MouseScrollUp

    return MouseScrollUp(app.view, 5, 5, 0, -1, 0, False, False, False)


async def test_another_size_keeps_the_place_and_the_end() -> None:
    app = Shown(long())
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.resize_terminal(30, 8)
        await see(pilot, "answer 59")
        app.view.page(-3)
        await pilot.pause()
        first = next(row for row in rows(app) if "question" in row).split("  ")[1]
        await pilot.resize_terminal(100, 30)
        await see(pilot, first)


async def test_a_card_opens_and_closes_by_key_and_by_mouse() -> None:
    app = Shown(rich())
    async with app.run_test(size=(100, 60)) as pilot:
        app.view.focus()
        assert "Square metres" not in text(app)
        await pilot.press("home")
        for _ in range(5):
            await pilot.press("j")
        assert "Edit src/area.py" in cursor_row(app)
        await pilot.press("enter")
        assert "4 +     def area(self) -> float:" in text(app)
        assert "▾ Edit" in cursor_row(app)
        await pilot.press("enter")
        assert "Square metres" not in text(app)
        row = next(at for at, line in enumerate(rows(app)) if "Task look" in line)
        await pilot.click(TranscriptView, offset=(10, row))
        assert "│ ✓ ▸ Grep door" in text(app)
        assert "│ Two rooms have doors." in text(app)


async def test_calls_inside_a_card_can_be_opened_too() -> None:
    app = Shown(rich())
    async with app.run_test(size=(100, 60)) as pilot:
        app.view.focus()
        row = next(at for at, line in enumerate(rows(app)) if "Task look" in line)
        await pilot.click(TranscriptView, offset=(10, row))
        await pilot.press("j")
        assert "Grep door" in cursor_row(app)
        await pilot.press("enter")
        assert "│     a.py" in text(app)
        await pilot.press("k")
        assert "Task look" in cursor_row(app)


async def test_all_cards_open_and_close_at_once() -> None:
    app = Shown(rich())
    async with app.run_test(size=(100, 80)) as pilot:
        app.view.focus()
        await pilot.press("e")
        assert "▸" not in text(app)
        assert "$ make nothing" in text(app)
        await pilot.press("e")
        assert "▾" not in text(app)


async def test_the_cursor_goes_over_every_block_in_both_directions() -> None:
    app = Shown(long(30))
    async with app.run_test(size=(60, 15)) as pilot:
        app.view.focus()
        await pilot.press("end")
        met: list[str] = []
        for _ in range(70):
            await pilot.press("up")
            met.append(cursor_row(app))
        assert "question 0" in met[-1]
        await pilot.press("G")
        await pilot.press("down")
        assert cursor_row(app)


async def test_a_long_block_is_read_page_by_page_before_the_next() -> None:
    scene = Stage()
    scene.say("first")
    scene.events(StepStarted(), TextDelta(0, "".join(f"line {n}\n" for n in range(60))))
    scene.typed("last")
    app = Shown(scene)
    async with app.run_test(size=(60, 15)) as pilot:
        app.view.focus()
        await pilot.press("g")
        seen: set[str] = set()
        for _ in range(10):
            await pilot.press("down")
            seen |= set(re.findall(r"line \d+", text(app)))
        assert seen == {f"line {n}" for n in range(60)}


async def test_how_calls_ended_is_told_without_colour() -> None:
    app = Shown(rich(), "mono")
    async with app.run_test(size=(100, 60)):
        shown = text(app)
        assert "✗ ▸ Bash make nothing  error" in shown
        assert "⊘ ▸ Bash rm -rf build  denied" in shown
        assert "■ ▸ WebFetch http://x  cancelled" in shown
        assert all("#" not in style for row in styles(app) for style, _ in row)


async def test_plain_signs_where_the_terminal_has_no_others() -> None:
    app = Shown(rich(), plain=True)
    async with app.run_test(size=(100, 60)) as pilot:
        app.view.focus()
        await pilot.press("e")
        await pilot.pause()
        drawn = "\n".join(row.rstrip(" ▁▂▃▄▅▆▇█") for row in rows(app))  # without the scrollbar
        assert drawn.isascii()


async def test_what_a_call_prints_is_shown_while_it_runs_with_its_colours() -> None:
    app = Shown(running())
    async with app.run_test(size=(80, 20)) as pilot:
        scene = app.scene
        assert "▶   Bash make  running, 7 s" in text(app)
        assert "50%" in text(app) and "10%" not in text(app)
        assert "?   Bash make install  asks for your answer" in text(app)
        assert style_of(app, "warning") != style_of(app, "compiling")
        assert isinstance(scene, Stage)
        scene.time.now += 3
        await show(pilot)
        assert "running, 10 s" in text(app)
        scene.events(finished(call("Bash", id="call_1"), "all built\nbye", seconds=10.0))
        await show(pilot)
        assert "✓ ▸ Bash make  2 lines, 10.0 s" in text(app)


async def test_a_call_that_is_being_written_shows_its_file_and_the_end_of_its_text() -> None:
    app = Shown(running())
    async with app.run_test(size=(80, 20)):
        assert "…   Write src/new.py  being written, 4 lines" in text(app)
        assert "def tw" in text(app)


async def test_code_is_coloured_when_its_block_is_closed() -> None:
    scene = Stage()
    app = Shown(scene)
    async with app.run_test(size=(80, 20)) as pilot:
        scene.events(StepStarted(), TextDelta(0, "```python\nreturn 1\n"))
        await show(pilot)
        before = style_of(app, "return")
        scene.events(TextDelta(0, "```\n"))
        await show(pilot)
        assert style_of(app, "return") != before
        assert style_of(app, "return") != style_of(app, "1")


async def test_another_theme_draws_all_anew() -> None:
    app = Shown(rich())
    async with app.run_test(size=(80, 24)) as pilot:
        before = style_of(app, "/help")
        app.theme = f"{PREFIX}light"
        await pilot.pause()
        await until(pilot, lambda: style_of(app, "/help") != before)


# --- search --------------------------------------------------------------------------------------------------------


async def test_search_goes_up_marks_what_it_found_and_opens_cards() -> None:
    app = Shown(rich())
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.focus()
        await pilot.press("slash")
        await see(pilot, "Search up:")
        await pilot.press(*"metres", "enter")
        await see(pilot, '"""Square metres."""')
        assert "reverse" in style_of(app, "metres")
        assert any(row.startswith("▌") and "Square metres" in row for row in rows(app))
        assert "Search up:" not in text(app)


async def test_next_and_previous_go_on_and_round() -> None:
    app = Shown(long(40))
    async with app.run_test(size=(60, 15)) as pilot:
        app.view.focus()
        await pilot.press("ctrl+f", *"question 1", "enter")
        await until(pilot, lambda: "question 19" in cursor_row(app))
        await pilot.press("n")
        await until(pilot, lambda: "question 18" in cursor_row(app))
        await pilot.press("N")
        await until(pilot, lambda: "question 19" in cursor_row(app))
        await pilot.press("N")
        await until(pilot, lambda: "question 1" in cursor_row(app) and "question 19" not in cursor_row(app))
        assert ("info", "The search went on from the other end.") in app.told


async def test_what_was_not_fetched_yet_is_found_too() -> None:
    scene = Stage()
    older = [[Said(key=scene.key(), text=f"old {page} {at}") for at in range(50)] for page in range(3)]
    newest = [Said(key=scene.key(), text=f"new {at}") for at in range(100)]
    scene.restart(newest, lambda: list(older.pop()) if older else [])
    app = Shown(scene)
    async with app.run_test(size=(60, 15)) as pilot:
        app.view.focus()
        await pilot.press("slash", *"old 0 3", "enter")
        await until(pilot, lambda: "old 0 39" in cursor_row(app))
        await pilot.press("n")
        await until(pilot, lambda: "old 0 38" in cursor_row(app))
        assert app.told == []


async def test_what_does_not_stand_there_is_told_and_escape_ends_a_search() -> None:
    app = Shown(long(3))
    async with app.run_test(size=(60, 15)) as pilot:
        app.view.focus()
        await pilot.press("slash", *"nowhere", "enter")
        await until(pilot, lambda: app.told)
        assert app.told == [("warning", "“nowhere” does not stand in the transcript.")]
        await pilot.press("slash", "x", "escape")
        await until(pilot, lambda: "Search up" not in text(app))
        assert app.view.search is None and app.view.has_focus


async def test_capital_letters_count_only_where_there_are_some() -> None:
    scene = Stage()
    scene.say("An Apple")
    app = Shown(scene)
    async with app.run_test(size=(60, 15)) as pilot:
        app.view.focus()
        await app.view.search_for("apple")
        assert app.told == []
        await app.view.search_for("aPPle")
        await pilot.pause()
        assert app.told[-1][0] == "warning"


# --- copies --------------------------------------------------------------------------------------------------------


async def test_a_block_is_copied_and_what_was_done_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    app = Shown(rich())
    async with app.run_test(size=(80, 24)) as pilot:
        app.view.focus()
        await pilot.press("up", "up", "y")
        await until(pilot, lambda: app.told)
    level, told = app.told[0]
    assert level == "info"
    path = Path(told.rpartition("written to ")[2])
    assert path.parent == tmp_path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text("utf-8") in (
        "The area was wrong.",
        "name      what it does\n/help     shows commands and keys",
    )


async def test_selected_text_is_copied_without_the_margin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    scene = Stage()
    scene.say("first line\nsecond line\nthird line")
    app = Shown(scene)
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.mouse_down(TranscriptView, offset=(8, 0))
        await pilot.hover(TranscriptView, offset=(7, 1))
        await pilot.mouse_up(TranscriptView, offset=(7, 1))
        await pilot.pause()
        assert app.screen.get_selected_text() == "line\nsecond"
        await pilot.press("y")
        await until(pilot, lambda: app.told)
    assert Path(app.told[0][1].rpartition("written to ")[2]).read_text("utf-8") == "line\nsecond"


async def test_a_selection_does_not_open_a_card() -> None:
    app = Shown(rich())
    async with app.run_test(size=(100, 60)) as pilot:
        row = next(at for at, line in enumerate(rows(app)) if "Edit src" in line)
        await pilot.mouse_down(TranscriptView, offset=(4, row))
        await pilot.hover(TranscriptView, offset=(20, row))
        await pilot.mouse_up(TranscriptView, offset=(20, row))
        await pilot.pause()
        assert "Square metres" not in text(app)


# --- the editor ----------------------------------------------------------------------------------------------------


async def test_a_block_is_opened_in_the_editor(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    copy = tmp_path / "copy of it"
    editor = tmp_path / "my editor.py"
    editor.write_text(f"import shutil, sys; shutil.copy(sys.argv[-1], {str(copy)!r})")
    monkeypatch.setenv("EDITOR", f"{sys.executable} '{editor}'")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    scene = Stage()
    scene.ran(call("Bash", '{"command":"make"}'), "built", effects=Effects(script="make", preview="make"))
    app = Shown(scene)
    async with app.run_test(size=(60, 15)) as pilot:
        done = _suspendable(app)
        app.view.focus()
        await pilot.press("o")
        await until(pilot, lambda: done == ["given", "taken"])
        assert "built" in copy.read_text("utf-8") and "make" in copy.read_text("utf-8")
        await until(pilot, lambda: not list(tmp_path.glob("agenyx-*")), "the copy for the editor is gone")
    assert app.told == []


@pytest.mark.parametrize(
    ("editor", "told"),
    [
        ("/nowhere/editor", "the editor /nowhere/editor cannot be used: No such file or directory"),
        ("'unclosed", "$EDITOR cannot be understood"),
        ("false", "the editor false ended with 1"),
    ],
)
async def test_an_editor_that_does_not_work_is_told_and_the_screen_comes_back(
    monkeypatch: pytest.MonkeyPatch, editor: str, told: str
) -> None:
    monkeypatch.setenv("EDITOR", editor)
    monkeypatch.delenv("VISUAL", raising=False)
    app = Shown(long(1))
    async with app.run_test(size=(60, 15)) as pilot:
        done = _suspendable(app)
        app.view.focus()
        await pilot.press("o")
        await until(pilot, lambda: app.told)
        assert done in ([], ["given", "taken"])
        assert app.told[0][0] == "error" and told in app.told[0][1]
        assert "answer 0" in text(app)


def _suspendable(app: Shown) -> list[str]:
    """A driver without a terminal cannot give one up; this one says that it could, and notes when it did."""
    driver, done = app._driver, list[str]()
    assert driver is not None
    type(driver).can_suspend = property(lambda _: True)  # type: ignore[method-assign]
    driver.suspend_application_mode = lambda: done.append("given")  # type: ignore[method-assign]
    driver.resume_application_mode = lambda: done.append("taken")  # type: ignore[method-assign]
    return done


async def test_nothing_is_drawn_while_nothing_changes() -> None:
    app = Shown(long(5))
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.pause()
        placed: list[int] = []
        place = app.view.place
        app.view.place = lambda: (placed.append(1), place())[1]  # type: ignore[method-assign]
        for _ in range(10):
            app.view.refresh_scene()
        assert placed == []
        app.scene.say("x")
        app.view.refresh_scene()
        assert placed == [1]


async def test_only_rows_that_change_are_sent_to_the_terminal() -> None:
    scene = long()
    app = Shown(scene)
    async with app.run_test(size=(60, 15)) as pilot:
        scene.events(StepStarted(), TextDelta(0, "begin"))
        await show(pilot)
        sent: list[int] = []
        refresh = app.view.refresh

        def noted(*regions: Region, **options: bool) -> TranscriptView:
            sent.extend(y for region in regions or (app.view.size.region,) for y in region.line_range)
            return refresh(*regions, **options)

        app.view.refresh = noted  # type: ignore[method-assign]
        scene.events(TextDelta(0, " and more"))
        app.view.refresh_scene()
        assert sent == [14]
        await pilot.pause()
        assert rows(app)[-1].strip() == "begin and more"
        app.view.page(-1)
        await pilot.pause()
        sent.clear()
        scene.events(TextDelta(0, ", still in the same row"))
        app.view.refresh_scene()
        assert sent == []


async def test_output_in_a_card_that_is_open_while_it_runs() -> None:
    scene, one = Stage(), call("Bash", '{"command":"make"}')
    scene.calls(one, effects=Effects(script="make"))
    scene.events(EffectStarted((one.id,)), Output(one.id, b"".join(b"step %d\n" % n for n in range(30))))
    app = Shown(scene)
    async with app.run_test(size=(60, 50)) as pilot:
        app.view.focus()
        assert "step 29" in text(app) and "step 20" not in text(app)
        await pilot.press("enter")
        assert "step 0" in text(app) and "step 29" in text(app)

"""What is pasted: text stays text, much of it becomes a mark, and images are shown to the model."""

from __future__ import annotations

from pathlib import Path

from textual.events import Paste
from textual.pilot import Pilot

from agenyx.ui.tui.prompt.graphemes import UNITS
from agenyx.ui.tui.prompt.units import Units, dropped
from support.pictures import png
from support.tui import see, text, until
from ui.tui.prompt.bench import Bench, Earlier


async def paste(pilot: Pilot[None], pasted: str) -> None:
    pilot.app.post_message(Paste(pasted))
    await pilot.pause()


async def test_a_paste_is_text_and_sends_nothing() -> None:
    app = Bench()
    async with app.run_test(size=(60, 15)) as pilot:
        await paste(pilot, "one\r\ntwo\rthree\n\x1b[31m\x07red\x1b]52;c;x\x07\u009b")
        assert app.told == []
        assert app.text == "one\ntwo\nthree\n[31mred]52;c;x"
        await pilot.press("enter")
        await pilot.pause()
        assert app.told == [("sent", "one\ntwo\nthree\n[31mred]52;c;x")]


async def test_a_large_paste_is_a_mark_that_moves_and_goes_as_one() -> None:
    app, body = Bench(), "\n".join(f"line {number}" for number in range(240))
    async with app.run_test(size=(60, 15)) as pilot:
        await pilot.press(*"see ")
        await paste(pilot, body)
        await pilot.press(*" now")
        await see(pilot, "see [Pasted text #1, 240 lines] now")
        assert app.box.text == f"see {body} now"
        await pilot.press(*["left"] * 5, "a", "right", "backspace")
        await pilot.pause()
        assert app.text == "see a now"
        await pilot.press("ctrl+underscore")
        await pilot.pause()
        assert "[Pasted text #1, 240 lines]" in text(app)
        await pilot.press("enter")
        await pilot.pause()
        assert app.told == [("sent", f"see a{body} now")]


async def test_a_key_shows_the_text_in_the_place_of_its_mark() -> None:
    app, body = Bench(), "x" * 1_001
    async with app.run_test(size=(60, 15)) as pilot:
        await paste(pilot, body)
        await see(pilot, "[Pasted text #1, 1,001 characters]")
        await pilot.press("ctrl+e")
        await pilot.pause()
        assert app.text == body
        await pilot.press("home", "ctrl+e", "y")  # no mark: the end of the line
        await pilot.pause()
        assert app.text == body + "y"


async def test_earlier_and_waiting_inputs_come_back_with_their_marks() -> None:
    app, body = Bench(history=Earlier()), "\n".join("abc" * 5 for _ in range(20))
    async with app.run_test(size=(60, 15)) as pilot:
        await paste(pilot, body)
        await pilot.press(*" one", "enter", "up")
        await see(pilot, "[Pasted text #1, 20 lines] one")
        app.driver.queued = [f"{body} two"]
        app.box.clear()
        await pilot.press("up")
        await see(pilot, "[Pasted text #1, 20 lines] two")
        assert app.box.text == f"{body} two"


async def test_a_megabyte_and_five_thousand_lines_go_through() -> None:
    app, body = Bench(), "\n".join(f"{number:04} {'x' * 200}" for number in range(5_000))
    async with app.run_test(size=(80, 24)) as pilot:
        await paste(pilot, body)
        await see(pilot, "[Pasted text #1, 5,000 lines]")
        await pilot.press("ctrl+e", "enter")
        await pilot.pause()
        assert app.told == [("sent", body)]
        await paste(pilot, body)
        await pilot.press("ctrl+e", *"end", "ctrl+home", *"begin ", "down", "ctrl+end", "backspace")
        await pilot.pause()
        assert app.text == f"begin {body}en"
        assert app.box.size.height == 8
        await pilot.press("ctrl+underscore", "enter")
        await pilot.pause()
        assert app.told[1] == ("sent", f"begin {body}end")


async def test_one_line_of_a_megabyte() -> None:
    app, body = Bench(), "é" * 300_000 + "x" * 700_000
    async with app.run_test(size=(80, 24)) as pilot:
        await paste(pilot, body)
        await see(pilot, "[Pasted text #1, 1,000,000 characters]")
        await pilot.press("enter")
        await pilot.pause()
        assert app.told == [("sent", body)]


async def test_dropped_images_are_attached(tmp_path: Path) -> None:
    (tmp_path / "my shot.png").write_bytes(png(2, 2))
    (tmp_path / "b.jpg").write_bytes(b"x")
    app = Bench(workspace=str(tmp_path))
    async with app.run_test(size=(80, 15)) as pilot:
        await pilot.press(*"what is ")
        await paste(pilot, f"{tmp_path}/my\\ shot.png b.jpg ")
        await see(pilot, "what is [Image #1: my shot.png] [Image #2: b.jpg]")
        await pilot.press("backspace", "backspace", "enter")
        await pilot.pause()
        assert app.told == [("sent", "what is [Image #1: my shot.png] ", f"{tmp_path}/my shot.png")]
        app.box.put_back(app.told[0][1])  # it was refused: the mark is one again
        await pilot.press("enter")
        await pilot.pause()
        assert app.told[1] == app.told[0]
        await paste(pilot, "no/such.png")
        await until(pilot, lambda: app.text == "no/such.png")


def test_paths_as_terminals_give_them() -> None:
    assert dropped("'/a b/c.png'") == ["/a b/c.png"]
    assert dropped("file:///a%20b/c.PNG\n") == ["/a b/c.PNG"]
    assert dropped("/a/b.png /c/d.webp") == ["/a/b.png", "/c/d.webp"]
    assert dropped("/a b/c.png") == ["/a b/c.png"]
    assert dropped("look at a.png please") == []
    assert dropped("don't.png") == ["don't.png"]
    assert dropped("") == []


def test_marks_are_bounded_and_used_again() -> None:
    units, held = Units(), ""
    for number in range(len(UNITS)):
        held += units.paste(f"{number} " + "x" * 1_000, held)
    assert len(held) == len(UNITS)
    assert units.paste("y" * 1_001, held) == "y" * 1_001  # all are in use: it stays text
    assert units.paste("y" * 1_001, held[1:]) == held[0]
    assert units.expand(held[0]) == "y" * 1_001
    assert units.paste("5 " + "x" * 1_000, held) == held[5]

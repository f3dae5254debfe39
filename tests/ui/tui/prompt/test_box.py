"""Typing into the input, sending, queueing, steering, and walking through earlier inputs."""

from __future__ import annotations

from textual.events import Key, Paste
from textual.pilot import Pilot

from agenyx.ui.tui.prompt.box import HINT
from support.tui import rows, see, style_of, text, until
from ui.tui.prompt.bench import Bench, Earlier

FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"


async def type_(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await pilot.pause()


async def paste(pilot: Pilot[None], text: str) -> None:
    pilot.app.post_message(Paste(text))
    await pilot.pause()
    await pilot.pause()


async def test_enter_sends_and_the_box_is_empty_again() -> None:
    app = Bench()
    async with app.run_test(size=(60, 15)) as pilot:
        assert HINT in text(app)
        await type_(pilot, *"hello", "enter")
        assert app.told == [("sent", "hello")]
        assert app.text == "" and HINT in text(app)


async def test_keys_for_a_new_line() -> None:
    app = Bench()
    async with app.run_test(size=(60, 15)) as pilot:
        await type_(pilot, "a", "ctrl+j", "b", "alt+enter", "c", "shift+enter", "d", "backslash", "enter", "e")
        assert app.text == "a\nb\nc\nd\ne"
        assert rows(app)[-5:] == [" > a", "   b", "   c", "   d", "   e"]
        await type_(pilot, "enter")
        assert app.told == [("sent", "a\nb\nc\nd\ne")]


async def test_it_grows_to_a_third_of_the_screen_and_scrolls_then() -> None:
    app = Bench()
    async with app.run_test(size=(60, 15)) as pilot:
        for number in range(9):
            await type_(pilot, *str(number), "ctrl+j")
        assert app.box.size.height == 5
        assert rows(app)[-5:] == ["   5", "   6", "   7", "   8", ""]
        await type_(pilot, *["up"] * 9)
        assert rows(app)[-5:] == [" > 0", "   1", "   2", "   3", "   4"]
        await pilot.resize_terminal(60, 30)
        await pilot.pause()
        assert app.box.size.height == 10
        app.box.clear()
        await pilot.pause()
        assert app.box.size.height == 1


async def test_long_lines_wrap_and_up_goes_by_rows_of_the_screen() -> None:
    app = Bench()
    async with app.run_test(size=(60, 15)) as pilot:
        app.box.put_back("word " * 20 + "end")
        await pilot.pause()
        assert rows(app)[-2:] == [f" > {'word ' * 11}".rstrip(), f"   {'word ' * 9}end"]
        await type_(pilot, "up")
        assert app.at == 48
        await type_(pilot, "down")
        assert app.at == 103


async def test_the_cursor_of_the_terminal_stands_at_the_caret_by_width() -> None:
    app = Bench()
    async with app.run_test(size=(60, 15)) as pilot:
        app.box.put_back(f"漢字{FAMILY}e\u0301\nab")
        await pilot.pause()
        assert tuple(app.cursor_position) == (5, 14)
        await type_(pilot, "up", "end")
        assert tuple(app.cursor_position) == (3 + 2 + 2 + 2 + 1, 13)
        await type_(pilot, "left", "left")
        assert tuple(app.cursor_position) == (7, 13)
        await type_(pilot, "backspace")
        assert app.text == f"漢{FAMILY}e\u0301\nab"
        await type_(pilot, "delete", "delete")
        assert app.text == "漢\nab"


async def test_letters_of_input_methods_and_other_writings() -> None:
    app = Bench()
    async with app.run_test(size=(60, 15)) as pilot:
        for char in "한국שלé👍 漢":
            app.post_message(Key(char, char))
        await type_(pilot, "enter")
        assert app.told == [("sent", "한국שלé👍 漢")]


async def test_keys_that_no_text_is_made_of_change_nothing() -> None:
    app = Bench()
    async with app.run_test(size=(60, 15)) as pilot:
        await type_(pilot, "a", "f5", "alt+x", "ctrl+right_square_bracket", "insert", "b")
        assert app.text == "ab"


async def test_while_a_turn_runs_enter_queues_and_a_key_steers() -> None:
    app = Bench()
    async with app.run_test(size=(60, 15)) as pilot:
        await type_(pilot, *"no", "ctrl+s")
        assert app.told == [] and app.text == "no"
        app.driver.running = True
        await type_(pilot, "w", "ctrl+s", *"later", "enter")
        assert app.told == [("steered", "now"), ("sent", "later")]


async def test_what_waits_is_shown_and_can_be_taken_back() -> None:
    app = Bench()
    async with app.run_test(size=(60, 15)) as pilot:
        app.driver.running = True
        app.driver.queued = ["one", "two\nlines", "three"]
        app.box.refresh_queue()
        await see(pilot, "queued: two lines")
        assert "queued: three  (Alt+Up edits)" in text(app)
        await type_(pilot, "up")
        assert (app.text, app.driver.queued) == ("three", ["one", "two\nlines"])
        await type_(pilot, "alt+up")
        assert app.text == "two\nlines\nthree"
        app.driver.queued = list("abcdef")
        app.box.refresh_queue()
        await see(pilot, "queued: 4 more")
        app.driver.queued = []
        app.box.refresh_queue()
        await until(pilot, lambda: "queued" not in text(app))


async def test_earlier_inputs_and_the_draft() -> None:
    app = Bench(history=Earlier("git status", "ls\n-l", "git log"))
    async with app.run_test(size=(60, 15)) as pilot:
        await until(pilot, lambda: app.box._recall.entries)
        await type_(pilot, *"git", "up")
        assert app.text == "git status"
        await type_(pilot, "up", "up")
        assert app.text == "git log"
        await type_(pilot, "down", "down")
        assert app.text == "git"
        app.box.clear()
        await type_(pilot, "up", "up")
        assert app.text == "ls\n-l"
        await type_(pilot, "up")  # within the text first
        assert app.text == "ls\n-l"
        await type_(pilot, "up")
        assert app.text == "git log"


async def test_what_is_sent_is_kept_for_other_sessions() -> None:
    earlier = Earlier()
    app = Bench(history=earlier)
    async with app.run_test(size=(60, 15)) as pilot:
        await type_(pilot, *"one", "enter")
        await until(pilot, lambda: earlier.stored == ["one"])
        await type_(pilot, "up")
        assert app.text == "one"


async def test_searching_earlier_inputs() -> None:
    app = Bench(history=Earlier("fix the parser", "write\na\ntest\nfor\nit", "fix the lexer"))
    async with app.run_test(size=(60, 20)) as pilot:
        await until(pilot, lambda: app.box._recall.entries)
        await type_(pilot, "ctrl+r", *"fix")
        assert "search earlier inputs: fix" in text(app)
        assert style_of(app, "fix the parser") != style_of(app, "fix the lexer")
        await type_(pilot, "ctrl+r", "enter")
        assert (app.text, app.told) == ("fix the lexer", [])
        await type_(pilot, "ctrl+r", "ctrl+u", *"wrtst")
        assert "… 2 more lines" in text(app)  # what is marked is shown as it is
        await type_(pilot, "escape")
        assert app.text == "fix the lexer" and "search earlier" not in text(app)
        await type_(pilot, "ctrl+r", "ctrl+u", *"nothing like it")
        assert "nothing was typed like that" in text(app)
        await type_(pilot, "enter", "end", "!")
        assert app.text == "fix the lexer!"


async def test_the_caret_of_the_search_is_where_letters_go() -> None:
    app = Bench(history=Earlier("one"))
    async with app.run_test(size=(60, 15)) as pilot:
        await type_(pilot, "ctrl+r", "o", "n")
        assert app.cursor_position.x == 1 + len("search earlier inputs: on")
        await paste(pilot, "e\n")
        assert "inputs: one" in text(app)


async def test_clearing_can_be_undone() -> None:
    app = Bench()
    async with app.run_test(size=(60, 15)) as pilot:
        await type_(pilot, *"much", "space", *"work")
        assert app.box.clear() and not app.box.clear()
        await type_(pilot, "ctrl+underscore")
        assert app.text == "much work"


async def test_an_own_command_is_told_apart_from_words() -> None:
    app = Bench()
    async with app.run_test(size=(60, 15)) as pilot:
        await type_(pilot, "exclamation_mark", *"ls")
        assert rows(app)[-1] == " $ !ls" and "It runs in the session's shell" in text(app)
        await type_(pilot, "enter")
        assert app.told == [("shell", "ls")]
        assert "session's shell" not in text(app)


async def test_a_click_puts_the_caret_there() -> None:
    app = Bench()
    async with app.run_test(size=(60, 15)) as pilot:
        await type_(pilot, *"hello")
        await pilot.click(offset=(4, 14))
        await type_(pilot, "X")
        assert app.text == "hXello"


async def test_no_colour_and_small_screens() -> None:
    app = Bench(theme="mono")
    async with app.run_test(size=(20, 6)) as pilot:
        await type_(pilot, *"some words that wrap")
        await type_(pilot, "slash")
        assert app.text.endswith("/")
        assert all(len(row) <= 20 for row in rows(app))

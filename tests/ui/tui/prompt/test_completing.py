"""What is looked up while typing: files, resources, commands and their arguments."""

from __future__ import annotations

from pathlib import Path

from agenyx.ui.tui.prompt.sources import Sources
from support.tui import rows, see, style_of, text, until
from ui.tui.prompt.bench import Bench, Listed

FILES = ("src/", "src/loop.py", "src/my file.py", "docs/", "docs/loop.md", "shot.png", "README.md")


def listed() -> Listed:
    return Listed(*FILES)


async def test_a_file_is_found_by_a_few_letters() -> None:
    app = Bench(files=listed())
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"see @lp")
        await see(pilot, "> src/loop.py")
        assert style_of(app, "src/loop.py") != style_of(app, "docs/loop.md")
        await pilot.press("down", "tab")
        await pilot.pause()
        assert app.text == "see @docs/loop.md "
        assert "src/loop.py" not in text(app)
        await pilot.press(*"@loop", "down", "up")
        await see(pilot, "> src/loop.py")
        await pilot.press("enter")
        await pilot.pause()
        assert (app.text, app.told) == ("see @docs/loop.md @src/loop.py ", [])


async def test_names_with_blanks_are_written_as_they_are_read() -> None:
    app = Bench(files=listed())
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"@myf")
        await see(pilot, "> src/my file.py")
        await pilot.press("tab")
        await pilot.pause()
        assert app.text == "@src/my\\ file.py "


async def test_folders_are_gone_into() -> None:
    app = Bench(files=listed())
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"@docs")
        await see(pilot, "> docs/")
        await pilot.press("tab")
        await see(pilot, "docs/loop.md")
        assert app.text == "@docs/"
        await see(pilot, "> docs/loop.md")
        await pilot.press("tab")
        await pilot.pause()
        assert app.text == "@docs/loop.md "


async def test_an_image_is_attached(tmp_path: Path) -> None:
    app = Bench(files=listed(), workspace=str(tmp_path))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"@shot")
        await see(pilot, "> shot.png")
        await pilot.press("tab", *"?", "enter")
        await pilot.pause()
        assert app.told == [("sent", "[Image #1: shot.png] ?", f"{tmp_path}/shot.png")]


async def test_escape_closes_the_list_until_something_else_is_asked_for() -> None:
    app = Bench(files=listed())
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"@lo")
        await see(pilot, "> src/loop.py")
        await pilot.press("escape", "o")
        await pilot.pause()
        assert "src/loop.py" not in text(app) and app.text == "@loo"
        await pilot.press("tab")
        await see(pilot, "> src/loop.py")
        await pilot.press("escape", *" @read")
        await see(pilot, "> README.md")


async def test_an_address_is_no_file_and_enter_sends_a_name_that_stands_there() -> None:
    app = Bench(files=listed())
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"mail a@lo")
        await pilot.pause()
        assert len([row for row in rows(app) if row]) == 1
        app.box.clear()
        await pilot.press(*"@src/loop.py")
        await see(pilot, "> src/loop.py")
        await pilot.press("enter")
        await pilot.pause()
        assert app.told == [("sent", "@src/loop.py")]


async def test_hits_come_when_they_are_there_and_not_for_letters_that_are_gone() -> None:
    files = listed()
    files.gate.clear()
    app = Bench(files=files)
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"@zz")
        await until(pilot, lambda: files.asked == ["", "z", "zz"])
        await pilot.press("backspace", "backspace", *"read")
        files.gate.set()
        await see(pilot, "> README.md")
        assert "loop" not in text(app)


async def test_resources_of_servers() -> None:
    app = Bench(files=listed(), resources=lambda: [("docs:guide://loop", "how loops go"), ("db:t://x", "a table")])
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"@guide")
        await see(pilot, "> docs:guide://loop")
        assert "how loops go" in text(app)
        await pilot.press("tab")
        await pilot.pause()
        assert app.text == "@docs:guide://loop "


async def test_commands_with_what_they_take_and_do() -> None:
    app = Bench()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash")
        await see(pilot, "/help [COMMAND]")
        assert "list commands and keys" in text(app)
        await pilot.press(*"mod")
        await see(pilot, "> /model [NAME]")
        assert "/mode [MODE]" in text(app) and "/help" not in text(app)
        await pilot.press("down", "tab")
        await see(pilot, "acceptEdits")
        assert app.text == "/mode "
        await pilot.press(*"plan")
        await see(pilot, "> plan")
        await pilot.press("backspace", "enter")
        await pilot.pause()
        assert app.told == [("sent", "/mode plan")]


async def test_enter_runs_the_command_that_is_marked() -> None:
    app = Bench()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash", *"stat")
        await see(pilot, "> /status")
        await pilot.press("enter")
        await pilot.pause()
        assert app.told == [("sent", "/status")]
        await pilot.press("slash", *"steer")
        await pilot.press("enter")
        await pilot.pause()
        assert app.told[1:] == [("sent", "/steer")]  # it stands there as typed: the command says what it needs
        await pilot.press("slash", *"stee", "enter")
        await pilot.pause()
        assert app.text == "/steer " and len(app.told) == 2


async def test_an_alias_and_a_slash_within_words() -> None:
    app = Bench()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("slash", *"quit")
        await see(pilot, "> /exit")
        app.box.clear()
        await pilot.press(*"and /ex")
        await pilot.pause()
        assert "> /exit" not in text(app)
        app.box.clear()
        await pilot.press("slash", *"tmp/x is there")
        await pilot.pause()
        await pilot.press("enter")
        await pilot.pause()
        assert app.told == [("sent", "/tmp/x is there")]


async def test_a_click_takes_an_entry() -> None:
    app = Bench(files=listed())
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press(*"@lo")
        await see(pilot, "docs/loop.md")
        await pilot.click(offset=(6, rows(app).index(next(row for row in rows(app) if "docs/loop.md" in row))))
        await until(pilot, lambda: app.text == "@docs/loop.md ")


async def test_names_that_would_act_on_the_terminal_are_shown_as_text() -> None:
    app = Bench(files=Listed("[bold]x[/bold].py", "a\x1b[31mb.py", "c\u202ed.py"))
    async with app.run_test(size=(60, 20)) as pilot:
        await pilot.press("@")
        await see(pilot, "[bold]x[/bold].py")
        assert "a\\x1b[31mb.py" in text(app) and "c\\u202ed.py" in text(app)


def test_sources_need_nothing_but_a_conversation() -> None:
    assert (Sources.__struct_fields__[0], len(Sources.__struct_defaults__)) == ("driver", 9)

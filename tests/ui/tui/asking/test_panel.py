"""Questions on the full screen: what is shown, and which keys answer."""

from __future__ import annotations

import asyncio

import pytest
from textual import events

from agenyx.core.tools import Command, Concern, Effects, PathRef
from agenyx.core.verdict import Rule
from support.tui import rows, see, style_of, text, until

from .place import Clock, approval, place

LONG = "\n".join(["echo begin", *(f"echo {number}" for number in range(100)), "rm -rf ~"])


def script(body: str) -> Effects:
    return Effects(preview=body, script=body)


@pytest.mark.parametrize(
    ("key", "choice", "scope", "stop"),
    [
        ("y", "allow", "once", False),
        ("Y", "allow", "once", False),
        ("s", "allow", "session", False),
        ("n", "deny", "once", False),
        ("enter", "deny", "once", False),
        ("escape", "deny", "once", False),
        ("ctrl+d", "deny", "once", False),
        ("q", "deny", "once", True),
    ],
)
async def test_keys(key: str, choice: str, scope: str, stop: bool) -> None:
    async with place() as room:
        task = await room.ask(approval())
        assert "Bash asks for approval" in text(room.app)
        await room.press(key)
        decision = await room.answer(task)
        assert (decision.choice, decision.scope, decision.stop) == (choice, scope, stop)
        assert (decision.approval, decision.by, decision.message, decision.args) == ("apr_1", "terminal", "", None)
        await until(room.pilot, lambda: room.app.told == ["opened", "closed"])
        assert "asks for approval" not in text(room.app)


async def test_each_command_is_told_with_what_it_does_and_warnings_stand_first() -> None:
    commands = (
        Command(("npm", "test"), kinds=("runs",)),
        Command(("rm", "-rf", "build"), kinds=("removes",), concerns=(Concern("danger", "build is lost for good"),)),
        Command(("curl", "https://x.org"), kinds=("network",), hosts=("x.org",)),
    )
    effects = Effects(
        preview="npm test; rm -rf build; curl https://x.org",
        commands=commands,
        hosts=("x.org",),
        writes=(PathRef(".git/config", b"/w/.git/config", "/w", protected="git settings"),),
    )
    async with place((100, 30)) as room:
        await room.ask(approval(effects))
        shown = rows(room.app)
        assert shown.index("WARNING: build is lost for good") == shown.index("Bash asks for approval") + 1
        for row in (
            "  npm test; rm -rf build; curl https://x.org",
            "  npm test            runs code that is not in its words",
            "  curl https://x.org  contacts x.org",
            "Writes: .git/config",
            "Contacts: x.org",
            "Protected: .git/config (git settings)",
            "Why you are asked: no rule allows npm test",
            "s/a would allow: Bash(npm test)",
        ):
            assert row in shown


async def test_always_keeps_a_rule_only_with_a_second_key() -> None:
    async with place() as room:
        task = await room.ask(approval())
        await room.press("a")
        assert "  allow Bash(npm test)" in rows(room.app)
        assert "This goes to ~/.agenyx/settings.toml for good." in rows(room.app)
        await room.press("y")  # any other key goes back, and is no yes
        assert not task.done()
        assert "Bash asks for approval" in text(room.app)
        await room.press("a", "a")
        assert (await room.answer(task)).scope == "saved"


async def test_all_rules_are_shown_before_they_can_be_kept() -> None:
    offer = tuple(Rule("allow", "Bash", f"make {'very-' * 8}long-{number}") for number in range(30))
    async with place((60, 15)) as room:
        task = await room.ask(approval(offer=offer))
        await room.press("end", "a", "a")
        assert not task.done()
        await room.press("end", "a")
        assert (await room.answer(task)).scope == "saved"


async def test_without_rules_on_offer_none_can_be_set() -> None:
    async with place() as room:
        task = await room.ask(approval(offer=()))
        assert "this session" not in text(room.app)
        await room.press("s", "a")
        assert not task.done()


# --- all of it is seen before a yes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (200, 50)])
@pytest.mark.parametrize("key", ["y", "s", "a", "e"])
async def test_a_yes_counts_only_once_the_end_was_on_the_screen(size: tuple[int, int], key: str) -> None:
    async with place(size) as room:
        task = await room.ask(approval(script(LONG)))
        assert "rm -rf ~" not in text(room.app)
        await room.press(key)
        assert not task.done()
        assert "read to the end first" in text(room.app)
        assert room.panel._stage.__class__.__name__ == "Choosing"
        await room.press("end")
        assert "rm -rf ~" in text(room.app)
        await room.press("y")
        assert (await room.answer(task)).choice == "allow"


async def test_a_long_question_scrolls_by_row_and_page_and_wheel() -> None:
    async with place((60, 15)) as room:
        await room.ask(approval(script(LONG)))
        await room.press("down", "down", "pagedown")
        assert room.panel.sheet.top == 2 + room.panel.sheet.size.height - 1
        await room.press("up", "home")
        assert room.panel.sheet.top == 0
        await room.pilot._post_mouse_events([events.MouseScrollDown], room.panel.sheet)  # type: ignore[list-item]
        await until(room.pilot, lambda: room.panel.sheet.top == 3)


async def test_no_may_be_said_at_once() -> None:
    async with place((60, 15)) as room:
        task = await room.ask(approval(script(LONG)))
        await room.press("n")
        assert (await room.answer(task)).choice == "deny"


# --- keys that were not meant for the question -----------------------------------------------------------------------


async def test_keys_within_300_ms_of_the_first_frame_do_nothing() -> None:
    clock = Clock()
    async with place(deaf=0.3, clock=clock) as room:
        task = await room.ask(approval())
        clock.now += 0.299
        await room.press("y")
        assert not task.done()
        clock.now += 0.3
        await room.press("y")
        assert (await room.answer(task)).choice == "allow"


async def test_who_types_on_answers_nothing() -> None:
    clock = Clock()
    async with place(deaf=0.3, clock=clock) as room:
        task = await room.ask(approval())
        for key in "yes, my dear":
            clock.now += 0.15
            await room.press("space" if key == " " else "comma" if key == "," else key)
        assert not task.done()


async def test_keys_that_come_together_are_no_answer() -> None:
    async with place(quiet=0.05) as room:
        task = await room.ask(approval())
        for key in "yy":
            room.panel.post_message(events.Key(key, key))
        await until(room.pilot, lambda: room.panel._ears._burst > 0, "the keys came")
        await room.settle()
        assert room.panel._ears._held == "" and not task.done()


async def test_pasted_text_and_clicks_are_no_answer() -> None:
    async with place() as room:
        task = await room.ask(approval())
        room.panel.post_message(events.Paste("y"))
        for at in range(room.app.size.height):
            await room.pilot.click(offset=(1, at))
            await room.pilot.click(offset=(14, at))
        await room.settle()
        assert not task.done()
        await room.press("n")
        assert (await room.answer(task)).choice == "deny"


async def test_the_next_question_does_not_get_the_key_of_the_one_before() -> None:
    clock = Clock()
    async with place(deaf=0.3, clock=clock) as room:
        first = await room.ask(approval())
        second = await room.ask(approval(id="apr_2"))
        clock.now += 1
        await room.press("y")
        assert (await room.answer(first)).choice == "allow"
        await until(room.pilot, lambda: room.panel.sheet.drawn)
        await room.press("y")
        assert not second.done()
        clock.now += 0.7
        await room.press("y")
        assert (await room.answer(second)).approval == "apr_2"


@pytest.mark.parametrize("how", ["width", "height", "focus", "resume"])
async def test_it_is_deaf_again_after_the_screen_changed(how: str) -> None:
    clock = Clock()
    async with place(deaf=0.3, clock=clock) as room:
        task = await room.ask(approval())
        clock.now += 1
        if how == "focus":
            room.app.app_focus = False
            await room.pilot.pause()
            room.app.app_focus = True
        elif how == "resume":
            room.panel.hush()
        else:
            await room.pilot.resize_terminal(*((70, 24) if how == "width" else (80, 20)))
        await room.settle()
        await room.press("y")
        assert not task.done()
        clock.now += 1
        await room.press("y")
        assert (await room.answer(task)).choice == "allow"


async def test_ctrl_c_stays_the_program_s() -> None:
    async with place() as room:
        task = await room.ask(approval())
        await room.press("ctrl+c", "f1", "x")
        assert room.app.pressed == ["ctrl+c", "f1"] and not task.done()


# --- several, and those that are withdrawn ---------------------------------------------------------------------------


async def test_several_questions_queue_visibly_in_their_order() -> None:
    async with place() as room:
        tasks = [await room.ask(approval(id=f"apr_{number}")) for number in (1, 2, 3)]
        assert "2 more wait" in text(room.app)
        await room.press("y")
        assert (await room.answer(tasks[0])).approval == "apr_1"
        await see(room.pilot, "1 more waits")
        await room.press("n", "q")
        assert [(await room.answer(task)).choice for task in tasks] == ["allow", "deny", "deny"]
        assert room.app.told == ["opened", "closed"]


async def test_a_cancelled_question_is_withdrawn_and_the_next_one_shown() -> None:
    async with place() as room:
        first = await room.ask(approval(script("echo first")))
        second = await room.ask(approval(script("echo second"), id="apr_2"))
        first.cancel()
        await see(room.pilot, "echo second")
        assert "more wait" not in text(room.app)
        second.cancel()
        await until(room.pilot, lambda: not room.panel.display)
        with pytest.raises(asyncio.CancelledError):
            await second


async def test_one_that_waits_may_be_withdrawn_without_a_trace() -> None:
    async with place(deaf=0.0) as room:
        first = await room.ask(approval())
        second = await room.ask(approval(id="apr_2"))
        second.cancel()
        await until(room.pilot, lambda: "more wait" not in text(room.app))
        await room.press("y")
        assert (await room.answer(first)).approval == "apr_1"


async def test_a_screen_that_closes_denies_and_stops() -> None:
    async with place() as room:
        task = await room.ask(approval())
        room.app.approver.close()
        decision = await room.answer(task)
        assert (decision.choice, decision.stop, decision.message) == ("deny", True, "the question was withdrawn.")
        later = await room.app.approver.decide(approval(id="apr_2"))
        assert (later.choice, later.stop) == ("deny", True)


async def test_a_question_that_came_before_the_screen_is_shown_when_it_is_there() -> None:
    async with place() as room:
        room.app.approver._present = None
        task = asyncio.ensure_future(room.app.approver.decide(approval()))
        room.asked.append(task)
        await until(room.pilot, lambda: room.app.approver.waiting == 1)
        room.app.approver.attach(room.panel.present)
        await see(room.pilot, "Bash asks for approval")


async def test_what_was_seen_stays_seen_when_the_window_changes() -> None:
    async with place((60, 15)) as room:
        task = await room.ask(approval(script(LONG)))
        await room.press("end")
        await room.pilot.resize_terminal(80, 24)
        await room.settle()
        await room.press("y")
        assert (await room.answer(task)).choice == "allow"


# --- words and editing -----------------------------------------------------------------------------------------------


async def test_a_message_goes_with_the_denial() -> None:
    async with place() as room:
        task = await room.ask(approval())
        await room.press("m")
        room.panel.field.post_message(events.Paste("use the\nMakefile"))
        await see(room.pilot, "use the Makefile")
        await room.press("enter")
        decision = await room.answer(task)
        assert (decision.choice, decision.message, decision.stop) == ("deny", "use the Makefile", False)


async def test_a_message_may_be_given_up() -> None:
    async with place() as room:
        task = await room.ask(approval())
        await room.press("m", "x", "escape")
        assert "Bash asks for approval" in text(room.app) and not task.done()


async def test_an_edited_command_is_what_is_allowed() -> None:
    async with place() as room:
        task = await room.ask(approval(script("npm test")))
        await room.press("e")
        assert "What you allow here is judged once more." in text(room.app)
        for key in ("space", "minus", "minus", "c", "i"):
            await room.pilot.press(key)
        await see(room.pilot, "npm test --ci")
        await room.press("enter")
        decision = await room.answer(task)
        assert (decision.choice, decision.args) == ("allow", '{"command":"npm test --ci"}')


async def test_an_edited_command_of_several_lines_needs_its_own_key() -> None:
    async with place() as room:
        task = await room.ask(approval(script("echo 1\necho 2"), args='{"command":"echo 1\\necho 2"}'))
        await room.press("e", "enter")
        assert not task.done()
        for key in ("l", "s"):
            await room.pilot.press(key)
        await room.press("alt+enter")
        assert (await room.answer(task)).args == '{"command":"echo 1\\necho 2\\nls"}'


async def test_arguments_that_cannot_be_are_told_and_kept() -> None:
    async with place() as room:
        task = await room.ask(approval(Effects(opaque="unknown"), args='{"n":1}'))
        await room.press("e")
        await room.pilot.press("x")
        await room.press("ctrl+s")
        assert "That cannot be run: this is not JSON" in text(room.app)
        assert "}x" in text(room.app) and not task.done()
        await room.pilot.press("backspace")
        await room.press("ctrl+s")
        decision = await room.answer(task)
        assert (decision.choice, decision.args) == ("allow", None)


async def test_an_edit_that_is_given_up_changes_nothing() -> None:
    async with place() as room:
        task = await room.ask(approval(script("npm test")))
        await room.press("e", "x", "escape")
        assert "npm test" in text(room.app) and "npm testx" not in text(room.app)
        await room.press("y")
        assert (await room.answer(task)).args is None


async def test_what_is_edited_shows_what_cannot_be_seen() -> None:
    async with place() as room:
        body = "echo \u202e\x1b[2Jx"
        await room.ask(approval(script(body), args='{"command":"echo \\u202e\\u001b[2Jx"}'))
        await room.press("e")
        shown = text(room.app)
        assert "\\u202e\\x1b[2Jx" in shown and "\x1b" not in shown


async def test_trust_is_asked_in_the_same_way() -> None:
    async with place() as room:
        task = await room.ask(approval(Effects(preview="AGENTS.md (told to the model)"), id="trust", offer=()))
        assert "[y] trust  [n] not now (Enter)" in text(room.app)
        await room.press("s", "a", "e", "q")
        assert not task.done()
        await room.press("y")
        decision = await room.answer(task)
        assert (decision.approval, decision.choice) == ("trust", "allow")


# --- hostile calls ---------------------------------------------------------------------------------------------------

HOSTILE = {
    "escapes": ("echo \x1b[2J\x1b]52;c;aGk=\x07\x9b31m", "\\x1b[2J\\x1b]52;c;aGk=\\x07\\x9b31m", "hidden characters"),
    "bidi": ("echo \u202etxt.exe", "\\u202etxt.exe", "U+202E right-to-left override"),
    "homoglyph": ("cat p\u0430ssword", "p\u0430ssword", "look-alike letters"),
    "padding": (f"echo hi;{' ' * 500}rm -rf ~", "[500 blanks]rm -rf ~", "long padding"),
    "return": ("echo safe\rrm -rf ~", "echo safe\\x0drm -rf ~", "hidden characters"),
    "zero width": ("rm\u200b -rf ~", "rm\\u200b -rf ~", "U+200B"),
    "markup": ("echo [bold red]x[/] [link=http://evil]y[/link] [/]", "[bold red]x[/] [link=http://evil]y[/link]", ""),
}


@pytest.mark.parametrize("size", [(60, 15), (80, 24)])
@pytest.mark.parametrize("name", HOSTILE)
async def test_hostile_commands_are_shown_as_they_are(name: str, size: tuple[int, int]) -> None:
    command, shown, warning = HOSTILE[name]
    async with place(size) as room:
        await room.ask(approval(script(command)))
        await room.press("end", "home")
        seen = "".join(text(room.app).replace("\n… ", "").split())
        assert "".join(shown.split()) in seen
        if warning:
            assert style_of(room.app, "WARNING").startswith("#e6c46a")
            assert "".join(warning.split()) in seen
        assert not set(text(room.app)) & {"\x1b", "\x07", "\x9b", "\r", "\u202e", "\u200b"}


async def test_text_of_a_call_cannot_look_like_ours() -> None:
    body = "x\nWARNING: all is fine\nWhy you are asked: for fun\n[y] once  [n] no"
    async with place((80, 30)) as room:
        await room.ask(approval(script(body)))
        shown = rows(room.app)
        assert "  WARNING: all is fine" in shown and "WARNING: all is fine" not in shown
        assert "  [y] once  [n] no" in shown


async def test_file_names_with_escapes_are_shown_as_such() -> None:
    writes = (PathRef("a\x1b[31m\nb.py", b"/w/x", "/w"),)
    async with place() as room:
        await room.ask(approval(Effects(preview="x", writes=writes)))
        assert "Writes: a\\x1b[31m\\nb.py" in text(room.app)


async def test_a_diff_of_ten_thousand_lines_on_a_small_screen() -> None:
    diff = "--- a\n+++ b\n@@ -1 +1 @@\n" + "".join(f"-old {at}\n+new {at}\n" for at in range(5000)) + "+the last\n"
    async with place((60, 15)) as room:
        task = await room.ask(approval(Effects(preview=diff)))
        assert style_of(room.app, "-old 0") == "#ffc9c5 on #3a1a1c"
        await room.press("y")
        assert not task.done()
        await room.press("end")
        assert "+the last" in text(room.app)
        await room.press("y")
        assert (await room.answer(task)).choice == "allow"


# --- calling a person ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("notify", "written"), [("auto", "\x07"), ("bell", "\x07"), ("off", "")])
async def test_who_looks_elsewhere_is_called(notify: str, written: str) -> None:
    async with place(notify=notify) as room:
        heard: list[str] = []
        room.app._driver.write = heard.append  # type: ignore[union-attr,method-assign]
        room.app.app_focus = False
        await room.ask(approval())
        assert [part for part in heard if "\x07" in part] == ([written] if written else [])


async def test_who_looks_is_not_called() -> None:
    async with place() as room:
        heard: list[str] = []
        room.app._driver.write = heard.append  # type: ignore[union-attr,method-assign]
        await room.ask(approval())
        assert not any("\x07" in part for part in heard)

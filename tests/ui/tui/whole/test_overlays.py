"""What keys and commands open over the conversation, in the whole program: each ends in what its command does."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from support.pty_screen import Screen
from support.raw_server import RawServer, plain

from .conftest import GREETED
from .served import answer, pressed, tool

Start = Callable[..., Screen]
F1, F2, F3, F4 = "\x1bOP", "\x1bOQ", "\x1bOR", "\x1bOS"
F5, F6, F7, F8, F9 = "\x1b[15~", "\x1b[17~", "\x1b[18~", "\x1b[19~", "\x1b[20~"
DOWN, ESC = "\x1b[B", "\x1b"


def models(*names: str) -> list[bytes]:
    return [plain(200, {"data": [{"id": name} for name in names]})]


def gone(screen: Screen, needle: str) -> None:
    screen.until(lambda: needle not in "\n".join(screen.rows()), f"{needle!r} is gone")


def opened(tui: Start, server: RawServer, **more: str) -> Screen:
    screen = tui(server.url, rows=30, columns=100, **more)
    screen.see(GREETED)
    return screen


def test_the_model_is_chosen_from_what_the_server_lists(tui: Start) -> None:
    with RawServer([models("m", "m-large", "m-tiny"), answer("hello from tiny")]) as server:
        screen = opened(tui, server)
        screen.type("/model\r")
        screen.see("m-tiny")
        screen.type("tiny")
        gone(screen, "m-large")
        screen.type("\r")
        screen.see("model m-tiny (openai), from the next turn on")
        screen.type("hi\r")
        screen.see("hello from tiny")
        assert [request.line for request in server.requests[:1]] == ["GET /v1/models HTTP/1.1"]
        assert server.requests[1].json["model"] == "m-tiny"


def test_a_server_that_lists_nothing_says_what_to_do_and_a_name_may_be_typed(tui: Start) -> None:
    with RawServer([[plain(200, b"no list at all")], answer("fine")]) as server:
        screen = opened(tui, server)
        screen.type(F2)
        screen.see("did not answer with a list of models")
        screen.type("m9\r")
        screen.see("model m9 (openai)")


def test_effort_and_mode(tui: Start) -> None:
    with RawServer([answer("fine")]) as server:
        screen = opened(tui, server)
        screen.type(F3)
        screen.see("Reasoning effort")
        screen.type("high\r")
        screen.see("reasoning effort high, from the next turn on")
        screen.type(F4)
        screen.see("only looks, and makes a plan")
        screen.type("only looks\r")
        screen.see("mode plan: only looks, and makes a plan")
        screen.type(F4)
        screen.see("asks for almost nothing")
        screen.type("bypass\r")  # which a flag has to allow
        screen.see("--dangerously-skip-permissions")


def test_a_theme_is_seen_at_once_and_kept_only_when_taken(tui: Start, home: Path) -> None:
    with RawServer([answer("fine")]) as server:
        screen = opened(tui, server, COLORTERM="truecolor")
        screen.type(F9)
        screen.see("for a light background")
        before = len(screen.data)
        screen.type(DOWN)
        screen.until(lambda: b"48;2;252;252;250" in screen.data[before:], "the light background")
        screen.type(ESC)
        gone(screen, "for a light background")
        assert not (home / ".agenyx" / "settings.toml").exists()
        screen.type(F9)
        screen.see("easiest to tell apart")
        screen.type("easiest\r")
        screen.see("theme contrast")
        screen.until(lambda: (home / ".agenyx" / "settings.toml").exists(), "the theme is kept")
        assert 'theme = "contrast"' in (home / ".agenyx" / "settings.toml").read_text("utf-8")


def test_sessions_are_searched_looked_into_renamed_deleted_and_gone_on_with(tui: Start) -> None:
    with RawServer([answer("the first answer"), answer("the second answer"), answer("fine")]) as server:
        screen = opened(tui, server)
        for prompt, said in (("find the bug", "the first answer"), ("paint it blue", "the second answer")):
            screen.type(f"{prompt}\r")
            screen.see(said)
            screen.type("/clear\r")
            screen.see("a new session: ")
        screen.type(F5)
        screen.see("find the bug")
        screen.type("bug")
        screen.see("1 prompts, 1 steps")
        screen.see("  the first answer")
        screen.type("\x12")  # Ctrl+R
        screen.see("A title for this session")
        screen.type("\x15a title of mine\r")
        gone(screen, "A title for this session")
        screen.type("\x15mine")
        screen.see("a title of mine")
        screen.type("\x15paint")
        gone(screen, "a title of mine")
        screen.type("\x18")  # Ctrl+X
        screen.see("Delete this session for good?")
        screen.type("n")
        gone(screen, "for good?")
        screen.type("\x15mine")
        screen.see("a title of mine")
        screen.type("\r")
        screen.see("goes on with m")


def test_a_session_is_deleted_after_a_second_question(tui: Start, home: Path) -> None:
    with RawServer([answer("the first answer"), answer("fine")]) as server:
        screen = opened(tui, server)
        screen.type("find the bug\r")
        screen.see("the first answer")
        screen.type("/clear\r")
        screen.see("a new session: ")
        kept = {path.parent for path in home.glob(".agenyx/sessions/*/*/transcript.jsonl")}
        screen.type(F5)
        screen.see("find the bug")
        screen.type("find\x18")
        screen.see("Delete this session for good?")

        def deleted() -> bool:
            screen.type("y")  # it is deaf at first
            return len({path.parent for path in home.glob(".agenyx/sessions/*/*/transcript.jsonl")}) < len(kept)

        screen.until(deleted, "the session is gone")


def test_going_back_shows_each_path_and_its_diff_before_it_is_done(tui: Start, work: Path) -> None:
    write = tool("Write", file_path="b.py", content="print('hi')\n")
    with RawServer([write, answer("written"), answer("fine")]) as server:
        screen = opened(tui, server)
        screen.type("make b\r")
        pressed(screen, "y")
        screen.see("written")
        assert (work / "b.py").exists()
        screen.type(F6)
        screen.see("Go back before a turn")
        screen.see("1 file")
        screen.type("\r")
        screen.see("the conversation and the files")
        screen.type("the conversation and\r")
        screen.see("Put back 1 file and the conversation?")
        screen.see("remove  b.py")
        screen.see("-print('hi')")
        assert (work / "b.py").exists()

        def done() -> bool:
            screen.type("y")
            return not (work / "b.py").exists()

        screen.until(done, "the file is gone")
        screen.see("the conversation goes on before turn 1")
        screen.see("make b")


def test_the_tree_tasks_and_help(tui: Start) -> None:
    with RawServer([answer("one"), answer("two"), answer("fine")]) as server:
        screen = opened(tui, server)
        for prompt, said in (("first", "one"), ("second", "two")):
            screen.type(f"{prompt}\r")
            screen.see(said)
        screen.type(F7)
        screen.see("Go on after a turn")
        screen.type("first\r")
        screen.see("the conversation goes on after turn 1: first")
        screen.type(F8)
        screen.see("There are no tasks.")
        screen.type(ESC)
        gone(screen, "There are no tasks.")
        screen.type(F1)
        screen.see("Keys and commands")
        screen.type("reasoning effort")
        screen.see("/effort [LEVEL]")


def test_ctrl_c_closes_what_is_open_and_leaves_nothing_else(tui: Start) -> None:
    with RawServer([answer("fine")]) as server:
        screen = opened(tui, server)
        screen.type(F4)
        screen.see("Permission mode")
        screen.type("\x03")
        gone(screen, "Permission mode")
        screen.type("hi\r")
        screen.see("fine")


def test_keys_of_the_settings_hold_and_those_that_cannot_are_told(tui: Start, home: Path) -> None:
    (home / ".agenyx").mkdir(mode=0o700)
    (home / ".agenyx" / "settings.toml").write_text(
        '[keys]\nmode = "f12"\nfly = "f3"\nsend = "f3"\neffort = ["f2"]\n', "utf-8"
    )
    (home / ".agenyx" / "settings.toml").chmod(0o600)
    with RawServer([answer("fine")]) as server:
        screen = opened(tui, server)
        screen.see("keys.fly: there is no such action")
        screen.see("keys.send: this key cannot be changed, it stays Enter")
        screen.see("keys.effort: F2 is the key of model")
        screen.type("\x1b[24~")  # F12
        screen.see("Permission mode")


def test_no_color_sends_no_colour_at_all(tui: Start) -> None:
    with RawServer([answer("fine")]) as server:
        screen = opened(tui, server, NO_COLOR="1")
        screen.type(F4)
        screen.see("asks for almost nothing")
        sent = {code for found in re.findall(rb"\x1b\[([0-9;]*)m", screen.data) for code in found.split(b";")}
        assert sent <= {b"", b"0", b"1", b"2", b"3", b"4", b"7", b"9", b"39", b"49"}, (
            sent
        )  # attributes, the own colours

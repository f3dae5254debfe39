"""The keys of the whole screen, with the real app behind a pseudo-terminal."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

from support.pty_screen import Screen
from support.raw_server import RawServer, Until

from .conftest import GREETED
from .served import SLEEP, alive, answer, pressed, sleeping, tool

Start = Callable[..., Screen]


def test_what_is_typed_before_it_stands_is_kept(tui: Start) -> None:
    with RawServer([answer("fine")]) as server:
        screen = tui(server.url)
        screen.type("said at once\r")
        screen.see("fine")
        assert server.requests[0].json["messages"][-1]["content"] == "said at once"


def test_esc_stops_a_command_and_the_talk_goes_on(tui: Start, work: Path) -> None:
    with RawServer([tool("Bash", command=SLEEP), answer("welcome back")]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        screen.type("run it\r")
        pid = sleeping(screen, work)
        screen.type("\x1b")
        screen.until(lambda: not alive(pid), "the command is ended")
        screen.type("hello\r")
        screen.see("welcome back")
        assert screen.process.poll() is None


def test_esc_clears_what_is_typed_first_and_never_leaves(tui: Start, work: Path) -> None:
    with RawServer([tool("Bash", command=SLEEP), answer("welcome back")]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        screen.type("run it\r")
        pid = sleeping(screen, work)
        screen.type("some words")
        screen.see("> some words")
        screen.type("\x1b")
        screen.until(lambda: not screen.shows("> some words"), "the input is cleared")
        assert alive(pid)
        for _ in range(3):
            screen.type("\x1b")
            end = time.monotonic() + 0.2
            screen.until(lambda end=end: time.monotonic() > end, "the key is alone")
        screen.until(lambda: not alive(pid), "the command is ended")
        screen.type("hello\r")
        screen.see("welcome back")


def test_ctrl_c_stops_and_twice_leaves(tui: Start, work: Path) -> None:
    with RawServer([tool("Bash", command=SLEEP)]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        screen.type("run it\r")
        pid = sleeping(screen, work)
        screen.type("\x03\x03")
        assert screen.end() == 130
        assert not alive(pid)
        assert screen.modes() == screen.found


def test_ctrl_c_with_text_clears_it_and_once_more_leaves(tui: Start) -> None:
    with RawServer([answer("fine")]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        screen.type("some words")
        screen.see("> some words")
        screen.type("\x03")
        screen.see("once more leaves")
        assert not screen.shows("> some words")
        screen.type("\x03")
        assert screen.end() == 130


def test_shift_tab_goes_through_the_modes_and_never_to_the_one_without_questions(tui: Start) -> None:
    with RawServer([answer("fine")]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        for mode in ("acceptEdits", "plan", "default", "acceptEdits"):
            screen.type("\x1b[Z")
            screen.until(lambda mode=mode: mode in screen.rows()[-1], mode)


def test_an_input_waits_while_a_turn_runs(tui: Start, work: Path) -> None:
    with RawServer([tool("Bash", command=SLEEP), answer("first"), answer("second")]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        screen.type("run it\r")
        pid = sleeping(screen, work)
        screen.type("and then this\r")
        screen.see("queued: and then this")
        screen.type("\x1b")
        screen.until(lambda: not alive(pid), "the command is ended")
        screen.see("> and then this")  # it was meant for another end, so it comes back


def test_an_edit_is_asked_about_with_its_difference(tui: Start, work: Path) -> None:
    with RawServer([tool("Write", file_path="new.py", content="print(1)\n"), answer("written")]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        screen.type("write\r")
        screen.see("+print(1)")
        pressed(screen, "y")
        screen.see("written")
    assert (work / "new.py").read_text("utf-8") == "print(1)\n"


def test_what_is_typed_before_a_question_does_not_answer_it(tui: Start, work: Path) -> None:
    go = threading.Event()
    with RawServer([[Until(go), *tool("Bash", command=SLEEP)], answer("all right")]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        screen.type("run it\r")
        screen.until(lambda: bool(server.requests), "it is sent")
        screen.type("yyyy")
        screen.see("> yyyy")
        go.set()
        pressed(screen, "n")
        screen.see("all right")
        screen.see("> yyyy")
    assert not (work / "pid").exists()


def test_a_paste_of_a_megabyte(tui: Start) -> None:
    with RawServer([answer("read")]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        lines = "".join(f"line {number} of a long file\n" for number in range(40_000))
        assert len(lines) > 1_000_000
        screen.type(f"\x1b[200~{lines}\x1b[201~")
        screen.see("40,001 lines")
        screen.type("\r")
        screen.see("read")
        assert server.requests[0].json["messages"][-1]["content"].strip() == lines.strip()


def test_chat_and_plain_are_lines(tui: Start) -> None:
    with RawServer([answer("fine")]) as server:
        for argv, extra in ((["chat"], {}), (["--plain"], {}), ([], {"AGENYX_PLAIN": "1"}), ([], {"TERM": "dumb"})):
            screen = tui(server.url, *argv, **extra)
            screen.see("session")
            assert b"\x1b[?1049h" not in screen.data
            screen.type("\x04")
            assert screen.end() == 0


def test_continue_goes_on(tui: Start) -> None:
    with RawServer([answer("the first answer"), answer("the second answer")]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        screen.type("remember this\r")
        screen.see("the first answer")
        screen.type("\x04")
        assert screen.end() == 0
        screen = tui(server.url, "--continue")
        screen.see("the first answer")
        screen.type("and now\r")
        screen.see("the second answer")
        said = [message["content"] for message in server.requests[1].json["messages"] if message["role"] == "user"]
    assert said[-2:] == ["remember this", "and now"]


def test_the_mouse_can_be_left_to_the_terminal(tui: Start, home: Path) -> None:
    (home / ".agenyx").mkdir(mode=0o700)
    (home / ".agenyx" / "settings.toml").write_text('mouse = "off"\n', "utf-8")
    screen = tui("http://127.0.0.1:9")
    screen.see(GREETED)
    assert b"\x1b[?1000h" not in screen.data
    screen.type("\x04")
    assert screen.end() == 0

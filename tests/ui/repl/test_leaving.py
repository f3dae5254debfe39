"""The REPL at a real terminal with the real app: what stops a turn, and how the terminal is left."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.pty_screen import Screen
from support.raw_server import RawServer, Until

from .conftest import GREETED
from .served import SLEEP, alive, answer, sleeping, tool
from .test_screen import ERASES

Start = Callable[..., Screen]
SHELL = Path(__file__).parents[1] / "job_shell.py"


# --- interrupting ----------------------------------------------------------------------------------------------------


def test_ctrl_c_kills_a_running_command_and_the_talk_goes_on(repl: Start, work: Path) -> None:
    with RawServer([tool("Bash", command=SLEEP), answer("welcome back")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("run it\r")
        pid = sleeping(screen, work)
        begun = time.monotonic()
        screen.type("\x03")
        screen.until(lambda: not alive(pid), "the command is ended")
        assert time.monotonic() - begun < 10
        screen.see("Stopped by the user.")
        assert screen.process.poll() is None
        screen.type("hello\r")
        screen.see("welcome back")


def test_ctrl_c_clears_what_is_typed_first(repl: Start, work: Path) -> None:
    with RawServer([tool("Bash", command=SLEEP)]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("run it\r")
        pid = sleeping(screen, work)
        screen.type("some words")
        screen.see("> some words")
        screen.type("\x03")
        screen.until(lambda: not screen.shows("> some words"), "the input is cleared")
        assert alive(pid)
        screen.type("\x03")
        screen.until(lambda: not alive(pid), "the command is ended")


def test_ctrl_c_twice_leaves_and_ends_the_command(repl: Start, work: Path) -> None:
    with RawServer([tool("Bash", command=SLEEP)]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("run it\r")
        pid = sleeping(screen, work)
        screen.type("\x03\x03")
        assert screen.end() == 130
        assert not alive(pid)
        assert screen.modes() == screen.found


def test_ctrl_c_at_a_question_withdraws_it(repl: Start, work: Path) -> None:
    with RawServer([tool("Bash", command=SLEEP), answer("welcome back")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("run it\r")
        screen.see("[q] no, and stop")
        screen.type("\x03")
        screen.see("Stopped by the user.")
        assert not (work / "pid").exists()
        screen.type("hello\r")
        screen.see("welcome back")


def test_keys_typed_before_a_question_do_not_answer_it(repl: Start, work: Path) -> None:
    go = threading.Event()
    with RawServer([[Until(go), *tool("Bash", command=SLEEP)], answer("all right")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("run it\r")
        screen.until(lambda: bool(server.requests), "it is sent")
        screen.type("yyyy")
        screen.see("> yyyy")
        go.set()
        screen.see("[q] no, and stop")
        screen.type("y")  # within its first 300 ms
        end = time.monotonic() + 0.5
        screen.until(lambda: time.monotonic() > end, "the question listens")
        assert not (work / "pid").exists()
        screen.type("n")
        screen.see("all right")
        screen.see("> yyyy")
    assert not (work / "pid").exists()


def test_an_edit_is_asked_about_with_its_difference(repl: Start, work: Path) -> None:
    with RawServer([tool("Write", file_path="new.py", content="print(1)\n"), answer("written")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("write\r")
        screen.see("+print(1)")
        screen.see("[q] no, and stop")
        end = time.monotonic() + 0.4
        screen.until(lambda: time.monotonic() > end, "the question listens")
        screen.type("y")
        screen.see("written")
    assert (work / "new.py").read_text("utf-8") == "print(1)\n"


# --- the terminal is left as it was found ----------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("busy", [False, True])
def test_signals_end_it_in_good_order(repl: Start, work: Path, number: int, code: int, busy: bool) -> None:
    with RawServer([tool("Bash", command=SLEEP)]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        pid = 0
        if busy:
            screen.type("run it\r")
            pid = sleeping(screen, work)
        screen.send(number)
        assert screen.end() == code
        assert screen.modes() == screen.found
        assert screen.data.rindex(b"\x1b[?2004l") > screen.data.rindex(b"\x1b[?2004h")
        assert screen.data.rindex(b"\x1b[?25h") > screen.data.rindex(b"\x1b[?25l")
        assert not pid or not alive(pid)


def test_a_closed_window_ends_everything(repl: Start, work: Path) -> None:
    with RawServer([tool("Bash", command=SLEEP)]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("run it\r")
        pid = sleeping(screen, work)
        screen.hang_up()
        screen.process.wait(60)
        end = time.monotonic() + 30
        while alive(pid):
            assert time.monotonic() < end
            os.sched_yield()


def test_a_fault_of_ours_leaves_a_usable_terminal(repl: Start) -> None:
    with RawServer([answer("fine")]) as server:
        screen = repl(server.url, REPL_FAULT="1")
        screen.see(GREETED)
        screen.type("boom\r")
        assert screen.end() == 1
        assert screen.modes() == screen.found
        assert "unexpected error: ZeroDivisionError" in screen.text


def test_suspended_and_back(repl: Start, work: Path) -> None:
    with RawServer([answer("welcome back")]) as server:
        notes = work / "notes"
        screen = repl(server.url, before=[sys.executable, str(SHELL), str(notes)])
        screen.see(GREETED)
        screen.type("half a ")
        screen.see("> half a")
        screen.type("\x1a")
        screen.until(lambda: notes.exists() and "stopped" in notes.read_text("utf-8"), "it is stopped")
        assert screen.modes() == screen.found
        screen.read()
        assert screen.data.rindex(b"\x1b[?2004l") > screen.data.rindex(b"\x1b[?2004h")
        screen.send(signal.SIGUSR1)
        screen.until(lambda: screen.modes() != screen.found, "it takes the terminal again")
        screen.see("> half a")
        screen.type("prompt\r")
        screen.see("welcome back")
        assert server.requests[0].json["messages"][-1]["content"] == "half a prompt"


def test_a_resized_window_is_drawn_anew(repl: Start) -> None:
    with RawServer([answer("word " * 40)]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("half a prompt")
        screen.see("> half a prompt")
        screen.resize(15, 60)
        screen.send(signal.SIGWINCH)
        screen.type("!")
        screen.see("> half a prompt!")
        screen.type("\r")
        screen.see("1 step")
        assert max(len(row) for row in screen.everything() if row.startswith("word")) < 60
    assert not any(erase in screen.data for erase in ERASES)

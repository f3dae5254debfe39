"""How the full screen leaves the terminal, whatever ends it or stops it: as it was found."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.modes import asks, left_on
from support.pty_screen import Screen
from support.raw_server import RawServer, Until

from .conftest import GREETED
from .served import SLEEP, alive, answer, sleeping, tool

Start = Callable[..., Screen]
SHELL = Path(__file__).parents[2] / "job_shell.py"


def as_found(screen: Screen) -> bool:
    return screen.modes() == screen.found and left_on(screen.data) == set() and not asks(screen.data)


def test_left_with_ctrl_d(tui: Start) -> None:
    with RawServer([answer("fine")]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        screen.type("hello\r")
        screen.see("fine")
        screen.type("\x04")
        assert screen.end() == 0
    assert as_found(screen)
    assert "To go on with this session: agenyx --resume" in screen.text


@pytest.mark.parametrize("where", ["compose", "render", "handler", "task", "import"])
def test_a_fault_of_ours_is_told_on_a_terminal_that_is_as_it_was(tui: Start, where: str) -> None:
    with RawServer([answer("fine")]) as server:
        screen = tui(server.url, TUI_FAULT=where)
        if where in ("handler", "task"):
            screen.see(GREETED)
            screen.type("boom\r")
        assert screen.end() == 1
    assert as_found(screen)
    name = "ModuleNotFoundError" if where == "import" else "ZeroDivisionError"
    last = screen.data[screen.data.rindex(b"\x1b[?1049l") :].decode()
    assert f"unexpected error: {name}" in last
    assert "report it" in last and "Traceback" not in last


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("busy", [False, True])
def test_signals_end_it_in_good_order(tui: Start, work: Path, number: int, code: int, busy: bool) -> None:
    with RawServer([tool("Bash", command=SLEEP)]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        pid = 0
        if busy:
            screen.type("run it\r")
            pid = sleeping(screen, work)
        screen.send(number)
        assert screen.end() == code
    assert as_found(screen)
    assert not pid or not alive(pid)


def test_a_signal_before_it_stands(tui: Start) -> None:
    screen = tui("http://127.0.0.1:9")
    screen.until(lambda: b"\x1b[?1049h" in screen.data, "it has the terminal")
    screen.send(signal.SIGTERM)
    assert screen.end() == 143
    assert as_found(screen)


def test_a_closed_window_ends_everything(tui: Start, work: Path) -> None:
    with RawServer([tool("Bash", command=SLEEP)]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        screen.type("run it\r")
        pid = sleeping(screen, work)
        screen.hang_up()
        screen.process.wait(60)
        end = time.monotonic() + 30
        while alive(pid):
            assert time.monotonic() < end
            os.sched_yield()


def test_suspended_and_back(tui: Start, work: Path) -> None:
    with RawServer([answer("welcome back")]) as server:
        notes = work / "notes"
        screen = tui(server.url, before=[sys.executable, str(SHELL), str(notes)])
        screen.see(GREETED)
        screen.type("half a ")
        screen.see("> half a")
        screen.type("\x1a")
        screen.until(lambda: notes.exists() and "stopped" in notes.read_text("utf-8"), "it is stopped")
        screen.read()
        assert as_found(screen)
        before = len(screen.data)
        screen.send(signal.SIGUSR1)
        screen.until(lambda: screen.modes() != screen.found, "it takes the terminal again")
        screen.until(lambda: b"half a" in screen.data[before:], "it is drawn anew")
        screen.type("prompt\r")
        screen.see("welcome back")
        assert server.requests[0].json["messages"][-1]["content"] == "half a prompt"
        screen.type("\x04")
        assert screen.end() == 0
    assert as_found(screen)


def test_a_terminal_that_takes_nothing_does_not_keep_it(tui: Start) -> None:
    """The other side reads no more: a signal ends it nevertheless."""
    go = threading.Event()
    with RawServer([[Until(go), *answer("line\n\n" * 4000)]]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        screen.type("flood\r")
        screen.until(lambda: bool(server.requests), "it is sent")
        go.set()
        screen.send(signal.SIGTERM)
        assert screen.process.wait(30) == 143


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (3, 12), (15, 60), (50, 200)])
def test_any_size_of_the_window(tui: Start, rows: int, columns: int) -> None:
    with RawServer([answer("fine")]) as server:
        screen = tui(server.url, rows=rows, columns=columns)
        if rows >= 15:
            screen.see("shows commands")
        screen.type("hello\r")
        screen.until(lambda: bool(server.requests), "it is sent")
        if rows >= 15:
            screen.see("fine")
        screen.resize(24, 80)
        screen.send(signal.SIGWINCH)
        screen.see("fine")
        screen.type("\x04")
        assert screen.end() == 0
    assert as_found(screen)


def test_a_storm_of_sizes(tui: Start) -> None:
    with RawServer([answer("word " * 300)]) as server:
        screen = tui(server.url)
        screen.see(GREETED)
        screen.type("hello\r")
        screen.see("word word")
        for count in range(200):
            screen.resize(1 + count % 50, 1 + (count * 7) % 160)
            screen.send(signal.SIGWINCH)
            screen.read()
        screen.resize(24, 80)
        screen.send(signal.SIGWINCH)
        screen.type("still here")
        screen.see("> still here")
        screen.type("\x03\x04")
        assert screen.end() == 0
    assert as_found(screen)

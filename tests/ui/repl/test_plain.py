"""Terminals that can do nothing, and pipes: the same loop on plain lines."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

from support.mock import command_env
from support.pty_screen import Screen
from support.raw_server import RawServer

from .conftest import GREETED, PROGRAM
from .served import SLEEP, alive, answer, tool

Start = Callable[..., Screen]


def test_a_dumb_terminal_gets_no_escape_sequence(repl: Start) -> None:
    with RawServer([answer("# Head\n\nsome **bold** words\n\x1b[2J")]) as server:
        screen = repl(server.url, TERM="dumb")
        screen.see(GREETED)
        screen.until(lambda: screen.data.endswith(b"> "), "it asks")
        screen.type("go\r")
        screen.see("some bold words")
        screen.see("1 step")
        screen.type("/hepl\r")
        screen.see("Did you mean /help?")
        screen.type("\x04")
        assert screen.end() == 0
    assert b"\x1b" not in screen.data
    assert screen.modes() == screen.found


def test_a_question_and_ctrl_c_on_a_dumb_terminal(repl: Start, work: Path) -> None:
    with RawServer([tool("Bash", command=SLEEP), answer("welcome back")]) as server:
        screen = repl(server.url, TERM="dumb")
        screen.see(GREETED)
        screen.type("run it\r")
        screen.see("[q] no, and stop")
        pid = sleeping_plainly(screen, work)
        screen.type("\x03")
        screen.until(lambda: not alive(pid), "the command is ended")
        screen.see("Stopped by the user.")
        screen.type("hello\r")
        screen.see("welcome back")
        screen.until(lambda: screen.data.endswith(b"> "), "it asks")
        screen.type("\x03")
        screen.see("once more leaves")
        screen.type("\x03")
        assert screen.end() == 130
    assert b"\x1b" not in screen.data
    assert screen.modes() == screen.found


def sleeping_plainly(screen: Screen, work: Path) -> int:
    pid = work / "pid"

    def runs() -> bool:
        if not pid.exists():
            screen.type("y")  # until it is heard: the first moments are deaf
        return pid.exists() and pid.read_text("utf-8").endswith("\n")

    screen.until(runs, "the command runs")
    return int(pid.read_text("utf-8"))


def test_sigterm_on_a_dumb_terminal(repl: Start) -> None:
    with RawServer([answer("hello")]) as server:
        screen = repl(server.url, TERM="dumb")
        screen.see(GREETED)
        screen.send(signal.SIGTERM)
        assert screen.end() == 143
        assert screen.modes() == screen.found


def test_piped_lines_are_inputs_in_their_order(home: Path, work: Path) -> None:
    with RawServer([answer("one"), answer("two")]) as server:
        env = command_env(home, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{server.url}/v1", AGENYX_MODEL="m")
        done = subprocess.run(
            PROGRAM,
            cwd=work,
            env=env,
            input=b"first\n/status\n!touch made",
            capture_output=True,
            timeout=60,
            start_new_session=True,
            check=False,
        )
        assert [request.json["messages"][-1]["content"] for request in server.requests] == ["first", "!touch made"]
    assert not (work / "made").exists()  # nobody typed it
    text = done.stdout.decode()
    assert (done.returncode, done.stderr) == (0, b"")
    assert text.index("\none\n") < text.index("workspace") < text.index("\ntwo\n")
    assert "\x1b" not in text


def test_a_line_longer_than_one_read_is_one_input(home: Path, work: Path) -> None:
    words = "word " * 40_000
    with RawServer([answer("one")]) as server:
        env = command_env(home, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{server.url}/v1", AGENYX_MODEL="m")
        done = subprocess.run(
            PROGRAM, cwd=work, env=env, input=words.encode() + b"\n", capture_output=True, timeout=60, check=False
        )
        assert done.returncode == 0
        assert server.requests[0].json["messages"][-1]["content"] == words


def test_without_a_provider_it_says_what_to_do(home: Path, work: Path) -> None:
    env = {**command_env(home), "TERM": "xterm"}
    with Screen(PROGRAM, work, env) as screen:
        assert screen.end() == 1
        assert screen.modes() == screen.found
        assert "agenyx: no model provider is configured" in " ".join(screen.text.split())
    assert os.listdir(work) == []

"""Questions at a real pseudo-terminal: what they show, and which keys answer them."""

from __future__ import annotations

import os
import select
import signal
import termios
import time
from collections.abc import Callable
from typing import Any

import pytest

from agenyx.core.approval import Approval
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Effects, PathRef
from agenyx.core.verdict import Reason, Verdict
from agenyx.ui.ask import question

PROMPT = "[q] deny and stop "


def approval(effects: Effects, args: str = "{}") -> Approval:
    verdict = Verdict("ask", (Reason("default", "Bash acts outside the conversation"),))
    return Approval("apr_1", ToolCall("call_1", "w", "Bash", args), verdict, effects)


def path(shown: str) -> PathRef:
    return PathRef(shown, shown.encode(), "/w")


# --- what is shown -------------------------------------------------------------------------------------------------


def test_the_question_shows_everything() -> None:
    text = question(approval(Effects(writes=(path("a.py"), path("b.py")), hosts=("x.org",), preview="-old\n+new\n")))
    assert "Bash asks for approval" in text
    assert "\n-old\n+new\n" in text
    assert "Writes: a.py, b.py\n" in text
    assert "Contacts: x.org\n" in text
    assert "Why you are asked: Bash acts outside the conversation\n" in text
    assert "WARNING" not in text


def test_without_a_preview_the_arguments_are_shown() -> None:
    assert '"n": 1' in question(approval(Effects(opaque="unknown"), '{"n":1}'))
    assert "not json" in question(approval(Effects(opaque="unknown"), "not json"))


def test_hidden_characters_are_shown_and_warned_of() -> None:
    text = question(approval(Effects(preview="echo hi\u200b\x1b[8m; rm -rf ~")))
    assert "echo hi\\u200b\\x1b[8m; rm -rf ~" in text
    assert "WARNING: it holds hidden characters" in text
    assert text.rstrip().splitlines()[-1].startswith("WARNING")


def test_a_long_text_is_printed_whole_and_its_length_told() -> None:
    text = question(approval(Effects(preview="\n".join(f"line {n}" for n in range(500)))))
    assert all(f"line {n}\n" in text for n in range(500))
    assert "lines: scroll up to read all of it" in text


# --- at a terminal -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keys", "result"),
    [
        ("y", "allow stop=False by=terminal message=''"),
        ("Y", "allow stop=False by=terminal message=''"),
        ("n", "deny stop=False by=terminal message=''"),
        ("\r", "deny stop=False by=terminal message=''"),
        ("\x1b", "deny stop=False by=terminal message=''"),
        ("q", "deny stop=True by=terminal message=''"),
    ],
)
def test_keys(tty: Callable[..., Any], keys: str, result: str) -> None:
    screen = tty("ask", "-p", "hi")
    found = termios.tcgetattr(screen.slave)
    screen.see(PROMPT)
    press(screen, keys, result)
    assert screen.end() == 0
    assert termios.tcgetattr(screen.slave) == found


def press(screen: Any, keys: str, result: str) -> None:
    """Press until it is heard: a key within the first 300 ms is thrown away, as it should be."""
    end = time.monotonic() + 60
    while not screen.shows(result):
        assert time.monotonic() < end, screen.screen
        screen.type(keys)
        select.select([screen.master], [], [], 0.2)


def test_a_message_goes_with_the_denial(tty: Callable[..., Any]) -> None:
    screen = tty("ask", "-p", "hi")
    screen.see(PROMPT)
    press(screen, "e", "do instead: ")
    screen.type("use the Makefile\n")
    assert screen.end() == 0
    # Further e's may have been typed while the first was on its way.
    assert b"use the Makefile'" in screen.screen
    assert b"deny stop=False by=terminal message='" in screen.screen


def test_keys_typed_ahead_answer_nothing(tty: Callable[..., Any], fake: Any) -> None:
    screen = tty("ask", "-p", "hi")
    screen.type("yyyy\n")  # long before the question is drawn
    screen.see(PROMPT)
    press(screen, "n", "by=terminal")
    assert screen.end() == 0
    assert b"deny stop=False" in screen.screen
    assert b"allow" not in screen.screen


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_withdraws_the_question(tty: Callable[..., Any], fake: Any, number: int, code: int) -> None:
    screen = tty("ask", "-p", "hi")
    found = termios.tcgetattr(screen.slave)
    screen.see(PROMPT)
    if number == signal.SIGINT:
        screen.type("\x03")
    else:
        screen.process.send_signal(number)
    assert screen.end() == code
    assert termios.tcgetattr(screen.slave) == found
    assert "closed" in fake.notes


def test_a_suspended_question_leaves_the_terminal_usable_and_comes_back(tty: Callable[..., Any], fake: Any) -> None:
    screen = tty("ask", "-p", "hi", shell=True)
    found = termios.tcgetattr(screen.slave)
    screen.see(PROMPT)
    screen.type("\x1a")
    fake.wait_for("stopped")
    assert termios.tcgetattr(screen.slave) == found
    screen.screen = b""
    screen.process.send_signal(signal.SIGUSR1)
    screen.see(PROMPT)
    press(screen, "y", "allow stop=False")
    assert screen.end() == 0
    assert termios.tcgetattr(screen.slave) == found


def test_a_piped_prompt_is_still_asked_about_at_the_terminal(tty: Callable[..., Any]) -> None:
    read, write = os.pipe()
    screen = tty("ask", "-p", "-", stdin=read)
    os.close(read)
    os.write(write, b"hi")
    os.close(write)
    screen.see(PROMPT)
    press(screen, "y", "allow stop=False by=terminal")
    assert screen.end() == 0


def test_control_bytes_of_the_command_do_not_reach_the_terminal(tty: Callable[..., Any]) -> None:
    screen = tty("ask", "-p", "hi", env={"FAKE_COMMAND": "echo \x1b[2J\x07\u202e"})
    screen.see(PROMPT)
    assert b"echo \\x1b[2J\\x07\\u202e" in screen.screen
    assert b"\x1b" not in screen.screen
    press(screen, "n", "by=terminal")
    screen.end()


def test_a_container_without_a_controlling_terminal_is_asked_too(tty: Callable[..., Any]) -> None:
    screen = tty("ask", "-p", "hi", control=False)
    screen.see(PROMPT)
    press(screen, "y", "allow stop=False by=terminal")
    assert screen.end() == 0


def test_a_background_job_is_not_stopped_by_a_question(tty: Callable[..., Any]) -> None:
    screen = tty("ask", "-p", "hi", shell=True, env={"JOB": "background"})
    screen.see("deny stop=False by=headless")
    assert screen.end() == 0

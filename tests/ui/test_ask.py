"""Questions at a real pseudo-terminal: which keys answer them, and how the terminal is left."""

from __future__ import annotations

import json
import os
import select
import signal
import termios
import time
from collections.abc import Callable
from typing import Any

import pyte
import pytest

from .conftest import wait_until

PROMPT = "[q] no, and stop: "
ALWAYS = "Press a again to keep it"
HELP = "Ctrl+C goes back."
OFFER = {"FAKE_OFFER": "npm test;git add:*"}


@pytest.mark.parametrize(
    ("keys", "result"),
    [
        ("y", "allow stop=False by=terminal message='' scope=once args=None"),
        ("Y", "allow stop=False by=terminal message='' scope=once args=None"),
        ("s", "allow stop=False by=terminal message='' scope=session args=None"),
        ("n", "deny stop=False by=terminal message='' scope=once args=None"),
        ("\r", "deny stop=False by=terminal message='' scope=once args=None"),
        ("\x1b", "deny stop=False by=terminal message='' scope=once args=None"),
        ("q", "deny stop=True by=terminal message='' scope=once args=None"),
    ],
)
def test_keys(tty: Callable[..., Any], keys: str, result: str) -> None:
    screen = tty("ask", "-p", "hi", env=OFFER)
    found = termios.tcgetattr(screen.slave)
    screen.see(PROMPT)
    assert screen.shows("s/a would allow: Bash(npm test), Bash(git add:*)")
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
    press(screen, "m", "do instead: ")
    screen.type("use the Makefile\n")
    assert screen.end() == 0
    # Further keys may have been typed while the first was on its way.
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


# --- rules ----------------------------------------------------------------------------------------------------------


def test_always_is_shown_before_it_is_kept_and_wants_a_second_key(tty: Callable[..., Any]) -> None:
    screen = tty("ask", "-p", "hi", env=OFFER)
    screen.see(PROMPT)
    press(screen, "a", ALWAYS)
    assert screen.shows("allow Bash(npm test)")
    assert screen.shows("allow Bash(git add:*)")
    assert screen.shows("This goes to ~/.agenyx/settings.toml for good.")
    assert not screen.shows("by=terminal")
    press(screen, "a", "scope=saved")
    assert screen.end() == 0


def test_always_typed_twice_at_once_keeps_nothing(tty: Callable[..., Any]) -> None:
    screen = tty("ask", "-p", "hi", env=OFFER)
    screen.see(PROMPT)
    press(screen, "a", ALWAYS)
    screen.type("a")  # within its first 300 ms
    press(screen, "\r", "not kept")
    screen.screen = screen.screen.rpartition(b"not kept")[2]
    screen.see(PROMPT)
    press(screen, "n", "deny stop=False")
    assert screen.end() == 0


def test_without_an_offer_there_is_no_such_choice(tty: Callable[..., Any]) -> None:
    screen = tty("ask", "-p", "hi")
    screen.see(PROMPT)
    assert not screen.shows("[s]")
    assert not screen.shows("[a]")
    quiet(screen)
    screen.type("a")
    quiet(screen, 0.1)
    screen.type("s")
    press(screen, "n", "deny stop=False")
    assert screen.end() == 0


def test_trust_is_yes_or_not_now(tty: Callable[..., Any]) -> None:
    screen = tty("ask", "-p", "hi", env={**OFFER, "FAKE_APPROVAL": "trust"})
    screen.see("[y] trust  [n] not now (Enter): ")
    assert not screen.shows("[e]")
    press(screen, "y", "allow stop=False by=terminal message='' scope=once")
    assert screen.end() == 0


def quiet(screen: Any, seconds: float = 0.4) -> None:
    """Until a question listens: it is deaf for its first 300 ms."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        select.select([screen.master], [], [], 0.02)
        screen.shows("nothing that is ever shown")


# --- editing --------------------------------------------------------------------------------------------------------


def display(screen: Any) -> str:
    """What a person sees: the line editor writes only what differs."""
    screen.shows("nothing that is ever shown")
    emulator = pyte.Screen(80, 100)
    pyte.ByteStream(emulator).feed(screen.screen)
    return "\n".join(row.rstrip() for row in emulator.display)


def reads(screen: Any, text: str) -> None:
    """Wait until a person reads `text`."""
    wait_until(lambda: text in display(screen), f"{text!r} on the screen")


def edits(tty: Callable[..., Any], **env: str) -> Any:
    screen = tty("ask", "-p", "hi", env=env)
    screen.found = termios.tcgetattr(screen.slave)
    screen.see(PROMPT)
    quiet(screen)
    screen.type("e")
    screen.see(HELP if env.get("TERM") != "dumb" else "goes back:")
    return screen


def sent(screen: Any) -> Any:
    """The arguments that were sent, once the program has ended."""
    assert screen.end() == 0
    assert termios.tcgetattr(screen.slave) == screen.found
    args = screen.screen.rpartition(b"args=")[2].partition(b"\r")[0]
    return json.loads(args) if args != b"None" else None


def test_one_line_is_edited_in_place_and_enter_allows_it(tty: Callable[..., Any]) -> None:
    screen = edits(tty)
    screen.type("\x7f" * 4 + "lint")
    press(screen, "\r", "Allowed as you changed it:")
    assert sent(screen) == {"command": "make lint"}
    assert b"allow stop=False by=terminal message='' scope=once" in screen.screen


def test_what_was_not_changed_is_a_plain_yes(tty: Callable[..., Any]) -> None:
    screen = edits(tty)
    press(screen, "\r", "Allowed as it was.")
    assert sent(screen) is None


def test_enter_in_the_first_moment_of_the_editor_is_no_yes(tty: Callable[..., Any]) -> None:
    screen = edits(tty)
    screen.type("\r")
    quiet(screen)
    assert not screen.shows("Allowed")
    screen.type("\x03")
    screen.see("not changed")


def test_more_lines_need_alt_enter(tty: Callable[..., Any]) -> None:
    screen = edits(tty, FAKE_COMMAND="make one")
    screen.type("\nmake two")
    reads(screen, "  make two\nAlt+Enter")
    quiet(screen)
    screen.type("\r# three")
    reads(screen, "# three")
    assert not screen.shows("Allowed")
    press(screen, "\x1b\r", "Allowed as you changed it:")
    assert sent(screen) == {"command": "make one\nmake two\n# three"}


def test_a_paste_allows_nothing(tty: Callable[..., Any]) -> None:
    screen = edits(tty)
    quiet(screen)
    screen.type("\x1b[200~; true\x1b[201~\rrm -rf x\r\x1b[201~")
    reads(screen, "rm -rf x")
    assert not screen.shows("Allowed")
    screen.type("\x03")
    screen.see("not changed")


@pytest.mark.parametrize("keys", ["\x03", "\x1b\x1b"])
def test_going_back_changes_nothing_and_asks_again(tty: Callable[..., Any], keys: str) -> None:
    screen = edits(tty)
    screen.type("; rm -rf x")
    reads(screen, "; rm -rf x")
    screen.screen = b""
    screen.type(keys)  # once: a second Ctrl+C would stop the turn
    screen.see("not changed")
    screen.see(PROMPT)
    press(screen, "y", "scope=once")
    assert sent(screen) is None


def test_nothing_cannot_be_run(tty: Callable[..., Any]) -> None:
    screen = edits(tty, FAKE_COMMAND="ls")
    screen.type("\x7f\x7f")
    quiet(screen)
    screen.type("\r")
    reads(screen, "That cannot be run: nothing is left of it.")
    screen.type("pwd")
    press(screen, "\r", "Allowed as you changed it:")
    assert sent(screen) == {"command": "pwd"}


def test_what_cannot_be_seen_is_a_sign_in_the_editor_and_stays(tty: Callable[..., Any]) -> None:
    screen = edits(tty, FAKE_COMMAND="echo \u202e\x1b[2J x")
    reads(screen, "echo ?^[[2J x")
    assert b"\xe2\x80\xae" not in screen.screen
    assert b"\x1b[2J" not in screen.screen
    screen.type("y")
    press(screen, "\r", "Allowed as you changed it:")
    assert sent(screen) == {"command": "echo \u202e\x1b[2J xy"}


def test_a_dumb_terminal_takes_a_line_instead(tty: Callable[..., Any]) -> None:
    screen = edits(tty, TERM="dumb")
    screen.type("make lint\n")
    assert sent(screen) == {"command": "make lint"}
    assert b"\x1b" not in screen.screen


def test_an_empty_line_goes_back(tty: Callable[..., Any]) -> None:
    screen = edits(tty, TERM="dumb")
    screen.type("\n")
    screen.see("not changed")
    press(screen, "n", "deny stop=False")
    assert sent(screen) is None


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_editor(tty: Callable[..., Any], fake: Any, number: int, code: int) -> None:
    screen = edits(tty)
    screen.process.send_signal(number)
    assert screen.end() == code
    assert termios.tcgetattr(screen.slave) == screen.found
    assert screen.screen.rindex(b"\x1b[?2004l") > screen.screen.rindex(b"\x1b[?2004h")
    assert screen.screen.rindex(b"\x1b[?25h") > screen.screen.rindex(b"\x1b[?25l")
    assert "closed" in fake.notes


def test_a_suspended_editor_leaves_the_terminal_usable_and_comes_back(tty: Callable[..., Any], fake: Any) -> None:
    screen = tty("ask", "-p", "hi", shell=True)
    screen.found = termios.tcgetattr(screen.slave)
    screen.see(PROMPT)
    quiet(screen)
    screen.type("e")
    screen.see(HELP)
    screen.type("\x1a")
    fake.wait_for("stopped")
    assert termios.tcgetattr(screen.slave) == screen.found
    display(screen)  # take in what was drawn before
    screen.screen = b""
    screen.process.send_signal(signal.SIGUSR1)
    screen.see(HELP)
    screen.type("2")
    press(screen, "\r", "Allowed as you changed it:")
    assert sent(screen) == {"command": "make test2"}

"""Questions in the REPL with the real app: rules that are set and arguments that are edited while its editor waits."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from support.pty_screen import Screen
from support.raw_server import RawServer

from .conftest import GREETED
from .served import answer, tool

Start = Callable[..., Screen]
ASKED = "[q] no, and stop"


def asked(screen: Screen, keys: str) -> None:
    """Answer the question that is on the screen, once it listens."""
    screen.see(ASKED)
    end = time.monotonic() + 0.4  # a question is deaf for its first 300 ms
    screen.until(lambda: time.monotonic() > end, "the question listens")
    screen.type(keys)


def test_a_command_is_edited_and_the_edited_one_runs(repl: Start, work: Path) -> None:
    with RawServer([tool("Bash", command="touch one"), answer("all right")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("go\r")
        asked(screen, "e")
        screen.see("Enter allows what stands here")
        screen.type("\x7f\x7f\x7ftwo")
        screen.see("  touch two")
        end = time.monotonic() + 0.4
        screen.until(lambda: time.monotonic() > end, "the editor listens")
        screen.type("\r")
        screen.see("all right")
        assert (work / "two").exists()
        assert not (work / "one").exists()
        assert "touch two" in str(server.requests[1].json["messages"][-1]["content"])
        screen.type("next input")  # the line editor has its keys back
        screen.see("> next input")
        screen.type("\x03\x04")
        assert screen.end() == 0
        assert screen.modes() == screen.found


def test_ctrl_c_in_the_editor_goes_back_and_the_turn_goes_on(repl: Start, work: Path) -> None:
    with RawServer([tool("Bash", command="touch one"), answer("all right")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("go\r")
        asked(screen, "e")
        screen.see("Enter allows what stands here")
        screen.type("\x03")
        screen.see("not changed")
        asked(screen, "n")
        screen.see("all right")
        assert not (work / "one").exists()


def test_a_rule_for_the_session_is_listed_and_spares_the_next_question(repl: Start, work: Path) -> None:
    calls = [tool("Bash", command="touch one"), tool("Bash", command="echo again && touch one")]
    with RawServer([*calls, answer("all right")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("go\r")
        screen.see("s/a would allow: Bash(touch one)")
        asked(screen, "s")
        screen.see("all right")
        assert (work / "one").exists()
        assert screen.text.count(ASKED) == 1
        screen.type("/permissions\r")
        screen.see("allow  Bash(touch one)  (this session)")
        screen.see("mode default")


def test_a_rule_that_is_kept_stands_in_the_settings(repl: Start, work: Path, home: Path) -> None:
    with RawServer([tool("Bash", command="touch one"), answer("all right")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("go\r")
        asked(screen, "a")
        screen.see("This goes to ~/.agenyx/settings.toml for good.")
        assert not (home / ".agenyx" / "settings.toml").exists()
        end = time.monotonic() + 0.4
        screen.until(lambda: time.monotonic() > end, "the question listens")
        screen.type("a")
        screen.see("all right")
        assert "Bash(touch one)" in (home / ".agenyx" / "settings.toml").read_text("utf-8")
    assert (work / "one").exists()


def test_the_end_of_a_long_command_is_on_a_small_screen(repl: Start, work: Path) -> None:
    script = "\n".join(f"echo step {number}" for number in range(60)) + "\ntouch made"
    with RawServer([tool("Bash", command=script), answer("all right")]) as server:
        screen = repl(server.url, rows=15, columns=60)
        screen.see(GREETED)
        screen.type("go\r")
        screen.see(ASKED)
        assert screen.shows("  touch made")
        assert screen.shows("scroll up to read all of it")
        assert all(f"  echo step {number}" in screen.everything() for number in range(60))
        asked(screen, "n")
        screen.see("all right")

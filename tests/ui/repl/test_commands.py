"""Commands of a person's own at the keyboard, and the colours that one chooses there."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from support.pty_screen import Screen
from support.raw_server import RawServer

from .conftest import GREETED
from .served import answer

Start = Callable[..., Screen]


def asked(screen: Screen, keys: str, count: int) -> None:
    """Answer the question number `count`, once it listens."""
    screen.until(lambda: screen.text.count("[q] no, and stop") >= count, "it asks")
    end = time.monotonic() + 0.4  # a question is deaf for its first 300 ms
    screen.until(lambda: time.monotonic() > end, "the question listens")
    screen.type(keys)


def written(home: Path, name: str, text: str) -> None:
    file = home / ".agenyx" / "commands" / name
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.parent.parent.chmod(0o700)
    file.write_text(text, "utf-8")


def test_a_command_of_a_file_completes_asks_for_what_it_runs_and_becomes_a_turn(repl: Start, home: Path) -> None:
    written(home, "look.md", "---\ndescription: Look at one thing\n---\nLook at $1:\n!`touch made; echo seen`\n")
    with RawServer([answer("first answer"), answer("second answer")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("/loo")
        screen.see("Look at one thing")
        screen.type("k tests\r")
        asked(screen, "n", 1)
        screen.see("a part of it was refused: touch made; echo seen")
        assert server.requests == []
        screen.type("/look tests\r")
        asked(screen, "y", 2)
        screen.see("first answer")
        body = json.loads(server.requests[0].body)
        assert body["messages"][-1]["content"].startswith("Look at tests:\nseen\n")
        screen.type("/tree\r")
        screen.see("*  1  /look tests  <- here")
        screen.type("/rewind\r")
        screen.until(lambda: screen.text.rstrip().count("> /look tests") >= 3, "what was typed is in the input again")
        screen.type("\x03\x04")
        assert screen.end() == 0


def test_other_colours_hold_at_once_and_from_then_on(repl: Start, home: Path) -> None:
    def prompt(codes: str) -> bytes:
        return f"\x1b[{codes}m> \x1b[0m".encode()

    with RawServer([]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("/theme\r")
        screen.see("theme default; there are: default, light, contrast, ansi, mono")
        assert prompt("1;36") in screen.data and prompt("1;34") not in screen.data
        screen.type("/theme pink\r")
        screen.see("there is no theme pink")
        screen.type("/theme light\r")
        screen.see("theme light")
        screen.type("/status\r")
        screen.until(lambda: prompt("1;34") in screen.data, "the prompt is blue")
        screen.type("\x04")
        assert screen.end() == 0
        assert 'theme = "light"' in (home / ".agenyx" / "settings.toml").read_text()
        again = repl(server.url)
        again.see(GREETED)
        again.type("/theme mono\r")
        again.see("theme mono")
        assert b"\x1b[0;34;1m> " in again.data and b"\x1b[0;36;1m> " not in again.data
        again.type("/status\r")
        again.until(lambda: prompt("1") in again.data, "the prompt has no colour")
        again.type("\x04")
        assert again.end() == 0


def test_without_colours_a_theme_changes_nothing_and_is_kept(repl: Start, home: Path) -> None:
    with RawServer([]) as server:
        screen = repl(server.url, NO_COLOR="1")
        screen.see(GREETED)
        screen.type("/theme light\r")
        screen.see("there are no colours here")
        screen.type("\x04")
        assert screen.end() == 0
        assert 'theme = "light"' in (home / ".agenyx" / "settings.toml").read_text()


def test_a_command_of_the_shell_that_a_person_types(repl: Start, work: Path) -> None:
    with RawServer([answer("first answer")]) as server:
        screen = repl(server.url)
        screen.see(GREETED)
        screen.type("!echo from-$((40+2)); touch made\r")
        screen.see("from-42")
        assert (work / "made").exists() and server.requests == []
        screen.type("!sleep 300\r")
        screen.see("running Bash")
        screen.type("\x03")
        screen.until(lambda: not screen.shows("running Bash"), "it is stopped")
        screen.type("look\r")
        screen.see("first answer")
        assert "from-42" in server.requests[0].body.decode()


def test_on_a_dumb_terminal_too(repl: Start, work: Path) -> None:
    with RawServer([]) as server:
        screen = repl(server.url, TERM="dumb")
        screen.see(GREETED)
        screen.until(lambda: screen.data.endswith(b"> "), "it asks")
        screen.type("!echo from-$((40+2)); touch made\r")
        screen.see("from-42")
        assert (work / "made").exists()

"""At the terminal: a folder is asked about while a turn runs; styles, notes and instructions are seen and changed."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from support.mock import command_env
from support.pty_screen import Screen
from support.raw_server import RawServer, Step, call, content, finish, stream


def listens(screen: Screen) -> None:
    end = time.monotonic() + 0.4  # a question is deaf for its first 300 ms
    screen.until(lambda: time.monotonic() > end, "the question listens")


def test_a_folder_is_asked_about_in_the_middle_of_a_turn(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    (work / "src").mkdir(parents=True)
    home.mkdir()
    (work / "src" / "a.py").write_text("x", "utf-8")
    (work / "src" / "AGENTS.md").write_text("BELOW-TOLD\n", "utf-8")
    read = stream(call("Read", json.dumps({"file_path": "src/a.py"})), finish("tool_calls"))
    steps: list[list[Step]] = [[read], *[[stream(content(text), finish())] for text in ("all read", "in style")]]
    with RawServer(steps) as server:
        env = command_env(
            home, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{server.url}/v1", AGENYX_MODEL="m", TERM="xterm"
        )
        with Screen([sys.executable, "-m", "agenyx", "chat"], work, env, rows=60, columns=160) as screen:
            screen.see("shows commands and keys")
            screen.type("read it\r")
            screen.see("BELOW-TOLD")
            screen.see("instructions in a folder steer the agent as well")
            listens(screen)
            screen.type("y")
            screen.see("all read")
            screen.type("/output-style learning\r")
            screen.see("The output style is Learning")
            screen.type("/memory remember build make all\r")
            screen.see("Kept as build")
            screen.type("/instructions\r")
            screen.see("AGENTS.md: told when something there was touched")
            screen.type("go on\r")
            screen.see("in style")
            screen.type("/exit\r")
            assert screen.end() == 0
        bodies = [request.body.decode() for request in server.requests]
    assert ["BELOW-TOLD" in body for body in bodies] == [False, True, True]
    assert ["switched the output style to Learning" in body for body in bodies] == [False, False, True]
    messages = [json.loads(body)["messages"] for body in bodies]
    assert messages[0] == messages[1][: len(messages[0])] and messages[1] == messages[2][: len(messages[1])]

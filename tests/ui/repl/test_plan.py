"""Questions, plans and tasks in the REPL: choices while its editor waits, and a line for each task."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from support.pty_screen import Screen
from support.raw_server import RawServer, Step, call, finish, stream

from .conftest import GREETED
from .served import answer

Start = Callable[..., Screen]
QUESTION = {"question": "Which database?", "header": "Base", "options": [{"label": "Postgres"}, {"label": "SQLite"}]}


def tools(*made: tuple[str, dict[str, object]]) -> list[Step]:
    parts = [call(name, json.dumps(args), f"call_{n}", n) for n, (name, args) in enumerate(made)]
    return [stream(*parts, finish("tool_calls"))]


def press(screen: Screen, keys: str, prompt: str) -> None:
    """Once the question is there and listens: it is deaf for its first 300 ms."""
    screen.see(prompt)
    end = time.monotonic() + 0.4
    screen.until(lambda: time.monotonic() > end, "the question listens")
    screen.type(keys)


def test_a_question_a_plan_and_tasks(repl: Start, work: Path) -> None:
    script = [
        tools(("AskUserQuestion", {"questions": [QUESTION]}), ("TaskCreate", {"subject": "Tables"})),
        tools(("ExitPlanMode", {"plan": "1. make it"}), ("Write", {"file_path": "made.txt", "content": "x\n"})),
        answer("all right"),
    ]
    with RawServer(script) as server:
        screen = repl(server.url, "--permission-mode", "plan", rows=40)
        screen.see(GREETED)
        screen.type("go\r")
        press(screen, "2", "Press 1-3, or Esc to decline")
        screen.see("The model presents a plan")
        assert screen.shows("TaskCreate: t1 [pending] Tables")
        press(screen, "2", "Press 1-3, or Esc to keep planning")
        screen.see("all right")
        screen.see("m · acceptEdits")  # the editor is back
        assert screen.shows("permission mode: acceptEdits")
        assert (work / "made.txt").exists()
        screen.type("/tasks\r")
        screen.until(lambda: "t1 [pending] Tables" in screen.everything(), "a row of its own")
        screen.until(lambda: ">" in screen.rows(), "the editor is back")
        screen.type("/plan show\r")
        screen.until(lambda: sum("1. make it" in row for row in screen.everything()) == 3, "the plan once more")
        screen.until(lambda: ">" in screen.rows(), "the editor is back")
        screen.type("next input")  # the line editor has its keys back
        screen.see("> next input")
        screen.type("\x03\x04")
        assert screen.end() == 0
        assert screen.modes() == screen.found

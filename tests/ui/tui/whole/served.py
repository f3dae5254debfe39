"""What the model server of a test answers, and the command that it has the full screen run."""

from __future__ import annotations

import json
import time
from pathlib import Path

from support.pty_screen import Screen
from support.raw_server import Step, call, content, finish, stream

SLEEP = "echo $$ > pid; sleep 300"
ASKED = "[q] no, and stop"


def answer(text: str) -> list[Step]:
    return [stream(content(text), finish())]


def tool(name: str, **args: str | bool) -> list[Step]:
    return [stream(call(name, json.dumps(args)), finish("tool_calls"))]


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def pressed(screen: Screen, key: str, question: str = ASKED) -> None:
    """Answer the question that is open. It is deaf for its first 300 ms, however long those take here: the key is
    pressed again while nothing but the line of status changes."""
    screen.see(question)
    before = screen.rows()[:-1]
    while screen.rows()[:-1] == before:
        end = time.monotonic() + 0.6
        screen.until(lambda end=end: time.monotonic() > end, "the question listens")
        screen.type(key)
        end = time.monotonic() + 2
        screen.until(lambda end=end: screen.rows()[:-1] != before or time.monotonic() > end, "it is answered")


def sleeping(screen: Screen, work: Path) -> int:
    """Approve a command that sleeps; its pid."""
    pressed(screen, "y")
    pid = work / "pid"
    screen.until(lambda: pid.exists() and pid.read_text("utf-8").endswith("\n"), "the command runs")
    return int(pid.read_text("utf-8"))

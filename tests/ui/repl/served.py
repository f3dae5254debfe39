"""What the model server of a test answers, and the command that it has the REPL run."""

from __future__ import annotations

import json
import time
from pathlib import Path

from support.pty_screen import Screen
from support.raw_server import Step, begin, call, chunk, content, event, finish, stream

END = chunk(event("[DONE]")) + b"0\r\n\r\n"
SLEEP = "echo $$ > pid; sleep 300"


def answer(text: str) -> list[Step]:
    return [stream(content(text), finish())]


def tool(name: str, **args: str) -> list[Step]:
    return [stream(call(name, json.dumps(args)), finish("tool_calls"))]


def pieces(text: str, size: int) -> list[Step]:
    parts = [text[at : at + size] for at in range(0, len(text), size)]
    return [begin(), *(chunk(event(content(part))) for part in parts), chunk(event(finish())) + END]


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def sleeping(screen: Screen, work: Path) -> int:
    """Approve a command that sleeps; its pid."""
    screen.see("[q] no, and stop")
    end = time.monotonic() + 0.4  # a question is deaf for its first 300 ms
    screen.until(lambda: time.monotonic() > end, "the question listens")
    screen.type("y")
    pid = work / "pid"
    screen.until(lambda: pid.exists() and pid.read_text("utf-8").endswith("\n"), "the command runs")
    screen.see("running Bash")
    return int(pid.read_text("utf-8"))

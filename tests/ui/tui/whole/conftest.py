"""The full screen as a program behind a pseudo-terminal, with model servers of ours."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.mock import command_env
from support.pty_screen import Screen

PROGRAM = [sys.executable, "-m", "agenyx"]
FAULTY = [sys.executable, str(Path(__file__).with_name("program.py"))]  # knows TUI_FAULT, a fault of ours
GREETED = "shows commands and keys"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def tui(home: Path, work: Path) -> Iterator[Callable[..., Screen]]:
    """Starts it: `tui(url, *argv, rows=, columns=, before=, **environment)`. It is up when it has greeted."""
    opened: list[Screen] = []

    def start(
        url: str, *argv: str, rows: int = 24, columns: int = 80, before: list[str] | None = None, **extra: str
    ) -> Screen:
        given = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{url}/v1", "AGENYX_MODEL": "m"} if url else {}
        env = command_env(home, **({"TERM": "xterm-256color"} | given | extra))
        program = FAULTY if "TUI_FAULT" in extra else PROGRAM
        opened.append(Screen([*(before or []), *program, *argv], work, env, rows, columns))
        return opened[-1]

    yield start
    for screen in opened:
        screen.__exit__(None, None, None)

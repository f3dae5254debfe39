"""The full screen in a real tmux: started, asked, approved, stopped, resized, suspended, ended."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from support.mock import command_env
from support.raw_server import RawServer, call, content, finish, stream

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")
DEADLINE = 60.0


class Tmux:
    """One server of its own with one window, in which a shell with job control runs."""

    def __init__(self, folder: Path, env: dict[str, str], columns: int = 80, rows: int = 24) -> None:
        self._at = ["tmux", "-S", str(folder / "tmux.sock"), "-f", "/dev/null"]
        self._env = env
        size = ["-x", str(columns), "-y", str(rows)]
        self._run("new-session", "-d", *size, "-c", str(folder), "bash --norc --noprofile -i")
        self.until(lambda: self.text().strip()[-1:] in ("$", "#"), "a shell")

    def _run(self, *argv: str) -> str:
        done = subprocess.run([*self._at, *argv], env=self._env, capture_output=True, text=True, check=True)
        return done.stdout

    def keys(self, *keys: str) -> None:
        self._run("send-keys", *keys)

    def type(self, text: str) -> None:
        self._run("send-keys", "-l", text)

    def resize(self, columns: int, rows: int) -> None:
        self._run("resize-window", "-x", str(columns), "-y", str(rows))

    def text(self) -> str:
        return self._run("capture-pane", "-p")

    def flag(self, name: str) -> str:
        return self._run("display-message", "-p", f"#{{{name}}}").strip()

    def until(self, condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < end, f"never happened: {what}. The screen:\n{self.text()}"
            time.sleep(0.02)  # tmux tells nobody when a window changes

    def see(self, text: str) -> None:
        self.until(lambda: text in self.text(), f"{text!r} on the screen")

    def end(self) -> None:
        subprocess.run([*self._at, "kill-server"], env=self._env, check=False, capture_output=True)


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    (tmp_path / "home").mkdir()
    env = command_env(tmp_path / "home", TERM="xterm-256color", PS1="$ ")
    window = Tmux(tmp_path, env)
    yield window
    window.end()


def start(window: Tmux, url: str, *argv: str) -> None:
    given = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{url}/v1", "AGENYX_MODEL": "m"}
    words = [*(f"{name}={value}" for name, value in given.items()), sys.executable, "-m", "agenyx", *argv]
    window.type(f"clear; env {shlex.join(words)}; echo left with $?")
    window.keys("Enter")
    window.see("shows commands and keys")


def test_a_whole_sitting(tmux: Tmux, tmp_path: Path) -> None:
    script = [
        [stream(call("Bash", '{"command": "echo $$ > pid; sleep 300"}'), finish("tool_calls"))],
        [stream(content("welcome back"), finish())],
    ]
    with RawServer(script) as server:
        start(tmux, server.url)
        assert tmux.flag("alternate_on") == "1"
        tmux.type("run it")
        tmux.keys("Enter")
        tmux.see("[q] no, and stop")
        heard = time.monotonic() + 0.6
        tmux.until(lambda: time.monotonic() > heard, "the question listens")
        tmux.keys("y")
        pid = tmp_path / "pid"
        tmux.until(lambda: pid.exists() and pid.read_text("utf-8").endswith("\n"), "the command runs")
        tmux.resize(60, 15)
        tmux.see("running")
        tmux.keys("Escape")
        tmux.until(lambda: not Path(f"/proc/{pid.read_text('utf-8').strip()}").exists(), "the command is ended")
        tmux.resize(100, 30)
        tmux.type("half a ")
        tmux.see("> half a")
        tmux.keys("C-z")
        tmux.until(lambda: tmux.flag("alternate_on") == "0", "the shell is back")
        assert tmux.flag("mouse_any_flag") == "0"
        tmux.type("stty -a | grep -c -- ' icanon'; fg")
        tmux.keys("Enter")
        tmux.until(lambda: tmux.flag("alternate_on") == "1", "it is in front again")
        tmux.see("> half a")
        tmux.type("prompt")
        tmux.keys("Enter")
        tmux.see("welcome back")
        assert server.requests[-1].json["messages"][-1]["content"] == "half a prompt"
        tmux.keys("C-d")
        tmux.until(lambda: tmux.flag("alternate_on") == "0", "it is left")
        tmux.see("agenyx --resume")
    assert tmux.flag("alternate_on") == tmux.flag("mouse_any_flag") == "0"


def test_it_is_ended_by_a_signal(tmux: Tmux) -> None:
    with RawServer([[stream(content("fine"), finish())]]) as server:
        start(tmux, server.url)
        shell = int(tmux.flag("pane_pid"))
        found = subprocess.run(["pgrep", "-P", str(shell)], capture_output=True, text=True, check=True).stdout.split()
        os.kill(int(found[0]), 15)
        tmux.see("left with 143")
    assert tmux.flag("alternate_on") == tmux.flag("mouse_any_flag") == "0"

"""The program over its fake app, as a process and behind a real pseudo-terminal."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.pty_rest import rest

PROGRAM = Path(__file__).with_name("fake_program.py")
SHELL = Path(__file__).with_name("job_shell.py")
DEADLINE = 60.0  # seconds until a condition that never came true fails a test


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Poll a condition; the pause between two looks is no part of what is tested."""
    end = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < end, f"never happened: {what}"
        select.select([], [], [], 0.01)


class Fake:
    """Starts the program in `cwd`; `notes` is what its fake app told."""

    def __init__(self, cwd: Path) -> None:
        self.cwd = cwd
        self.notes_path = cwd / "notes"

    def env(self, scene: str, **extra: str) -> dict[str, str]:
        base = {"PATH": os.environ["PATH"], "HOME": str(self.cwd), "LANG": "C.UTF-8", "TERM": "xterm"}
        return {**base, "FAKE_SCENE": scene, "FAKE_NOTES": str(self.notes_path), **extra}

    @property
    def notes(self) -> list[str]:
        return self.notes_path.read_text().split() if self.notes_path.exists() else []

    def start(self, scene: str, *argv: str, env: dict[str, str] | None = None, **popen: Any) -> subprocess.Popen[bytes]:
        popen = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "start_new_session": True,  # no controlling terminal, whoever runs the tests
            **popen,
        }
        command = [sys.executable, str(PROGRAM), *argv]
        return subprocess.Popen(command, cwd=self.cwd, env=self.env(scene, **(env or {})), **popen)

    def run(self, scene: str, *argv: str, input: bytes | None = None, **more: Any) -> tuple[int, str, str]:
        """Exit code, standard output, standard error."""
        if input is not None:
            more["stdin"] = subprocess.PIPE
        with self.start(scene, *argv, **more) as process:
            out, err = process.communicate(input, timeout=DEADLINE)
        return process.returncode, (out or b"").decode("utf-8", "replace"), (err or b"").decode("utf-8", "replace")

    def wait_for(self, note: str) -> None:
        wait_until(lambda: note in self.notes, f"the fake app notes {note!r}")


class Tty:
    """A program whose controlling terminal is a pseudo-terminal of ours; `shell` starts it as a job of a shell."""

    def __init__(
        self,
        fake: Fake,
        scene: str,
        *argv: str,
        env: dict[str, str] | None = None,
        shell: bool = False,
        control: bool = True,
        **popen: Any,
    ) -> None:
        self.master, self.slave = pty.openpty()
        popen = {"stdin": self.slave, "stdout": self.slave, "stderr": self.slave, **popen}
        self.screen = b""
        # A session leader gets the terminal it opens as its controlling one.
        steal = "import fcntl,os,sys,termios as t; fcntl.ioctl(int(sys.argv[1]),t.TIOCSCTTY,0)"
        steal += "; os.execv(sys.argv[2],sys.argv[2:])"
        program = [sys.executable, str(PROGRAM), *argv]
        if shell:
            program = [sys.executable, str(SHELL), str(fake.notes_path), *program]
        command = [sys.executable, "-c", steal, str(self.slave), *program] if control else program
        self.process = subprocess.Popen(
            command,
            cwd=fake.cwd,
            env=fake.env(scene, **(env or {})),
            start_new_session=True,
            pass_fds=(self.slave,),
            **popen,
        )

    def see(self, text: str) -> None:
        """Read the screen until it shows `text`."""
        wait_until(lambda: self.shows(text), f"{text!r} on the screen, which shows {self.screen!r}")

    def shows(self, text: str) -> bool:
        while text.encode() not in self.screen and select.select([self.master], [], [], 0)[0]:
            self.screen += self._read()
        return text.encode() in self.screen

    def _read(self) -> bytes:
        try:
            return os.read(self.master, 65536)
        except OSError:
            return b""

    def type(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def end(self) -> int:
        """The exit code; reads the rest of the screen meanwhile."""
        wait_until(self._ended, "the program ends")
        self.screen += rest(self.master, self.slave)
        return self.process.wait()

    def _ended(self) -> bool:
        if select.select([self.master], [], [], 0)[0]:
            self.screen += self._read()
        return self.process.poll() is not None

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    return Fake(tmp_path)


@pytest.fixture
def tty(fake: Fake) -> Iterator[Callable[..., Tty]]:
    opened: list[Tty] = []

    def start(scene: str, *argv: str, **more: Any) -> Tty:
        opened.append(Tty(fake, scene, *argv, **more))
        return opened[-1]

    yield start
    for one in opened:
        one.close()

"""Runs the lives of a session: each a process of its own, forked by the server of this folder."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from crash import story
from crash.server import FAILED, Order, Told
from crash.shim import Kill

TESTS = Path(__file__).resolve().parent.parent
_PATIENCE = 120.0  # seconds for one life


class Lives:
    """One server. Close it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "crash.server"],
            cwd=TESTS,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )

    def run(self, top: Path, kill: Kill = Kill(), *, trace: bool = False) -> Told:
        """The session at `top` goes on until it is done or its process is killed."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(Order(str(top), kill, trace)) + b"\n")
        data, until = b"", time.monotonic() + _PATIENCE
        while not data.endswith(b"\n"):
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, until - time.monotonic()))
            assert ready, f"a life did not end: {kill}"
            piece = os.read(self._process.stdout.fileno(), 1 << 20)
            assert piece, "the server ended"
            data += piece
        told = msgspec.json.decode(data, type=Told)
        assert told.code in (0, -9), f"{kill}: {told.code}\n{(top / FAILED).read_text('utf-8')}"
        return told

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


def lay_out(top: Path) -> Path:
    """A home, a user and a workspace in a new folder."""
    top.mkdir(parents=True)
    (top / "user").mkdir()
    story.lay_out(top / "work")
    return top

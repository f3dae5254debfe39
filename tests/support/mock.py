"""The scripted model server as a child process, and the command line as one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Mock:
    """Talks to `mock_llm.py`: sets scenarios, reads what was asked."""

    def __init__(self, url: str) -> None:
        self.url = url

    def reset(self, name: str, **scenario: Any) -> None:
        body = json.dumps({"name": name, **scenario}).encode()
        _direct.open(urllib.request.Request(f"{self.url}/__reset", body, method="POST"), timeout=10).read()

    def log(self) -> list[dict[str, Any]]:
        return json.load(_direct.open(f"{self.url}/__log", timeout=10))["requests"]

    def bodies(self) -> list[bytes]:
        return [_direct.open(f"{self.url}/__body/{n}", timeout=10).read() for n in range(len(self.log()))]


@contextmanager
def mock_server() -> Iterator[Mock]:
    server = subprocess.Popen(
        [sys.executable, "-I", str(HERE / "mock_llm.py"), "--port", "0"], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    try:
        yield Mock(server.stdout.readline().strip())
    finally:
        server.kill()
        server.wait()


def command_env(home: Path, **extra: str) -> dict[str, str]:
    """A closed environment for the command line."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "AGENYX_HOME": str(home / ".agenyx"),
        **extra,
    }


def agenyx(
    *argv: str, cwd: Path, env: dict[str, str], stdin: Any = subprocess.DEVNULL, timeout: float = 60
) -> subprocess.CompletedProcess[str]:
    """Run the command line to its end."""
    return subprocess.run(
        [sys.executable, "-m", "agenyx", *argv],
        cwd=cwd,
        env=env,
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )

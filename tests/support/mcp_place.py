"""A home and a workspace with MCP servers, and whole runs of the program there with a scripted model server."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from support.mcp_servers import FAKE
from support.mock import agenyx, command_env
from support.raw_server import RawServer, Step, Until, call, content, finish, stream

DONE: list[Step] = [stream(content("All is done."), finish())]


class Do:
    """A step of a reply: does something before the next bytes are sent."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._work = work

    def wait(self, _seconds: float) -> None:
        self._work()


def first(work: Callable[[], object], reply: list[Step]) -> list[Step]:
    """The reply, after `work` is done."""
    return [Until(Do(work)), *reply]  # type: ignore[arg-type]


def tools(*made: tuple[str, dict[str, Any]]) -> list[Step]:
    """A reply that calls tools."""
    parts = [call(name, json.dumps(args), f"call_{index}", index) for index, (name, args) in enumerate(made)]
    return [stream(*parts, finish("tool_calls"))]


def fake(*, env: dict[str, str] | None = None, **options: Any) -> dict[str, Any]:
    """The scripted server as an entry of a file; `options` are those of `mcp_fake.py`."""
    entry: dict[str, Any] = {"command": sys.executable, "args": ["-I", "-S", str(FAKE), json.dumps(options)]}
    return entry | ({"env": env} if env else {})


def until(condition: Callable[[], Any], seconds: float = 20) -> Any:
    """Poll a condition; fail when it does not come true."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, "the condition did not come true"
        time.sleep(0.01)
    return value


def lives(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


class McpPlace:
    def __init__(self, top: Path) -> None:
        self.top, self.work, self.home = top, top / "work", top / ".agenyx"
        self.work.mkdir()
        self.home.mkdir(mode=0o700)
        self.wait(10_000)  # a busy machine makes quick servers slow
        self.seen: list[Any] = []
        self.bodies: list[bytes] = []
        self.server = RawServer([])  # one for all runs: a session goes on with the server that it had

    def __enter__(self) -> McpPlace:
        self.server.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.server.__exit__(*error)

    def play(self, *script: list[Step]) -> str:
        """What the model says from here on; the address of its server."""
        self.server.script = [DONE] * len(self.server.requests) + [*script, DONE]
        return self.server.url

    def mine(self, **servers: Any) -> None:
        """The person's servers."""
        path = self.home / "mcp.json"
        path.write_text(json.dumps({"mcpServers": servers}))
        path.chmod(0o600)

    def theirs(self, **servers: Any) -> Path:
        """The workspace's servers."""
        path = self.work / ".mcp.json"
        path.write_text(json.dumps({"mcpServers": servers}))
        return path

    def wait(self, milliseconds: int) -> None:
        """How long the first request waits for servers."""
        (self.home / "settings.toml").write_text(f"[mcp]\nwait = {milliseconds}\n")
        (self.home / "settings.toml").chmod(0o600)

    def log(self, name: str) -> Path:
        """A file in which a scripted server writes what it hears."""
        path = self.top / f"{name}.log"
        path.touch()
        return path

    def env(self, url: str, **extra: str) -> dict[str, str]:
        given = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{url}/v1", "AGENYX_MODEL": "m"}
        return command_env(self.top, **given) | extra

    def mcp(self, *argv: str, **extra: str) -> subprocess.CompletedProcess[str]:
        done = agenyx("mcp", *argv, cwd=self.work, env=command_env(self.top) | extra)
        assert "Traceback" not in done.stderr
        return done

    def run(self, *argv: str, script: list[list[Step]] | None = None, **extra: str) -> subprocess.CompletedProcess[str]:
        """One run with this script of the model; requests stand in `seen` then."""
        before = len(self.server.requests)
        url = self.play(*(script or []))
        done = agenyx("-p", *argv, cwd=self.work, env=self.env(url, **extra))
        assert "Traceback" not in done.stderr
        self.took(before)
        return done

    def took(self, before: int = 0) -> None:
        """Keep what was asked of the model since so many requests."""
        self.bodies = [request.body for request in self.server.requests[before:]]
        self.seen = [request.json for request in self.server.requests[before:]]

    def start(self, url: str, *argv: str) -> subprocess.Popen[str]:
        """The program as a process that goes on meanwhile."""
        return subprocess.Popen(
            [sys.executable, "-m", "agenyx", "-p", *argv],
            cwd=self.work,
            env=self.env(url),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def offered(self) -> list[str]:
        """The tools of the first request."""
        return [tool["function"]["name"] for tool in self.seen[0]["tools"]]

    def said(self, text: str, request: int = -1) -> list[str]:
        """The messages of a request that hold a text."""
        return [str(one["content"]) for one in self.seen[request]["messages"] if text in str(one["content"])]

    def results(self) -> list[str]:
        return [message["content"] for message in self.seen[-1]["messages"] if message["role"] == "tool"]

    def transcript(self) -> list[dict[str, Any]]:
        """The records of the one session."""
        (path,) = self.home.glob("sessions/*/*/transcript.jsonl")
        return [json.loads(line)["body"] for line in path.read_text().splitlines()]

    def stays_a_prefix(self) -> None:
        """Each request, without what closes it, is the beginning of the next one."""
        assert len(self.bodies) > 1
        for before, after in zip(self.bodies, self.bodies[1:], strict=False):
            assert after.startswith(before.rstrip(b"]}"))

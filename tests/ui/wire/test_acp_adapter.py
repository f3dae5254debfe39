"""An editor's protocol by way of an adapter that nobody here wrote: ACP in, the contract of the Agent SDKs out.

Where it is installed (`make clients`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.mock import command_env
from support.raw_server import RawServer, Until, begin, content
from support.wire_host import calls, says

ADAPTER = Path.home() / ".cache" / "agenyx-clients" / "ts" / "node_modules" / ".bin" / "claude-agent-acp"
DEADLINE = 60.0

pytestmark = pytest.mark.skipif(
    not ADAPTER.exists() and os.environ.get("AGENYX_REAL_CLIENTS") != "1", reason="the adapter is not installed"
)


class Editor:
    """An ACP client: one JSON-RPC message a line. `answer` decides about requests of the agent."""

    def __init__(self, folder: Path, server: RawServer, answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        cli = folder / "agenyx-cli"
        cli.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m agenyx "$@"\n')
        cli.chmod(0o755)
        model = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{server.url}/v1", "AGENYX_MODEL": "served-model"}
        self.process = subprocess.Popen(
            ["node", str(ADAPTER)],
            cwd=folder,
            env=command_env(folder, CLAUDE_CODE_EXECUTABLE=str(cli), **model),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._answer, self._next = answer, 0
        self.updates: list[dict[str, Any]] = []
        self._late = threading.Timer(DEADLINE, self.process.kill)
        self._late.start()

    def __enter__(self) -> Editor:
        return self

    def __exit__(self, *_: object) -> None:
        self._late.cancel()
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def call(
        self, method: str, heard: Callable[[dict[str, Any]], None] = lambda update: None, **params: Any
    ) -> dict[str, Any]:
        """The result of a request; `heard` gets each update that comes before it."""
        self._next += 1
        self.send(id=self._next, method=method, params=params)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self._next and "method" not in message:
                assert "result" in message, message
                return message["result"]
            if "id" in message:
                self.send(id=message["id"], result=self._answer(message))
            else:
                self.updates.append(message["params"]["update"])
                heard(message["params"]["update"])
        raise AssertionError(f"it ended; updates: {self.updates}")

    def begin(self, work: Path) -> str:
        self.call("initialize", protocolVersion=1, clientCapabilities={})
        return self.call("session/new", cwd=str(work), mcpServers=[])["sessionId"]

    def prompt(self, session: str, text: str, heard: Callable[[dict[str, Any]], None] = lambda update: None) -> Any:
        blocks = [{"type": "text", "text": text}]
        return self.call("session/prompt", heard, sessionId=session, prompt=blocks)


def allowed(request: dict[str, Any]) -> dict[str, Any]:
    option = next(one for one in request["params"]["options"] if one["kind"] == "allow_once")
    return {"outcome": {"outcome": "selected", "optionId": option["optionId"]}}


def test_a_turn_with_a_permission_and_one_that_is_cancelled(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    held = threading.Event()
    script = [calls("Write", file_path="a.txt", content="a"), says(), [begin(content("Let me")), Until(held)], says()]
    with RawServer(script) as server, Editor(tmp_path, server, allowed) as editor:
        session = editor.begin(tmp_path / "work")
        assert editor.prompt(session, "write")["stopReason"] == "end_turn"
        assert (tmp_path / "work" / "a.txt").read_text() == "a"
        said = [one["content"]["text"] for one in editor.updates if one["sessionUpdate"] == "agent_message_chunk"]
        assert "".join(said) == "Hello."
        assert [one["status"] for one in editor.updates if one["sessionUpdate"] == "tool_call"] == ["pending"]

        def cancel(update: dict[str, Any]) -> None:
            if update["sessionUpdate"] == "agent_message_chunk" and update["content"]["text"]:
                editor.send(method="session/cancel", params={"sessionId": session})

        assert editor.prompt(session, "again", cancel)["stopReason"] == "cancelled"
        held.set()
        assert editor.prompt(session, "once more")["stopReason"] == "end_turn"

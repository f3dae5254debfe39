"""The TypeScript Agent SDK drives the command line, where it is installed (`make clients`)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.mock import HERE, command_env
from support.raw_server import RawServer
from support.wire_host import calls, says

MODULES = Path.home() / ".cache" / "agenyx-clients" / "ts" / "node_modules"

pytestmark = pytest.mark.skipif(
    not MODULES.exists() and os.environ.get("AGENYX_REAL_CLIENTS") != "1", reason="the Agent SDK is not installed"
)


def test_a_query_with_tools_hooks_agents_and_an_edited_permission(tmp_path: Path) -> None:
    cli, work = tmp_path / "agenyx-cli", tmp_path / "work"
    work.mkdir()
    lib = tmp_path / "lib"
    lib.mkdir()
    cli.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m agenyx "$@"\n')
    cli.chmod(0o755)
    shutil.copy(HERE / "sdk_driver.mjs", tmp_path)
    (tmp_path / "node_modules").symlink_to(MODULES)
    (lib / "notes.txt").write_text("found")
    (work / "secret.txt").write_text("hidden")
    script = [
        calls("mcp__calc__add", a=2, b=3),
        calls("Write", file_path="a.txt", content="a"),
        calls("Read", file_path=str(lib / "notes.txt")),
        calls("Read", file_path="secret.txt"),
        says(),
    ]
    with RawServer(script) as server:
        model = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{server.url}/v1", "AGENYX_MODEL": "served-model"}
        done = subprocess.run(
            ["node", "sdk_driver.mjs", str(cli), str(work)],
            cwd=tmp_path,
            env=command_env(tmp_path, **model),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        first = server.requests[0].body.decode()
    assert done.returncode == 0, done.stderr
    seen: dict[str, Any] = json.loads(done.stdout)
    told = [one for one in seen["messages"] if one["type"] != "stream_event"]
    turns = ["assistant", "user"] * 4
    assert [one["type"] for one in told] == ["system", *turns, "assistant", "result"]
    assert told[-1]["result"] == "Hello."
    assert told[2]["message"]["content"][0]["content"] == [{"type": "text", "text": "sum 5"}]
    assert (seen["asked"], seen["hooked"]) == (["Write"], ["mcp__calc__add", "Write", "Read", "Read"])
    read, denied = (told[place]["message"]["content"][0]["content"][0]["text"] for place in (6, 8))
    assert "found" in read
    assert denied.startswith("Denied:") and "--settings" in denied
    started = [one["event"].get("content_block") for one in seen["messages"] if one["type"] == "stream_event"]
    streamed = [block["id"] for block in started if block and block["type"] == "tool_use"]
    called = [
        block["id"]
        for one in told
        if one["type"] == "assistant"
        for block in one["message"]["content"]
        if "id" in block
    ]
    assert streamed == called and len(called) == 4
    assert (work / "a.txt").read_text() == "edited"
    assert [one["value"] for one in seen["models"]] == ["served-model"]
    assert "help" in [one["name"] for one in seen["commands"]]
    assert [(one["name"], one["status"]) for one in seen["servers"]] == [("calc", "connected")]
    assert "APPENDED" in first and "finder" in first
    assert seen["stderr"] == []

"""A workspace that nobody trusted, where a program would be asked: nothing of it acts, and it is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.raw_server import RawServer
from support.wire_host import Host, calls, says

HOOK = {"type": "command", "command": "touch y"}
ASKS = ("--permission-prompt-tool", "stdio")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "AGENTS.md": "WORDS-OF-WORKSPACE",
        ".agenyx/settings.toml": '[permissions]\nallow = ["Bash(touch x)"]\n',
        ".claude/settings.json": json.dumps({"hooks": {"SessionStart": [{"hooks": [HOOK]}]}}),
        ".mcp.json": '{"mcpServers": {"s": {"command": "touch", "args": ["z"]}}}',
    }.items():
        file = tmp_path / "work" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    return tmp_path


def test_nothing_acts_and_a_record_says_what_and_how_to_trust(folder: Path) -> None:
    script = [calls("Bash", command="touch x"), says()]
    with RawServer(script) as server, Host(folder, server, *ASKS) as host:
        host.initialize()
        host.prompt("go")
        asked = host.asked()
        assert asked["request"]["tool_name"] == "Bash"
        host.answer(asked, behavior="deny", message="no")
        host.result()
        assert "WORDS-OF-WORKSPACE" not in server.requests[0].body.decode()
    (told,) = [one for one in host.seen if one.get("subtype") == "informational"]
    for name in ("AGENTS.md", ".agenyx/settings.toml", ".claude/settings.json", ".mcp.json"):
        assert name in told["content"]
    assert "--trust-workspace" in told["content"] and "agenyx trust add" in told["content"]
    assert told["level"] == "warning" and told["session_id"] == host.seen[-1]["session_id"]
    assert "not trusted" in host.errors
    assert not any((folder / "work" / name).exists() for name in "xyz")


def test_a_host_that_trusts_the_workspace_has_it_act(folder: Path) -> None:
    script = [calls("Bash", command="touch x"), says()]
    with RawServer(script) as server, Host(folder, server, *ASKS, "--trust-workspace") as host:
        host.initialize()
        host.prompt("go")
        host.result()
        assert "WORDS-OF-WORKSPACE" in server.requests[0].body.decode()
    assert [one for one in host.seen if one.get("subtype") == "informational" and "not trusted" in one["content"]] == []
    assert (folder / "work" / "x").exists() and (folder / "work" / "y").exists()


def test_with_bare_nothing_acts_and_nothing_is_said(folder: Path) -> None:
    with RawServer([says()]) as server, Host(folder, server, *ASKS, "--bare") as host:
        host.initialize()
        host.prompt("go")
        host.result()
        assert "WORDS-OF-WORKSPACE" not in server.requests[0].body.decode()
    assert [one for one in host.seen if one.get("subtype") == "informational"] == []

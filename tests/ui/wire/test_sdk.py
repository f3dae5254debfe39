"""The Python Agent SDK, which nobody here wrote, drives the command line against a scripted model server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from support.mock import HERE, command_env
from support.raw_server import RawServer, Until, begin, call, content, finish, plain, stream, usage

CLIENTS = Path.home() / ".cache" / "agenyx-clients"
PYTHON = CLIENTS / "sdk" / "bin" / "python"
DRIVER = HERE / "sdk_driver.py"
HELLO = [stream(content("Hello."), finish(), usage(10, 2))]

pytestmark = pytest.mark.skipif(
    not PYTHON.exists() and os.environ.get("AGENYX_REAL_CLIENTS") != "1", reason="the Agent SDK is not installed"
)


def calls(name: str, **args: Any) -> list[Any]:
    return [stream(call(name, json.dumps(args)), finish("tool_calls"), usage(10, 2))]


def drive(scene: str, tmp_path: Path, server: RawServer, **env: str) -> dict[str, Any]:
    """What the scene saw."""
    home, folder, cli = tmp_path / "home", tmp_path / "work", tmp_path / "agenyx-cli"
    for one in (home, folder):
        one.mkdir(exist_ok=True)
    cli.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m agenyx "$@"\n')
    cli.chmod(0o755)
    closed = command_env(home, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{server.url}/v1", AGENYX_MODEL="served-model")
    done = subprocess.run(
        [str(PYTHON), str(DRIVER), scene, str(cli), str(folder)],
        env={**closed, **env},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def names(messages: list[dict[str, Any]]) -> list[str]:
    return [one["_"] for one in messages]


def results(messages: list[dict[str, Any]]) -> list[str]:
    """The texts of results of calls."""
    blocks = [
        block for one in messages if one["_"] == "UserMessage" for block in one["content"] if "tool_use_id" in block
    ]
    return ["".join(part["text"] for part in block["content"]) for block in blocks]


def test_a_query_gets_its_messages_and_the_result(tmp_path: Path) -> None:
    with RawServer([HELLO]) as server:
        seen = drive("simple", tmp_path, server)
    assert names(seen["messages"]) == ["SystemMessage", "AssistantMessage", "ResultMessage"]
    init, said, ended = seen["messages"]
    assert init["data"]["cwd"] == str(tmp_path / "work")
    assert [block["text"] for block in said["content"]] == ["Hello."]
    assert (ended["subtype"], ended["is_error"], ended["result"], ended["num_turns"]) == ("success", False, "Hello.", 1)
    assert seen["stderr"] == []


def test_partial_messages_are_events_of_the_messages_api(tmp_path: Path) -> None:
    with RawServer([[stream(content("Hel"), content("lo."), finish(), usage(10, 2))]]) as server:
        seen = drive("partial", tmp_path, server)
    events = [one["event"] for one in seen["messages"] if one["_"] == "StreamEvent"]
    assert [event["type"] for event in events][:2] == ["message_start", "content_block_start"]
    assert [event["type"] for event in events][-3:] == ["content_block_stop", "message_delta", "message_stop"]
    text = "".join(event["delta"]["text"] for event in events if event["type"] == "content_block_delta")
    assert text == "Hello."


def test_a_failure_of_the_provider_is_raised_with_its_words(tmp_path: Path) -> None:
    with RawServer([[plain(401, {"error": {"message": "bad key"}})]]) as server:
        seen = drive("failing", tmp_path, server)
    assert seen["error"] == "ResultError"
    assert "key" in seen["text"]
    assert seen["messages"][-1]["is_error"] is True


def test_a_client_has_several_turns_and_controls_between_them(tmp_path: Path) -> None:
    with RawServer([HELLO]) as server:
        seen = drive("client", tmp_path, server)
        bodies = [request.json for request in server.requests]
    assert [turn[-1]["result"] for turn in seen["turns"]] == ["Hello."] * 3
    assert len({turn[-1]["session_id"] for turn in seen["turns"]}) == 1
    assert [body["model"] for body in bodies] == ["served-model", "served-model", "other-model"]
    assert seen["turns"][2][0]["data"]["permissionMode"] == "acceptEdits"
    assert any(row["name"] == "help" for row in seen["info"]["commands"])
    assert seen["servers"] == {"mcpServers": []}
    assert seen["usage"]["model"] == "other-model"
    assert seen["usage"]["totalTokens"] == 12


def test_an_interrupted_turn_has_a_result_and_the_next_one_works(tmp_path: Path) -> None:
    held = threading.Event()
    try:
        with RawServer([[begin(content("Let me")), Until(held)], HELLO]) as server:
            seen = drive("interrupt", tmp_path, server)
            held.set()
    finally:
        held.set()
    assert seen["first"][-1]["subtype"] == "error_during_execution"
    assert seen["first"][-1]["terminal_reason"] == "aborted_streaming" or seen["first"][-1]["is_error"]
    assert seen["second"][-1]["result"] == "Hello."


def test_permission_is_refused_given_and_edited(tmp_path: Path) -> None:
    script = [calls("Write", file_path=f"{name}.txt", content=name) for name in ("a", "b", "c")]
    with RawServer([*script, HELLO]) as server:
        seen = drive("permission", tmp_path, server)
    folder = tmp_path / "work"
    assert sorted(path.name for path in folder.glob("*.txt")) == ["b.txt", "c.txt"]
    assert (folder / "b.txt").read_text() == "b"
    assert (folder / "c.txt").read_text() == "edited"
    assert [one["name"] for one in seen["asked"]] == ["Write"] * 3
    assert seen["asked"][0]["input"] == {"file_path": "a.txt", "content": "a"}
    used = [
        b["id"] for one in seen["messages"] if one["_"] == "AssistantMessage" for b in one["content"] if "input" in b
    ]
    assert [one["id"] for one in seen["asked"]] == used
    assert "not that one" in results(seen["messages"])[0]
    assert [one["tool_name"] for one in seen["messages"][-1]["permission_denials"]] == ["Write"]


def test_a_denial_may_stop_the_turn(tmp_path: Path) -> None:
    with RawServer([calls("Write", file_path="a.txt", content="a"), HELLO]) as server:
        seen = drive("stopped", tmp_path, server)
        assert len(server.requests) == 1
    assert seen["messages"][-1]["is_error"] is True
    assert not (tmp_path / "work" / "a.txt").exists()


def test_hooks_of_the_host_are_called(tmp_path: Path) -> None:
    with RawServer([calls("Write", file_path="a.txt", content="a"), HELLO]) as server:
        seen = drive("hooks", tmp_path, server)
        first = server.requests[0].body.decode()
    assert [one["hook_event_name"] for one in seen["seen"]] == ["UserPromptSubmit", "PreToolUse"]
    assert seen["seen"][1]["tool_input"] == {"file_path": "a.txt", "content": "a"}
    assert "the hook says no" in results(seen["messages"])[0]
    assert "HOOK-CONTEXT" in first
    assert not (tmp_path / "work" / "a.txt").exists()


def test_tools_in_the_host_are_called(tmp_path: Path) -> None:
    with RawServer([calls("mcp__calc__add", a=2, b=3), HELLO]) as server:
        seen = drive("tools", tmp_path, server)
        tools = [one["function"]["name"] for one in server.requests[0].json["tools"]]
    assert "mcp__calc__add" in tools
    assert results(seen["messages"]) == ["sum 5"]
    (calc,) = seen["servers"]["mcpServers"]
    assert (calc["name"], calc["status"]) == ("calc", "connected")
    assert [one["name"] for one in calc["tools"]] == ["add"]


def test_tools_in_the_host_when_a_session_goes_on(tmp_path: Path) -> None:
    script = [reply for name in ("one", "one", "two") for reply in (calls(f"mcp__calc__{name}", a=1), HELLO)]
    with RawServer(script) as server:
        seen = drive("tools_again", tmp_path, server)
        heads = [[one["function"]["name"] for one in request.json["tools"]] for request in server.requests]
    assert [results(turn) for turn in seen["turns"]] == [["one 1"], ["one 1"], ["two 1"]]
    assert heads[0] == heads[1] == heads[2] == heads[3]
    assert heads[4] == heads[5] == [*heads[0][:-1], "mcp__calc__two"]


def test_sessions_go_on_and_are_copied(tmp_path: Path) -> None:
    with RawServer([HELLO]) as server:
        seen = drive("sessions", tmp_path, server)
        sizes = [len(request.json["messages"]) for request in server.requests]
    first, second, third, last = seen["ids"]
    assert first == second
    assert third != first
    assert last in (first, third)
    assert sizes[1] > sizes[0]
    assert sizes[2] > sizes[1]


def test_the_end_of_input_lets_what_was_taken_run(tmp_path: Path) -> None:
    with RawServer([HELLO]) as server:
        seen = drive("streamed", tmp_path, server)
        assert len(server.requests) == 2
    assert names(seen["messages"]).count("ResultMessage") == 2


def test_files_go_back_to_before_a_prompt(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a.txt").write_text("before\n")
    read, write = calls("Read", file_path="a.txt"), calls("Write", file_path="a.txt", content="after\n")
    with RawServer([read, write, HELLO]) as server:
        seen = drive("rewound", tmp_path, server)
    assert (tmp_path / "work" / "a.txt").read_text() == "before\n", results(seen["messages"])


def test_a_structured_answer(tmp_path: Path) -> None:
    with RawServer([[stream(content("three"), finish())], [stream(content('{"n": 3}'), finish())]]) as server:
        seen = drive("structured", tmp_path, server)
    ended = seen["messages"][-1]
    assert (ended["structured_output"], ended["is_error"]) == ({"n": 3}, False)


def test_agents_of_the_host_are_there(tmp_path: Path) -> None:
    with RawServer([HELLO]) as server:
        seen = drive("agents", tmp_path, server)
        assert "finder" in server.requests[0].body.decode()
    assert "finder" in [one["name"] for one in seen["info"]["agents"]]


def test_folders_settings_and_another_model_of_the_host(tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    lib.mkdir()
    script = [
        [plain(529, {"error": {"message": "overloaded"}}, "x-should-retry: false")],
        calls("Write", file_path=str(lib / "a.txt"), content="x"),
        calls("Bash", command="touch b.txt"),
        calls("Bash", command='echo "stage $STAGE"'),
        HELLO,
    ]
    with RawServer(script) as server:
        seen = drive("configured", tmp_path, server)
        models = [request.json["model"] for request in server.requests]
    said = results(seen["messages"])
    assert (lib / "a.txt").read_text() == "x", said
    assert not (tmp_path / "work" / "b.txt").exists()
    assert said[1].startswith("Denied:")
    assert "stage blue" in said[2]
    assert models == ["served-model", *["second-model"] * 4]
    told = [one["data"]["content"] for one in seen["messages"] if one.get("subtype") == "informational"]
    assert "second-model goes on" in told[0]


def test_a_rule_of_the_host_that_cannot_be_read_stops_the_start(tmp_path: Path) -> None:
    with RawServer([HELLO]) as server:
        seen = drive("unreadable", tmp_path, server)
        assert server.requests == []
    assert "error" in seen
    assert any("permissions.deny" in line for line in [seen["text"], *seen["stderr"]]), seen


def test_a_copy_goes_on_after_a_message(tmp_path: Path) -> None:
    with RawServer([HELLO]) as server:
        seen = drive("resumed_at", tmp_path, server)
        words = [one["content"] for one in server.requests[2].json["messages"] if one["role"] == "user"]
    assert seen["third"][-1]["result"] == "Hello."
    assert seen["third"][-1]["session_id"] != seen["turns"][0][-1]["session_id"]
    assert [word for word in words if word in ("one", "two", "three")] == ["one", "three"]


EXAMPLES = CLIENTS / "claude_agent_sdk-0.2.189" / "examples"


@pytest.mark.parametrize(
    ("name", "turns"),
    [
        ("quick_start", 3),
        ("include_partial_messages", 1),
        ("mcp_calculator", 6),
        ("system_prompt", 4),
        ("tools_option", 3),
        ("agents", 3),
        ("tool_permission_callback", 1),
    ],
)
def test_the_sdks_own_examples_run_unchanged(tmp_path: Path, name: str, turns: int) -> None:
    """The SDK looks for a program of this name on the PATH."""
    cli = tmp_path / "bin" / "claude"
    cli.parent.mkdir()
    cli.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m agenyx "$@"\n')
    cli.chmod(0o755)
    with RawServer([HELLO]) as server:
        model = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{server.url}/v1", "AGENYX_MODEL": "served-model"}
        env = command_env(tmp_path, **model)
        done = subprocess.run(
            [str(PYTHON), str(EXAMPLES / f"{name}.py")],
            cwd=tmp_path,
            env={**env, "PATH": f"{cli.parent}:{env['PATH']}"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert len(server.requests) == turns
    assert (done.returncode, done.stderr) == (0, "")
    assert "Hello." in done.stdout

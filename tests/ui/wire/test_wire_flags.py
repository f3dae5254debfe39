"""Flags that programs give, each with the program as a process."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest

from support.mock import agenyx, command_env
from support.raw_server import RawServer, Until, begin, content
from support.wire_host import Host, calls, says

SCHEMA = json.dumps({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})


def bodies(server: RawServer) -> list[str]:
    return [request.body.decode() for request in server.requests]


def test_a_structured_answer_stands_in_the_result(tmp_path: Path) -> None:
    with RawServer([says('{"n": 3}')]) as server, Host(tmp_path, server, "--json-schema", SCHEMA) as host:
        host.prompt("count")
        ended = host.result()
        assert "must be one JSON value" in bodies(server)[0]
    assert (ended["subtype"], ended["structured_output"]) == ("success", {"n": 3})


def test_a_structured_answer_is_repaired(tmp_path: Path) -> None:
    script = [says("three"), says('{"n": "x"}'), says('```json\n{"n": 3}\n```')]
    with RawServer(script) as server, Host(tmp_path, server, f"--json-schema={SCHEMA}") as host:
        host.prompt("count")
        ended = host.result()
        assert "no JSON" in bodies(server)[1]
    assert (ended["subtype"], ended["structured_output"], ended["num_turns"]) == ("success", {"n": 3}, 3)
    assert ended["usage"]["output_tokens"] == 6
    assert host.kinds().count("init") == host.kinds().count("result") == 1


def test_a_structured_answer_is_repaired_twice_and_not_more(tmp_path: Path) -> None:
    with RawServer([says("three")]) as server, Host(tmp_path, server, f"--json-schema={SCHEMA}") as host:
        host.prompt("count")
        ended = host.result()
        assert len(server.requests) == 3
    assert (ended["subtype"], ended["is_error"]) == ("error_max_structured_output_retries", True)
    assert "does not fit" in ended["errors"][0]


def test_a_host_may_give_the_schema_with_initialize(tmp_path: Path) -> None:
    with RawServer([says('{"n": 3}')]) as server, Host(tmp_path, server) as host:
        host.initialize(jsonSchema=json.loads(SCHEMA))
        host.prompt("count")
        assert host.result()["structured_output"] == {"n": 3}


def test_a_schema_that_is_none_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server, "--json-schema", "[]") as host:
        assert host.end() == 2
        assert server.requests == []
    assert "--json-schema is no object" in host.errors
    assert host.seen[-1]["is_error"] is True


def offered(server: RawServer) -> list[str]:
    return [one["function"]["name"] for one in server.requests[-1].json.get("tools", [])]


@pytest.mark.parametrize(
    ("given", "wanted"), [("", []), ("Read,bash", ["Read", "Bash"]), ("Write", ["Write"]), ("Unheard", [])]
)
def test_only_the_tools_that_were_named_are_offered(tmp_path: Path, given: str, wanted: list[str]) -> None:
    script = [calls("Edit", file_path="a", old_string="a", new_string="b"), says()]
    with RawServer(script) as server, Host(tmp_path, server, "--tools", given) as host:
        host.prompt("hi")
        host.result()
        assert offered(server) == wanted
        assert host.seen[0]["tools"] == wanted


def test_all_tools_are_offered_by_default(tmp_path: Path) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server, "--tools=default") as host:
        host.prompt("hi")
        host.result()
        assert {"Read", "Bash", "Task"} <= set(offered(server))


@pytest.mark.parametrize(
    ("sources", "seen"),
    [
        (None, {"PERSON", "PROJECT"}),
        ("user", {"PERSON"}),
        ("project", {"PROJECT"}),
        ("local", {"PROJECT"}),
        ("", set()),
        ("user,project,local", {"PERSON", "PROJECT"}),
    ],
)
def test_whose_files_count(tmp_path: Path, sources: str | None, seen: set[str]) -> None:
    (tmp_path / "home" / ".agenyx").mkdir(parents=True)
    (tmp_path / "work").mkdir()
    (tmp_path / "home" / ".agenyx" / "AGENTS.md").write_text("WORDS-OF-PERSON")
    (tmp_path / "work" / "AGENTS.md").write_text("WORDS-OF-PROJECT")
    flags = ["--trust-workspace"] if sources is None else ["--trust-workspace", f"--setting-sources={sources}"]
    with RawServer([says()]) as server, Host(tmp_path, server, *flags) as host:
        host.prompt("hi")
        host.result()
        body = bodies(server)[0]
    assert {word for word in ("PERSON", "PROJECT") if f"WORDS-OF-{word}" in body} == seen


def test_a_host_may_own_the_process_group(tmp_path: Path) -> None:
    with RawServer([says()]) as server:
        with Host(tmp_path, server, "--owned-process-tree") as host:
            host.request("list_models")
            assert os.getpgid(host.process.pid) == host.process.pid
        with Host(tmp_path, server) as host:
            host.request("list_models")
            assert os.getpgid(host.process.pid) == os.getpgid(0)


def test_bypass_is_permitted_by_its_flag_only(tmp_path: Path) -> None:
    with RawServer([says()]) as server:
        with Host(tmp_path, server, "--allow-dangerously-skip-permissions") as host:
            host.prompt("hi")
            host.result()
            assert host.seen[0]["permissionMode"] == "default"
            assert host.request("set_permission_mode", mode="bypassPermissions")["subtype"] == "success"
        with Host(tmp_path, server) as host:
            assert host.request("set_permission_mode", mode="bypassPermissions")["subtype"] == "error"


def test_strict_servers_need_no_list_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "home" / ".agenyx").mkdir(parents=True)
    (tmp_path / "home" / ".agenyx" / "mcp.json").write_text('{"mcpServers": {"x": {"command": "false"}}}')
    with RawServer([says()]) as server:
        with Host(tmp_path, server, "--strict-mcp-config") as host:
            assert host.request("mcp_status")["response"] == {"mcpServers": []}
        with Host(tmp_path, server) as host:
            assert [one["name"] for one in host.request("mcp_status")["response"]["mcpServers"]] == ["x"]


def test_hooks_are_told_as_they_run(tmp_path: Path) -> None:
    (tmp_path / "home" / ".agenyx").mkdir(parents=True)
    hook = {"type": "command", "command": "echo noted >&2; exit 1"}
    hooks = {"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}
    (tmp_path / "home" / ".agenyx" / "hooks.json").write_text(json.dumps(hooks))
    with RawServer([says()]) as server, Host(tmp_path, server, "--include-hook-events") as host:
        given = {"UserPromptSubmit": [{"matcher": None, "hookCallbackIds": ["mine"]}]}
        host.request("initialize", hooks=given)
        host.prompt("hi")
        host.answer(host.asked("hook_callback"))
        assert host.result()["result"] == "Hello."
    started = [one for one in host.seen if one.get("subtype") == "hook_started"]
    ended = {one["hook_id"]: one for one in host.seen if one.get("subtype") == "hook_response"}
    assert sorted(one["hook_id"] for one in started) == sorted(ended)
    assert {one["hook_event"] for one in started} == {"UserPromptSubmit"}
    codes = {(one["exit_code"], one["outcome"], one["stderr"].strip()) for one in ended.values()}
    assert codes == {(1, "error", "noted"), (0, "success", "")}


def test_hooks_are_not_told_without_the_flag(tmp_path: Path) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server) as host:
        host.request("initialize", hooks={"UserPromptSubmit": [{"matcher": None, "hookCallbackIds": ["mine"]}]})
        host.prompt("hi")
        host.answer(host.asked("hook_callback"))
        host.result()
    assert "hook_started" not in host.kinds()


def test_a_signal_ends_the_turn_in_an_orderly_way(tmp_path: Path) -> None:
    held = threading.Event()
    script = [[begin(content("Hel")), Until(held)]]
    with RawServer(script) as server, Host(tmp_path, server, "--include-partial-messages") as host:
        host.prompt("hi")
        host.streaming()
        host.process.terminate()
        assert host.result()["terminal_reason"] == "aborted_streaming"
        assert host.end() == 128 + 15
        held.set()


def test_diagnostics_go_to_standard_error(tmp_path: Path) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server, "--debug") as host:
        host.prompt("SECRET-WORDS")
        host.result()
        host.close()
        host.end()
    rows = [json.loads(row) for row in host.errors.splitlines()]
    assert len(rows) > 3
    assert "SECRET-WORDS" not in host.errors


def test_with_text_in_a_question_is_refused_or_waits(tmp_path: Path) -> None:
    script = [calls("Write", file_path="a.txt", content="a"), says()]
    for flags, code, subtype in (((), 0, "success"), (("--approvals", "defer"), 3, "approval_required")):
        with RawServer(script) as server:
            model = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{server.url}/v1", "AGENYX_MODEL": "m"}
            env = command_env(tmp_path, **model)
            done = agenyx("-p", "--output-format", "stream-json", *flags, "write", cwd=tmp_path, env=env)
        ended = json.loads(done.stdout.splitlines()[-1])
        assert (done.returncode, ended["subtype"]) == (code, subtype), done.stderr
        assert len(ended.get("approvals", [])) == (1 if flags else 0)
        assert not (tmp_path / "a.txt").exists()

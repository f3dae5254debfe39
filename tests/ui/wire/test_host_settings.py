"""--settings and --add-dir as hosts give them, each with the program as a process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agenyx.app.host_settings import read
from agenyx.core.errors import UsageError
from support.mock import command_env
from support.raw_server import RawServer
from support.wire_host import Host, calls, says

BYPASS = ("--dangerously-skip-permissions",)


def results(host: Host) -> list[str]:
    blocks = [one["message"]["content"][0] for one in host.seen if one["type"] == "user"]
    return [block["content"][0]["text"] for block in blocks if block["type"] == "tool_result"]


def run(tmp_path: Path, server: RawServer, *flags: str) -> subprocess.CompletedProcess[str]:
    """One task with text out."""
    home, work = tmp_path / "home", tmp_path / "work"
    for one in (home, work):
        one.mkdir(exist_ok=True)
    model = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{server.url}/v1", "AGENYX_MODEL": "served-model"}
    return subprocess.run(
        [sys.executable, "-m", "agenyx", "-p", "go", *flags],
        cwd=work,
        env=command_env(home, **model),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_deny_rule_of_the_settings_holds_also_in_bypass(tmp_path: Path) -> None:
    settings = json.dumps({"permissions": {"deny": ["Bash(touch:*)", "Write(keep/**)"]}})
    script = [calls("Bash", command="touch x"), calls("Write", file_path="keep/a", content="x"), says()]
    with RawServer(script) as server, Host(tmp_path, server, "--settings", settings, *BYPASS) as host:
        host.prompt("go")
        host.result()
    assert not (tmp_path / "work" / "x").exists()
    assert not (tmp_path / "work" / "keep").exists()
    assert all(text.startswith("Denied:") and "--settings" in text for text in results(host)), results(host)


def test_settings_from_a_file_count_in_print_mode(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text(json.dumps({"permissions": {"allow": ["Bash(touch:*)"], "deny": ["Bash(touch no)"]}}), "utf-8")
    with RawServer([calls("Bash", command="touch yes"), calls("Bash", command="touch no"), says()]) as server:
        done = run(tmp_path, server, "--settings", str(file))
    assert (done.returncode, done.stdout) == (0, "Hello.\n")
    assert (tmp_path / "work" / "yes").exists()
    assert not (tmp_path / "work" / "no").exists()


def test_settings_and_folders_count_in_a_conversation_at_the_terminal(tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    for one in (lib, tmp_path / "home", tmp_path / "work"):
        one.mkdir()
    (lib / "a").write_text("found-it", "utf-8")
    settings = json.dumps({"permissions": {"deny": ["Bash(touch:*)"]}})
    script = [calls("Bash", command="touch x"), calls("Read", file_path=str(lib / "a")), says()]
    with RawServer(script) as server:
        model = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{server.url}/v1", "AGENYX_MODEL": "served-model"}
        done = subprocess.run(
            [sys.executable, "-m", "agenyx", "chat", "--settings", settings, "--add-dir", str(lib), *BYPASS],
            cwd=tmp_path / "work",
            env=command_env(tmp_path / "home", **model),
            input="go\n/exit\n",
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert "found-it" in server.requests[-1].body.decode()
    assert "--settings, permissions.deny" in done.stdout
    assert not (tmp_path / "work" / "x").exists()


def test_an_ask_rule_asks_the_host_and_the_mode_counts(tmp_path: Path) -> None:
    settings = json.dumps({"permissions": {"ask": ["Write(asked)"], "defaultMode": "acceptEdits"}})
    script = [calls("Write", file_path="a", content="x"), calls("Write", file_path="asked", content="x"), says()]
    flags = ("--settings", settings, "--permission-prompt-tool", "stdio")
    with RawServer(script) as server, Host(tmp_path, server, *flags) as host:
        host.prompt("go")
        asked = host.asked()
        assert asked["request"]["input"]["file_path"] == "asked"
        assert (tmp_path / "work" / "a").exists()
        host.answer(asked, behavior="deny", message="no")
        host.result()
    assert host.seen[0]["permissionMode"] == "acceptEdits"
    assert not (tmp_path / "work" / "asked").exists()


def test_a_flag_wins_over_the_settings(tmp_path: Path) -> None:
    settings = json.dumps({"model": "of-settings", "permissions": {"defaultMode": "acceptEdits"}})
    with RawServer([says()]) as server:
        flags = ("--settings", settings, "--model", "of-flag", "--permission-mode", "plan")
        with Host(tmp_path, server, *flags) as host:
            host.prompt("go")
            host.result()
        with Host(tmp_path, server, "--settings", settings) as other:
            other.prompt("go")
            other.result()
        assert [request.json["model"] for request in server.requests] == ["of-flag", "of-settings"]
    assert (host.seen[0]["permissionMode"], other.seen[0]["permissionMode"]) == ("plan", "acceptEdits")


def test_a_hook_of_the_settings_holds_a_call_back(tmp_path: Path) -> None:
    hook = {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo not here >&2; exit 2"}]}
    settings = json.dumps({"hooks": {"PreToolUse": [hook]}})
    with RawServer([calls("Bash", command="touch x"), says()]) as server:
        with Host(tmp_path, server, "--settings", settings, *BYPASS) as host:
            host.prompt("go")
            host.result()
        assert results(host) == ["Denied by a hook: not here"]
    assert not (tmp_path / "work" / "x").exists()


def test_commands_get_the_variables_and_not_those_that_steer_them(tmp_path: Path) -> None:
    settings = json.dumps({"env": {"DEPLOY_STAGE": "blue", "PATH": "/evil", "LD_PRELOAD": "/evil.so", "MY_TOKEN": "x"}})
    command = 'echo "$DEPLOY_STAGE-$LD_PRELOAD-$MY_TOKEN"; case "$PATH" in */evil*) echo evil;; esac'
    with (
        RawServer([calls("Bash", command=command), says()]) as server,
        Host(tmp_path, server, "--settings", settings, *BYPASS) as host,
    ):
        host.prompt("go")
        host.result()
    assert "blue--\n" in results(host)[0] + "\n"
    assert "evil" not in results(host)[0].replace("/evil*", "")
    assert "do not get: PATH, LD_PRELOAD, MY_TOKEN" in host.errors


def test_keys_that_are_not_understood_are_named_and_the_rest_counts(tmp_path: Path) -> None:
    settings = json.dumps(
        {"cleanupPeriodDays": 3, "permissions": {"deny": ["Bash"], "shiny": 1}, "hooks": {"Moon": []}}
    )
    with (
        RawServer([calls("Bash", command="touch x"), says()]) as server,
        Host(tmp_path, server, "--settings", settings, *BYPASS) as host,
    ):
        host.prompt("go")
        host.result()
        host.close()
        host.end()
    assert "keys in --settings that have no effect here: permissions.shiny, cleanupPeriodDays" in host.errors
    assert "events in --settings that do not occur here: Moon" in host.errors
    assert not (tmp_path / "work" / "x").exists()


@pytest.mark.parametrize(
    "settings",
    [
        "{",
        "[]",
        "nowhere.json",
        '{"permissions": []}',
        '{"permissions": {"deny": "Bash"}}',
        '{"permissions": {"deny": [1]}}',
        '{"permissions": {"deny": ["Bash(git"]}}',
        '{"permissions": {"deny": ["Read(../x)"]}}',
        '{"permissions": {"deny": ["Bash"], "deny": []}}',
        '{"permissions": {"defaultMode": "auto"}}',
        '{"permissions": {"defaultMode": "bypassPermissions"}}',
        '{"permissions": {"additionalDirectories": ["nowhere"]}}',
        '{"hooks": []}',
        '{"hooks": {"PreToolUse": [{"hooks": [{"type": "prompt", "prompt": "ok?"}]}]}}',
        '{"hooks": {"PreToolUse": [{"matcher": "(", "hooks": [{"type": "command", "command": "x"}]}]}}',
        '{"env": {"A": 1}}',
        '{"model": 3}',
        '{"sandbox": {"enabled": true, "failIfUnavailable": true}}',
    ],
)
def test_settings_that_cannot_be_read_stop_the_start(tmp_path: Path, settings: str) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server, "--settings", settings) as host:
        host.prompt("go")
        host.close()
        assert host.end() != 0
        assert server.requests == []
    assert host.seen[-1]["is_error"] is True
    assert host.errors.startswith("agenyx: ")


def test_settings_that_forbid_bypass_stop_a_start_in_it(tmp_path: Path) -> None:
    settings = json.dumps({"permissions": {"disableBypassPermissionsMode": "disable"}})
    with RawServer([says()]) as server:
        done = run(tmp_path, server, "--settings", settings, *BYPASS)
        assert (done.returncode, server.requests) == (2, [])
    assert "forbids the mode bypassPermissions" in done.stderr


def test_a_wish_for_a_sandbox_is_told() -> None:
    assert "this version has none" in read('{"sandbox": {"enabled": true}}').warnings[0]
    assert read('{"sandbox": {"enabled": false}}').warnings == ()


def test_an_empty_object_says_nothing() -> None:
    assert read("{}") == read('{"hooks": {}, "permissions": {}}')


def test_a_settings_file_is_bounded(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    file.write_text(" " * (1 << 20) + "{}", "utf-8")
    with pytest.raises(UsageError, match="more than 1 MiB"):
        read(str(file))


# --- folders --------------------------------------------------------------------------------------------------------


def notices(body: Any) -> str:
    return json.dumps(body["messages"])


def test_an_added_folder_is_worked_in_and_told_to_the_model(tmp_path: Path) -> None:
    lib, other = tmp_path / "lib", tmp_path / "other"
    for one in (lib, other):
        one.mkdir()
    (lib / "a.py").write_text("needle = 1\n", "utf-8")
    script = [
        calls("Read", file_path=str(lib / "a.py")),
        calls("Grep", pattern="needle", path=str(lib)),
        calls("Glob", pattern="*.py", path=str(lib)),
        calls("Edit", file_path=str(lib / "a.py"), old_string="1", new_string="2"),
        calls("Write", file_path=str(other / "b.py"), content="x\n"),
        says(),
    ]
    settings = json.dumps({"permissions": {"additionalDirectories": [str(other)]}})
    flags = ("--add-dir", str(lib), "--settings", settings, "--permission-mode", "acceptEdits")
    with RawServer(script) as server, Host(tmp_path, server, *flags) as host:
        host.prompt("go")
        host.result()
        first = notices(server.requests[0].json)
    assert f"Also part of the workspace, by absolute paths: {lib}, {other}" in first
    assert (lib / "a.py").read_text("utf-8") == "needle = 2\n"
    assert (other / "b.py").read_text("utf-8") == "x\n"
    assert "needle" in results(host)[1]
    assert str(lib / "a.py") in results(host)[2]


def test_commands_stay_in_an_added_folder_and_its_files_need_no_question(tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    lib.mkdir()
    rules = "Bash(touch:*),Bash(pwd),Edit(*.txt)"
    script = [
        calls("Bash", command=f"cd {lib}"),
        calls("Bash", command="touch a"),
        calls("Write", file_path=str(lib / "b.txt"), content="x"),
        calls("Bash", command=f"rm -rf {lib}"),
        says(),
    ]
    flags = ("--add-dir", str(lib), "--allowedTools", f"{rules},Bash(rm:*),Bash(cd:*)")
    with RawServer(script) as server, Host(tmp_path, server, *flags) as host:
        host.prompt("go")
        host.result()
    assert sorted(path.name for path in lib.iterdir()) == ["a", "b.txt"], results(host)
    assert "folder that was added" in results(host)[3]


def test_a_deny_rule_holds_in_an_added_folder_too(tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    lib.mkdir()
    script = [calls("Write", file_path=str(lib / "src" / "a"), content="x"), says()]
    flags = ("--add-dir", str(lib), "--disallowedTools", "Edit(src/**)", *BYPASS)
    with RawServer(script) as server, Host(tmp_path, server, *flags) as host:
        host.prompt("go")
        host.result()
    assert not (lib / "src").exists()


def test_nothing_in_an_added_folder_acts(tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    for name in ("AGENTS.md", "CLAUDE.md", ".agenyx/settings.toml", ".agenyx/skills/x/SKILL.md"):
        (lib / name).parent.mkdir(parents=True, exist_ok=True)
        (lib / name).write_text("WORDS-OF-LIB", "utf-8")
    (lib / "a").write_text("a", "utf-8")
    script = [calls("Read", file_path=str(lib / "a")), says()]
    with (
        RawServer(script) as server,
        Host(tmp_path, server, "--add-dir", str(lib), "--trust-workspace") as host,
    ):
        host.prompt("go")
        host.result()
        assert "WORDS-OF-LIB" not in server.requests[-1].body.decode()


def test_a_session_that_goes_on_has_its_folders_and_says_which_are_gone(tmp_path: Path) -> None:
    lib, gone = tmp_path / "lib", tmp_path / "gone"
    for one in (lib, gone):
        one.mkdir()
    (lib / "a").write_text("found", "utf-8")
    with RawServer([says(), calls("Read", file_path=str(lib / "a")), says()]) as server:
        with Host(tmp_path, server, "--add-dir", str(lib), "--add-dir", str(gone)) as host:
            host.prompt("go")
            session = host.result()["session_id"]
            host.close()
            host.end()
        gone.rmdir()
        with Host(tmp_path, server, f"--resume={session}") as host:
            host.prompt("go")
            host.result()
            body = notices(server.requests[1].json)
    assert "found" in results(host)[0]
    assert f"Also part of the workspace now, by absolute paths: {lib}" in body
    assert "goes on without a folder that it had" in host.errors
    assert str(gone) in host.errors


def test_a_folder_is_added_while_a_session_runs(tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    lib.mkdir()
    (lib / "a").write_text("found", "utf-8")
    script = [says(), calls("Read", file_path=str(lib / "a")), says()]
    with RawServer(script) as server, Host(tmp_path, server) as host:
        host.prompt("go")
        host.result()
        host.prompt("/add-dir ../lib")
        assert host.result()["result"] == f"{lib} is part of the workspace from now on."
        host.prompt("/add-dir /")
        assert host.result()["is_error"] is True
        host.prompt("go on")
        host.result()
        assert "Also part of the workspace now" in notices(server.requests[1].json)
    assert "found" in results(host)[0]


def test_an_added_folder_that_may_not_be_stops_the_start(tmp_path: Path) -> None:
    with RawServer([says()]) as server:
        done = run(tmp_path, server, "--add-dir", str(tmp_path / "home"))
        assert (done.returncode, server.requests) == (2, [])
    assert "Agenyx's own folder" in done.stderr


def test_files_of_an_added_folder_go_back_by_rewind(tmp_path: Path) -> None:
    lib = tmp_path / "lib"
    lib.mkdir()
    (lib / "a").write_text("one", "utf-8")
    script = [
        calls("Read", file_path=str(lib / "a")),
        calls("Write", file_path=str(lib / "a"), content="two"),
        calls("Write", file_path=str(lib / "new"), content="x"),
        says(),
    ]
    uuid = "019a0000-0000-7000-8000-000000000001"
    flags = ("--add-dir", str(lib), "--permission-mode", "acceptEdits")
    with RawServer(script) as server, Host(tmp_path, server, *flags) as host:
        host.prompt("go", uuid=uuid)
        host.result()
        assert (lib / "a").read_text("utf-8") == "two", results(host)
        assert host.request("rewind_files", user_message_id=uuid)["response"]["canRewind"] is True
        session = host.seen[0]["session_id"]
    assert (lib / "a").read_text("utf-8") == "one"
    assert not (lib / "new").exists()
    again = [sys.executable, "-m", "agenyx", "sessions", "rewind", session, "--to", "r1", "--yes"]
    env = command_env(tmp_path / "home")
    subprocess.run(again, cwd=tmp_path / "work", env=env, capture_output=True, timeout=60, check=True)
    assert (lib / "a").read_text("utf-8") == "two"
    assert (lib / "new").exists()

"""`agenyx agents`, `--agents` and `/agents`, as processes; a subagent of a file over real HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.mock import agenyx, command_env
from support.raw_server import RawServer, call, content, finish, stream

POET = "---\nname: poet\ndescription: writes verse\ntools: Read, Frobnicate\nhooks: x\n---\nYou rhyme.\n"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / ".claude" / "agents" / "arts").mkdir(parents=True)
    (folder / ".claude" / "agents" / "arts" / "poet.md").write_text(POET)
    (folder / "a.txt").write_text("apple\n")
    (tmp_path / ".agenyx" / "agents").mkdir(parents=True)
    (tmp_path / ".agenyx" / "agents" / "smith.md").write_text("---\ntools: '*'\n---\nYou forge.\n")
    return folder


def test_list_tells_what_each_may_and_what_does_not_count(work: Path) -> None:
    env = command_env(work.parent)
    untrusted = agenyx("agents", "list", cwd=work, env=env)
    assert untrusted.returncode == 0 and "poet" not in untrusted.stdout
    done = agenyx(
        "agents", "list", "--trust-workspace", "--agents", '{"bard": {"description": "sings"}}', cwd=work, env=env
    )
    rows = done.stdout.splitlines()
    assert [row.split()[0] for row in rows if not row.startswith(" ")] == [
        "general", "explore", "plan", "review", "smith", "poet", "bard",
    ]  # fmt: skip
    text = done.stdout
    assert f"changes files in a work tree; {work.parent}/.agenyx/agents/smith.md" in text
    assert f"looks; {work}/.claude/agents/arts/poet.md" in text
    assert "! there is no tool Frobnicate here" in text and "! hooks does not count" in text
    value = json.loads(agenyx("agents", "list", "--json", "--trust-workspace", cwd=work, env=env).stdout)
    poet = value["agents"][-1]
    assert (poet["name"], poet["tools"], poet["changes_files"]) == ("poet", ["Read", "ToolResultRead"], False)


def test_wrong_command_lines(work: Path) -> None:
    env = command_env(work.parent)
    assert agenyx("agents", cwd=work, env=env).returncode == 2
    assert agenyx("agents", "lst", cwd=work, env=env).returncode == 2
    assert "agenyx agents list" in agenyx("agents", "--help", cwd=work, env=env).stdout
    done = agenyx("-p", "--agents", "{oops", "hi", cwd=work, env=env)
    assert done.returncode == 2 and "--agents holds no valid JSON" in done.stderr


def tools(*made: tuple[str, dict[str, object]]) -> bytes:
    return stream(
        *(call(name, json.dumps(args), f"call_{index}", index) for index, (name, args) in enumerate(made)),
        finish("tool_calls"),
    )


def test_an_agent_of_a_trusted_workspace_is_offered_and_used(work: Path) -> None:
    script = [
        [tools(("Task", {"description": "verse about a.txt", "subagent_type": "poet", "prompt": "Read it."}))],
        [tools(("Read", {"file_path": "a.txt"}))],
        [stream(content("An apple, a day."), finish())],
        [stream(content("The poet says so."), finish())],
    ]
    with RawServer(script) as server:
        env = command_env(work.parent, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=server.url, AGENYX_MODEL="m")
        done = agenyx("-p", "--verbose", "--trust-workspace", "--output-format", "json", "go", cwd=work, env=env)
    record = json.loads(done.stdout)
    assert (record["result"], record["num_subagents"], record["num_turns"]) == ("The poet says so.", 1, 2), done.stderr
    first, second, third, last = (request.json for request in server.requests)
    (task,) = [tool for tool in first["tools"] if tool["function"]["name"] == "Task"]
    assert "poet: writes verse" in task["function"]["description"]
    assert [tool["function"]["name"] for tool in second["tools"]] == ["Read", "ToolResultRead"]
    assert "You rhyme." in json.dumps(second["messages"][0]) or "You rhyme." in json.dumps(second["messages"])
    assert "apple" in json.dumps(third["messages"][-1])
    assert "An apple, a day." in json.dumps(last["messages"][-1])
    (line,) = [row for row in done.stderr.splitlines() if "Read a.txt" in row]
    assert line.startswith("  poet/a") and line.endswith(": Read a.txt")
    assert "An apple" not in done.stderr.replace("* Task", ""), "what a child says is not mixed in"


def test_the_slash_command(work: Path) -> None:
    with RawServer([[stream(content("?"), finish())]]) as server:
        env = command_env(work.parent, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=server.url, AGENYX_MODEL="m")
        done = agenyx("-p", "/agents", cwd=work, env=env)
    assert done.returncode == 0, done.stderr
    assert "explore" in done.stdout and "smith" in done.stdout and server.requests == []


def test_rules_about_agents_hold_and_are_explained(work: Path) -> None:
    home = work.parent / ".agenyx"
    (home / "settings.toml").write_text('[permissions]\ndeny = ["Agent(review)"]\n')
    env = command_env(work.parent)
    assert agenyx("permissions", "explain", "Task(explore)", cwd=work, env=env).stdout.startswith("allow")
    assert agenyx("permissions", "explain", "Agent(Review)", cwd=work, env=env).stdout.startswith("deny")
    script = [
        [tools(("Task", {"description": "x", "agent": "review"}))],
        [stream(content("Then not."), finish())],
    ]
    with RawServer(script) as server:
        env |= {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": server.url, "AGENYX_MODEL": "m"}
        done = agenyx("-p", "--bare", "go", cwd=work, env=env)
    assert done.stdout == "Then not.\n", done.stderr
    assert "Denied" in json.dumps(server.requests[1].json["messages"][-1])
    assert len(server.requests) == 2


def test_under_deferred_approvals_a_childs_ask_is_a_denial(work: Path) -> None:
    script = [
        [tools(("Task", {"description": "fetch it"}))],
        [tools(("WebFetch", {"url": "https://example.org/"}))],
        [stream(content("I could not."), finish())],
        [stream(content("So be it."), finish())],
    ]
    with RawServer(script) as server:
        env = command_env(work.parent, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=server.url, AGENYX_MODEL="m")
        done = agenyx("-p", "--bare", "--approvals", "defer", "go", cwd=work, env=env)
    assert (done.returncode, done.stdout) == (0, "So be it.\n"), done.stderr
    assert "a subagent cannot wait" in json.dumps(server.requests[2].json["messages"][-1])

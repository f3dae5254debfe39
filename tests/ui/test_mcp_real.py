"""Servers that nobody here wrote, in whole runs of the program with a scripted model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.mcp_place import McpPlace, tools
from support.mcp_servers import real
from support.repository import git, repository


def entry(name: str, *args: str, **env: str) -> dict[str, Any]:
    made: dict[str, Any] = {"command": real(name).command, "args": list(args)}
    return made | ({"env": env} if env else {})


@pytest.fixture
def place(tmp_path: Path) -> Iterator[McpPlace]:
    with McpPlace(tmp_path) as made:
        made.wait(60_000)
        yield made


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_six_servers_in_one_scripted_session(place: McpPlace) -> None:
    repo, files = repository(place.work / "repo"), place.work / "files"
    (repo / "a.txt").write_text("one\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "The first")
    (repo / "a.txt").write_text("two\n")
    files.mkdir()
    place.mine(
        git=entry("git", "--repository", str(repo)),
        time=entry("time"),
        filesystem=entry("filesystem", str(files)),
        memory=entry("memory", MEMORY_FILE_PATH=str(place.top / "memory.json")),
        everything=entry("everything"),
        thinking=entry("sequential-thinking"),
    )
    thought = {"thought": "First look.", "thoughtNumber": 1, "totalThoughts": 2, "nextThoughtNeeded": True}
    ann = {"name": "Ann", "entityType": "person", "observations": ["likes tea"]}
    convert = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    script = [
        tools(
            ("mcp__git__git_status", {"repo_path": str(repo)}),
            ("mcp__time__convert_time", convert),
            ("mcp__filesystem__write_file", {"path": str(files / "new.txt"), "content": "written\n"}),
        ),
        tools(
            ("McpCall", {"tool": "mcp__filesystem__read_text_file", "arguments": {"path": str(files / "new.txt")}}),
            ("mcp__filesystem__read_text_file", {"path": "/etc/passwd"}),
            ("mcp__memory__create_entities", {"entities": [ann]}),
        ),
        tools(
            ("mcp__memory__search_nodes", {"query": "tea"}),
            ("mcp__everything__echo", {"message": "hey"}),
            ("mcp__everything__get-tiny-image", {}),
            ("mcp__thinking__sequentialthinking", thought),
        ),
    ]
    servers = ("git", "time", "filesystem", "memory", "everything", "thinking")
    allowed = ",".join(f"mcp__{name}" for name in servers)
    done = place.run("--allowed-tools", allowed, "go", script=script)
    assert done.returncode == 0 and done.stderr == ""
    results = [one_line(text) for text in place.results()]
    assert "modified: a.txt" in results[0] and "21:00:00+09:00" in results[1]
    assert (files / "new.txt").read_text() == "written\n" and results[3] == "written"
    assert "Access denied" in results[4]
    assert "likes tea" in results[6] and "likes tea" in (place.top / "memory.json").read_text()
    assert results[7] == "Echo: hey" and "image/png" in results[8]
    assert '"thoughtHistoryLength": 1' in results[9]
    for name in servers:
        assert any(tool.startswith(f"mcp__{name}__") for tool in place.offered), name
    place.stays_a_prefix()


def test_the_image_of_a_server_reaches_a_model_that_sees(place: McpPlace) -> None:
    place.mine(everything=entry("everything"))
    (place.home / "settings.toml").write_text('images = "yes"\n[mcp]\nwait = 60000\n')
    script = [tools(("mcp__everything__get-tiny-image", {}))]
    assert place.run("--allowed-tools", "mcp__everything", "go", script=script).returncode == 0
    *_, below = place.seen[-1]["messages"]
    assert "see below" in place.results()[0] and below["role"] == "user"
    assert below["content"][1]["image_url"]["url"].startswith("data:image/png;base64,iVBORw0KGgo")


def test_what_everything_offers_besides_tools(place: McpPlace) -> None:
    place.mine(everything=entry("everything"))
    shown = json.loads(place.run("--output-format", "json", "/mcp").stdout)["data"]["servers"][0]
    assert shown["resources"] > 3 and shown["prompts"] > 1
    place.run("/mcp__everything__args-prompt city=Rome")
    assert place.said("I called the prompt args-prompt of the MCP server everything.") and place.said("Rome")
    listed = ("McpCall", {"tool": "mcp__everything__resources.list"})
    place.run("--allowed-tools", "mcp__everything", "go", script=[tools(listed)])
    uri = next(row.split()[0] for row in place.results()[0].splitlines() if "{" not in row)
    place.run(f"look at @everything:{uri} please")
    (told,) = place.said(f"name the resource {uri} of the MCP server 'everything'")
    assert len(told) > 200
    long = ("mcp__everything__trigger-long-running-operation", {"duration": 1, "steps": 4})
    form = ("mcp__everything__trigger-elicitation-request", {})
    place.run("--allowed-tools", "mcp__everything", "go", script=[tools(long, form)])
    assert "completed" in place.results()[0] and "declined" in place.results()[1]


def test_fetch_refuses_an_address_of_this_machine(place: McpPlace) -> None:
    place.mine(fetch=entry("fetch"))
    call = ("mcp__fetch__fetch", {"url": "http://127.0.0.1:9/"})
    done = place.run("--allowed-tools", "mcp__fetch", "go", script=[tools(call)])
    assert done.returncode == 0 and "Refused to fetch" in place.results()[0]

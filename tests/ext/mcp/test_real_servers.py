"""Servers that nobody here wrote, from a scripted session: judged, asked about and run like every other tool."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.events import Output
from agenyx.ext.mcp.config import ServerConfig
from agenyx.ext.mcp.manager import Manager
from agenyx.ext.mcp.model import Reply
from agenyx.ext.mcp.result import resource_text, texts
from support.mcp_servers import real
from support.parts import Answers, Parts
from support.repository import git, repository
from support.scripted import Scripted, call, calls, say


@pytest.fixture
def session(drive, host):
    """A session with these servers in which the model makes these calls one after another; everything is asked about
    and allowed. `then` looks at the manager at its end."""

    def run(configs: list[ServerConfig], made: list[Any], then: Any = None, **fields: Any) -> Parts:
        async def main(processes):
            manager = Manager(configs, host(processes, **fields), lambda change: None)
            manager.start()
            await manager.wait(60)
            assert [one.why for one in manager.states()] == [""] * len(configs)
            script = [*(calls(one) for one in made), say("done")]
            parts = Parts(Scripted(script), manager.tools(), approver=Answers(*["allow"] * len(made)))
            parts.prompt()
            await parts.engine.run()
            assert [approval.call.name for approval in parts.approver.asked] == [one.name for one in made]
            if then is not None:
                await then(manager)
            await manager.close()
            return parts

        return drive(main, 120)

    return run


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_six_servers_in_one_session(session, tmp_path):
    repo, files = repository(tmp_path / "repo"), tmp_path / "files"
    (repo / "a.txt").write_text("one\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "The first")
    (repo / "a.txt").write_text("two\n")
    files.mkdir()
    configs = [
        real("git", "--repository", str(repo)),
        real("time"),
        real("filesystem", str(files)),
        real("memory", env=(("MEMORY_FILE_PATH", str(tmp_path / "memory.json")),)),
        real("everything"),
        real("sequential-thinking"),
    ]
    ann = {"name": "Ann", "entityType": "person", "observations": ["likes tea"]}
    thought = {"thought": "First look.", "thoughtNumber": 1, "totalThoughts": 2, "nextThoughtNeeded": True}
    made = [
        call("mcp__git__git_status", repo_path=str(repo)),
        call("mcp__git__git_log", repo_path=str(repo), max_count=1),
        call("mcp__time__convert_time", source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo"),
        call("mcp__filesystem__write_file", path=str(files / "new.txt"), content="written\n"),
        call("mcp__filesystem__read_text_file", path=str(files / "new.txt")),
        call("mcp__filesystem__read_text_file", path="/etc/passwd"),
        call("mcp__memory__create_entities", entities=[ann]),
        call("mcp__memory__search_nodes", query="tea"),
        call("mcp__everything__echo", message="hey"),
        call("mcp__everything__get-sum", a="2", b=3),
        call("mcp__sequential-thinking__sequentialthinking", **thought),
    ]
    results = session(configs, made).results()
    texts = [one_line(text) for _, text in results]
    assert [status for status, _ in results] == ["ok"] * 5 + ["error"] + ["ok"] * 5
    assert "modified: a.txt" in texts[0]
    assert "The first" in texts[1]
    assert "21:00:00+09:00" in texts[2] and texts[2].count("time_difference") == 1
    assert (files / "new.txt").read_text() == "written\n"
    assert texts[4] == "written"
    assert "Access denied" in texts[5]
    assert "likes tea" in texts[7] and "likes tea" in (tmp_path / "memory.json").read_text()
    assert texts[8:10] == ["Echo: hey", "The sum of 2 and 3 is 5."]
    assert '"thoughtHistoryLength": 1' in texts[10]


def test_what_everything_has_to_offer(session, tmp_path):
    asked = []

    async def elicit(ask):
        asked.append(ask)
        return Reply("accept", {"name": "Ann", "check": True})

    async def then(manager: Manager):
        server = manager.server("everything")
        resources = await server.resources()
        assert any(one.template for one in resources)
        document = next(one for one in resources if not one.template)
        assert resource_text(await server.read_resource(document.uri)).startswith("#")
        prompts = {one.name: one for one in await server.prompts()}
        city = prompts["args-prompt"].arguments[0]
        assert (city.name, city.required) == ("city", True)
        (message,) = await server.get_prompt("args-prompt", {"city": "Rome"})
        assert "Rome" in texts([message.block])
        assert server.instructions
        await server.ping()

    made = [
        call("mcp__everything__get-tiny-image"),
        call("mcp__everything__get-structured-content", location="Chicago"),
        call("mcp__everything__get-resource-links", count=2),
        call("mcp__everything__get-resource-reference", resourceType="Text", resourceId=1),
        call("mcp__everything__get-annotated-message", messageType="error", includeImage=False),
        call("mcp__everything__get-roots-list"),
        call("mcp__everything__trigger-elicitation-request"),
        call("mcp__everything__trigger-long-running-operation", duration=1, steps=4),
    ]
    parts = session([real("everything")], made, then, elicit=elicit)
    results = [one_line(text) for status, text in parts.results() if status == "ok"]
    assert len(results) == len(made)
    assert re.search(r"\[image, image/png, [\d,]+ bytes: it cannot be shown here\]", results[0])
    assert results[1].count("temperature") == 1
    assert results[2].count("it was not followed]") == 2
    assert "[resource demo://resource/dynamic/text/1, text/plain]" in results[3]
    assert f"file://{tmp_path}" in results[5]
    assert "Name: Ann" in results[6] and asked[0].server == "everything"
    assert {field.kind for field in asked[0].fields} >= {"string", "boolean", "integer", "number", "choice"}
    shown = b"".join(body.data for body in parts.bodies(Output))
    assert shown.startswith(b"1 of 4")


def test_fetch_refuses_an_address_of_this_machine(session):
    (result,) = session([real("fetch")], [call("mcp__fetch__fetch", url="http://127.0.0.1:9/")]).results()
    assert result[0] == "error" and "Refused to fetch" in result[1]


@pytest.mark.parametrize(
    ("name", "revision"),
    [
        ("git", "2026-07-28"),
        ("time", "2026-07-28"),
        ("fetch", "2026-07-28"),
        ("memory", "2025-11-25"),
        ("everything", "2025-11-25"),
        ("sequential-thinking", "2025-11-25"),
    ],
)
def test_each_is_met_in_its_own_era(serve, tmp_path, name, revision):
    async def body(server):
        return server.standing.revision, len(server.tools()), server.standing.problems

    found = serve(real(name), body)
    assert found[0] == revision and found[1] > 0 and found[2] == ()


def test_nothing_is_left_of_them(serve, lives, tmp_path):
    async def body(server):
        return server._connection._child.pid

    Path(tmp_path / "files").mkdir()
    for config in (real("filesystem", str(tmp_path / "files")), real("time")):
        assert not lives(serve(config, body))

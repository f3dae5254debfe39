"""Packages that others published load as they are: nothing in them was changed or written for this."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenyx.ext.agents.catalogue import catalogue
from agenyx.ext.commands import templates
from agenyx.ext.sources import Source
from support.mock import agenyx, command_env
from support.packages import COLLECTION, FASTAPI, OPENSKILLS, SUPERCLAUDE, TYPER, Package, unpack
from support.raw_server import RawServer, call, content, finish, stream

SKILLS = {FASTAPI: 1, TYPER: 1, OPENSKILLS: 1, COLLECTION: 89}


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "work"
    folder.mkdir()
    yield folder


@pytest.mark.parametrize(("package", "count"), SKILLS.items(), ids=[package.name for package in SKILLS])
@pytest.mark.parametrize("place", [".agenyx/skills", ".agents/skills", ".claude/skills", ".codex/skills"])
def test_published_skills_can_be_used(package: Package, count: int, place: str, tmp_path: Path, work: Path) -> None:
    folder = unpack(package, tmp_path / "package")
    shutil.copytree(folder, work / place)
    done = agenyx("skills", "check", "--json", "--trust-workspace", cwd=work, env=command_env(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["ok"] and sum(skill["usable"] for skill in told["skills"]) == count
    assert all(skill["description"] for skill in told["skills"] if skill["usable"])


def test_a_published_skill_is_followed_by_the_model_with_its_resources(tmp_path: Path, work: Path) -> None:
    shutil.copytree(unpack(FASTAPI, tmp_path / "package"), tmp_path / ".agents" / "skills")
    script: list[Any] = [
        _calls({"skill": "fastapi"}),
        _calls({"skill": "fastapi", "file": "references/dependencies.md"}),
        [stream(content("Done."), finish())],
    ]
    with RawServer(script) as server:
        env = command_env(tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{server.url}/v1", AGENYX_MODEL="m")
        done = agenyx("-p", "write an API", cwd=work, env=env)
    assert done.returncode == 0, done.stderr
    first, last = server.requests[0].json, server.requests[-1].json
    assert "- fastapi: FastAPI best practices and conventions." in first["messages"][0]["content"]
    body, reference = [message["content"] for message in last["messages"] if message["role"] == "tool"]
    whole = (tmp_path / ".agents/skills/fastapi/SKILL.md").read_text("utf-8")
    assert whole.split("---\n", 2)[2].strip() in body
    assert (
        reference.strip() == (tmp_path / ".agents/skills/fastapi/references/dependencies.md").read_text("utf-8").strip()
    )


def _calls(args: dict[str, str]) -> list[bytes]:
    return [stream(call("Skill", json.dumps(args)), finish("tool_calls"))]


def _sources(folder: Path, kind: Any, place: str) -> list[Source]:
    files = sorted(path for path in folder.rglob("*.md") if path.name != "README.md")
    return [
        Source(kind, "user", place, os.path.relpath(path, folder), f"{place}/{path.name}", path.read_bytes())
        for path in files
    ]


def test_published_commands_and_agents_can_be_used(tmp_path: Path) -> None:
    folder = unpack(SUPERCLAUDE, tmp_path / "package")
    commands, problems = templates(_sources(folder / "commands", "commands", "/h/.claude/commands"))
    assert len(commands) == 30 and all(command.description for command in commands), problems
    found = catalogue(_sources(folder / "agents", "agents", "/h/.claude/agents"), "")
    theirs = [agent for agent in found.agents.values() if agent.origin != "built-in"]
    assert len(theirs) == 20, [agent.name for agent in theirs]

"""Instructions, a project and styles that others published, as they are: nothing in them was written for this."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agenyx.workspace.survey import survey
from support.mock import Mock, agenyx, command_env, mock_server
from support.packages import MCP_SDK, SUPERCLAUDE, unpack


@pytest.fixture(scope="module")
def mock() -> Iterator[Mock]:
    with mock_server() as running:
        yield running


def asked(mock: Mock, person: Path, work: Path, *argv: str) -> tuple[str, str, subprocess.CompletedProcess[str]]:
    """System text and last user text of the first request, and the run."""
    env = command_env(person, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{mock.url}/v1", AGENYX_MODEL="m")
    mock.reset("hello", keep_bodies=True)
    done = agenyx("-p", "--trust-workspace", *argv, cwd=work, env=env)
    assert done.returncode == 0, done.stderr
    bodies = mock.bodies()
    messages = json.loads(bodies[0])["messages"] if bodies else [{"content": ""}]
    return messages[0]["content"], messages[-1]["content"], done


def test_a_published_project_tells_its_instructions_once(mock: Mock, tmp_path: Path) -> None:
    work = unpack(MCP_SDK, tmp_path / "package")
    assert (work / "CLAUDE.md").read_text("utf-8") == "@AGENTS.md\n"
    whole = (work / "AGENTS.md").read_text("utf-8").strip()
    system, _, done = asked(mock, tmp_path, work, "hi")
    assert system.count(whole) == 1
    assert "left out" not in done.stderr
    _, _, done = asked(mock, tmp_path, work, "/instructions")
    assert f"{work}/AGENTS.md (8,714 bytes; with the next prompt)" in done.stdout


def test_init_knows_a_published_project(mock: Mock, tmp_path: Path) -> None:
    work = unpack(MCP_SDK, tmp_path / "package")
    found = survey(str(work))
    assert found.languages[0][0] == "Python"
    assert {"pytest", "ruff", "pyright"} <= set(found.commands)
    _, words, _ = asked(mock, tmp_path, work, "/init")
    assert words.startswith("AGENTS.md is there already.")
    for fact in (
        "Python (",
        "pyproject.toml",
        "pytest",
        ".github/workflows",
        "CONTRIBUTING.md",
        "AGENTS.md, CLAUDE.md",
    ):
        assert fact in words


def test_published_texts_are_taken_in_and_one_is_a_style(mock: Mock, tmp_path: Path) -> None:
    published = unpack(SUPERCLAUDE, tmp_path / "package") / "_src" / "superclaude"
    person, work = tmp_path / "person", tmp_path / "work"
    shutil.copytree(published / "core", work / ".claude" / "core")
    shutil.copytree(published / "modes", person / ".claude" / "output-styles")
    names = sorted(path.name for path in (published / "core").glob("*.md"))
    assert len(names) > 4
    (work / ".claude" / "CLAUDE.md").write_text("".join(f"@core/{name}\n" for name in names), "utf-8")
    system, _, _ = asked(mock, person, work, "--output-style", "mode_brainstorming", "hi")
    for name in names:
        assert (published / "core" / name).read_text("utf-8").strip() in system
    style = (published / "modes" / "MODE_Brainstorming.md").read_text("utf-8").strip()
    assert f"# Output style: MODE_Brainstorming\n{style}" in system

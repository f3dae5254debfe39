"""The one table of what acts: what is found and what a path is called have to agree."""

from __future__ import annotations

import os
from pathlib import Path

from agenyx.workspace.acting import LIVE, PLACES, candidates, kind_of


def test_what_is_there_is_found_and_called_the_same(tmp_path: Path) -> None:
    work = tmp_path / "a" / "work"
    for place in PLACES:
        path = work / place.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir() if place.tree else path.write_text("x")
    (work / "AGENTS.md").write_text("x")
    (tmp_path / "CLAUDE.md").write_text("x")
    found = [one for one in candidates(str(work), LIVE) if one.top.startswith(str(tmp_path))]
    assert [(one.top, one.path) for one in found[:2]] == [(str(tmp_path), "CLAUDE.md"), (str(work), "AGENTS.md")]
    assert [one.path for one in found[2:]] == [place.path for place in PLACES]
    for one in found:
        path = os.path.join(
            one.top, one.path, *(["deep", "x.md" if one.only != "/SKILL.md" else "SKILL.md"] if one.tree else [])
        )
        assert kind_of(path, str(work), LIVE) == one.kind
    some = [one for one in candidates(str(work), frozenset({"settings"})) if one.top.startswith(str(tmp_path))]
    assert [one.path for one in some] == [".agenyx/settings.toml"]


def test_what_lies_below_or_beside_is_not_searched(tmp_path: Path) -> None:
    work = tmp_path / "work"
    for folder in ("sub", "node_modules/evil", "sub/.agenyx"):
        (work / folder).mkdir(parents=True)
        (work / folder / "AGENTS.md").write_text("x")
        (work / folder / "settings.toml").write_text("x")
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "AGENTS.md").write_text("x")
    (tmp_path / ".agenyx").mkdir()
    (tmp_path / ".agenyx" / "settings.toml").write_text("x")
    assert [one for one in candidates(str(work), LIVE) if one.top.startswith(str(tmp_path))] == []
    for path in ("sub/AGENTS.md", "node_modules/evil/AGENTS.md", "sub/.agenyx/settings.toml", "../beside/AGENTS.md"):
        assert kind_of(os.path.normpath(work / path), str(work), LIVE) is None
    assert kind_of(str(tmp_path / ".agenyx" / "settings.toml"), str(work), LIVE) is None


def test_letter_case_is_no_way_around() -> None:
    assert kind_of("/w/agents.MD", "/w") == "instructions"
    assert kind_of("/w/.AGENYX/Settings.toml", "/w") == "settings"
    assert kind_of("/W/AGENTS.md", "/w/sub") == "instructions", "a folder above"
    assert kind_of("/wx/AGENTS.md", "/w") is None
    assert kind_of("/AGENTS.md", "/") == "instructions"


def test_only_what_can_act_has_a_name() -> None:
    assert kind_of("/w/.mcp.json", "/w", frozenset({"settings"})) is None
    assert kind_of("/w/.mcp.json", "/w") == "mcp"
    assert kind_of("/w/.agenyx/skills", "/w") == "skills", "what is put in the folder's place acts as well"
    assert kind_of("/w/.agenyx/skills/x/SKILL.md", "/w") == "skills"
    assert kind_of("/w/.agenyx/skills/x/notes.txt", "/w") is None, "read as any file is"
    assert kind_of("/w/.agenyx/commands/x.md", "/w") == "commands"
    assert kind_of("/w/.agenyx/hooks/run", "/w") == "hooks"

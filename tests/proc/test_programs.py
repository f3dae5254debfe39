from __future__ import annotations

import os
import subprocess
import sys

import pytest

from agenyx.proc import programs


def _program(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("name", ["rg", "shfmt"])
def test_ours_are_found_without_a_path(name):
    found = programs.find(name, {})
    assert found is not None and os.path.isabs(found)
    assert subprocess.run((found, "--version"), stdout=subprocess.DEVNULL, check=False).returncode == 0


@pytest.mark.parametrize("name", ["rg", "shfmt"])
def test_record_when_the_scripts_folder_misses(name, monkeypatch, tmp_path):
    monkeypatch.setattr(programs, "_scripts", lambda: str(tmp_path))
    found = programs.find(name, {})
    assert found is not None and os.access(found, os.X_OK)


def test_path_is_last(monkeypatch, tmp_path):
    mine = _program(tmp_path / "bin" / "rg")
    monkeypatch.setattr(programs, "_scripts", lambda: str(tmp_path / "none"))
    monkeypatch.setattr(programs, "_recorded", lambda name: None)
    assert programs.find("rg", {"PATH": str(mine.parent)}) == str(mine)
    assert programs.find("rg", {}) is None


def test_workspace_programs_are_never_taken(tmp_path):
    workspace, other = tmp_path / "repo", tmp_path / "bin"
    inside = _program(workspace / "bin" / "tool")
    other.mkdir()
    (other / "tool").symlink_to(inside)
    (tmp_path / "way").symlink_to(workspace / "bin")
    good = _program(tmp_path / "good" / "tool")
    (workspace / "links").mkdir()
    (workspace / "links" / "tool").symlink_to(good)
    path = f"{inside.parent}:{workspace / 'links'}:{other}:{tmp_path / 'way'}:bin:{good.parent}"
    assert programs.find("tool", {"PATH": path}, str(workspace)) == str(good)
    assert programs.find("tool", {"PATH": path}) == str(inside)


def test_what_is_not_executable_is_passed_over(tmp_path):
    (tmp_path / "tool").mkdir()
    assert programs.find("tool", {"PATH": f"{tmp_path}:/no/such"}) is None


def test_finding_is_cheap():
    code = (
        "import sys; from agenyx.proc.programs import find; assert find('shfmt', {}); "
        "print('importlib.metadata' in sys.modules)"
    )
    done = subprocess.run((sys.executable, "-c", code), stdout=subprocess.PIPE, check=True)
    assert done.stdout.strip() == b"False"

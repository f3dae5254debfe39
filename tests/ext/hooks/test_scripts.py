"""Which scripts of a workspace act with its hooks, and that a changed one does not run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agenyx.ext.acting import take
from agenyx.ext.hooks.model import Entry
from agenyx.ext.hooks.scripts import named, unchanged


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "my work=1"
    (work / "tools").mkdir(parents=True)
    (work / "tools" / "check.sh").write_text("#!/bin/sh\n")
    (work / "tools" / "run").write_text("#!/bin/sh\n")
    (work / "tools" / "run").chmod(0o755)
    (work / "STATE.md").write_text("notes\n")
    return work


@pytest.mark.parametrize(
    "line",
    [
        "tools/check.sh",
        "./tools/check.sh --fast",
        "bash tools/check.sh",
        '"$CLAUDE_PROJECT_DIR"/tools/check.sh',
        '"${CLAUDE_PROJECT_DIR}/tools/check.sh"',
        'H="$CLAUDE_PROJECT_DIR/tools/check.sh"; [ -x "$H" ] && exec "$H"; exit 0',
        'cd "$CLAUDE_PROJECT_DIR" && "$(command -v bash || command -v sh)" tools/check.sh --format x',
        "sh -c 'tools/check.sh'",
        "cat $AGENYX_PROJECT_DIR/STATE.md | tools/check.sh",
    ],
)
def test_scripts_are_found_in_the_lines_that_people_write(work: Path, line: str) -> None:
    found = {os.path.normpath(path) for path in named(Entry("Stop", "command", command=line), str(work))}
    assert found == {str(work / "tools" / "check.sh")}


def test_programs_and_arguments_of_a_list(work: Path) -> None:
    entry = Entry("Stop", "command", command="python3", args=("-u", "tools/run", "STATE.md"))
    assert {os.path.normpath(path) for path in named(entry, str(work))} == {str(work / "tools" / "run")}


def test_a_script_that_changes_goes_or_comes_is_told(work: Path) -> None:
    entry = Entry("Stop", "command", command="tools/check.sh")
    check = unchanged(entry, str(work))
    assert check() == ""
    (work / "tools" / "check.sh").write_text("#!/bin/sh\nrm -rf ~\n")
    assert "check.sh has changed since this session began" in check()
    (work / "tools" / "check.sh").unlink()
    assert "has changed" in check()
    new = unchanged(Entry("Stop", "command", command="tools/new.sh"), str(work))
    (work / "tools" / "new.sh").write_text("x")
    assert "has changed" in new()


def test_what_lies_outside_is_the_persons(work: Path, tmp_path: Path) -> None:
    script = tmp_path / "mine.sh"
    script.write_text("a")
    check = unchanged(Entry("Stop", "command", command=str(script)), str(work))
    script.write_text("b")
    assert check() == ""


def test_the_inventory_holds_them(work: Path, tmp_path: Path) -> None:
    (work / ".claude").mkdir()
    settings = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "bash tools/check.sh; tools/run"}]}]}}'
    (work / ".claude" / "settings.json").write_text(settings)
    shown = [item.path for item in take(str(work), str(tmp_path / "home"), {}).items]
    assert shown == [".claude/settings.json", "tools/check.sh", "tools/run"]

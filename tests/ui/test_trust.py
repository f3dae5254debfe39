"""`agenyx trust`, as a process and at a terminal."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from support.mock import agenyx, command_env
from support.pty_screen import Screen


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "AGENTS.md").write_text("Use tabs.\n")
    return folder


def run(work: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    done = agenyx("trust", *argv, cwd=work, env=command_env(work.parent))
    assert "Traceback" not in done.stderr
    return done


def test_add_list_diff_remove(work: Path) -> None:
    path = work / "AGENTS.md"
    assert run(work, "list").stdout == "no workspace is trusted\n"
    assert run(work, "list", ".").stdout.startswith(f"{path} (not trusted, told to the model, 10 bytes, sha256 ")
    assert run(work, "diff").returncode == 1
    added = run(work, "add", "--yes")
    assert (added.returncode, added.stdout.split(" (")[0]) == (0, f"trusted: {path}")
    assert run(work, "diff").returncode == 0
    assert run(work, "list").stdout.endswith("  unchanged\n")
    (work / ".agenyx").mkdir()
    (work / ".agenyx" / "settings.toml").write_text("effort = 'low'\n")
    path.write_text("Use spaces.\n")
    changed = run(work, "diff")
    assert changed.returncode == 1
    assert "-Use tabs.\n+Use spaces." in changed.stdout
    assert "settings.toml (new, settings of this program" in changed.stdout
    assert "effort = 'low'" in changed.stdout
    rows = json.loads(run(work, "list", "--json").stdout)
    assert [(row["workspace"], row["state"], row["files"]) for row in rows] == [(str(work), "changed", [str(path)])]
    run(work, "add", "--yes", ".")
    path.unlink()
    gone = run(work, "diff", str(work), "--json")
    assert json.loads(gone.stdout) == {
        "workspace": str(work),
        "changes": [{"path": str(path), "state": "removed"}],
    }
    assert f"{path} (removed)" in run(work, "diff").stdout
    assert run(work, "remove").stdout == f"{work} is no longer trusted\n"
    assert run(work, "remove").stdout == f"{work} is not trusted\n"
    assert run(work, "list").stdout == "no workspace is trusted\n"


def test_for_programs(work: Path) -> None:
    listed = json.loads(run(work, "list", ".", "--json").stdout)
    (file,) = listed["files"]
    assert (file["kind"], file["size"], file["trusted"]) == ("instructions", 10, False)
    run(work, "add", "--yes")
    assert json.loads(run(work, "list", ".", "--json").stdout)["files"][0]["trusted"]


def test_a_folder_that_went_away_can_be_forgotten(work: Path) -> None:
    run(work, "add", "--yes")
    away = work.rename(work.with_name("away"))
    assert run(away, "list").stdout.endswith("  gone\n")
    work.mkdir()
    assert run(away, "list").stdout.endswith("  another folder stands there\n")
    assert run(away, "remove", str(work)).returncode == 0
    assert run(away, "list").stdout == "no workspace is trusted\n"


def test_nothing_to_trust(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    done = run(tmp_path / "work", "add", "--yes")
    assert (done.returncode, done.stdout) == (0, "nothing here acts, so there is nothing to trust\n")
    assert not (tmp_path / ".agenyx").exists()


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ([], "needs a command"),
        (["frobnicate"], "does not understand"),
        (["add"], "asks on a terminal"),
        (["add", "nowhere"], "nowhere is not a directory"),
        (["list", "--yaml"], "no flag --yaml"),
        (["add", "a", "b"], "too many words"),
    ],
)
def test_mistakes(argv: list[str], words: str, work: Path) -> None:
    done = run(work, *argv)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert not (work.parent / ".agenyx").exists()


def test_help(work: Path) -> None:
    assert "agenyx trust diff [DIR]" in run(work, "--help").stdout


@pytest.mark.parametrize(("answer", "code", "state"), [("y\r", 0, "unchanged"), ("\r", 1, "no workspace is trusted")])
def test_it_shows_and_asks(work: Path, answer: str, code: int, state: str) -> None:
    (work / "AGENTS.md").write_text("Use tabs.\u200b\n\x1b[2J")
    command = [sys.executable, "-m", "agenyx", "trust", "add"]
    with Screen(command, work, command_env(work.parent, TERM="xterm"), columns=200) as screen:
        screen.see("? [y/N]")
        screen.see("Use tabs.\\u200b")
        screen.see("WARNING: it holds what cannot be seen, written below as escapes: U+200B")
        assert b"\x1b[2J" not in screen.data
        screen.type(answer)
        assert screen.end() == code
    assert state in run(work, "list").stdout

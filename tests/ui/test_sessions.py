"""`agenyx sessions`, `--list-sessions` and `--delete-session`, as processes and at a terminal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agenyx.session import receipts
from agenyx.session.load import sessions_of
from agenyx.session.store import TRANSCRIPT, FileStore
from support.mock import agenyx, command_env
from support.pty_screen import Screen
from support.stored import NOON, store_session, turn

KEY = "sk-secret-0123456789"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / ".agenyx"


def run(work: Path, *argv: str, command: str = "sessions") -> subprocess.CompletedProcess[str]:
    env = command_env(work.parent, OPENAI_API_KEY=KEY)
    done = agenyx(*([command] if command else []), *argv, cwd=work, env=env)
    assert "Traceback" not in done.stderr and KEY not in done.stdout + done.stderr
    return done


def flags(work: Path, *argv: str) -> tuple[int, Any]:
    done = run(work, *argv, "--cwd", str(work), "--output-format", "json", command="")
    return done.returncode, json.loads(done.stdout)


def test_list_show_rename_search(work: Path, home: Path) -> None:
    assert run(work).stdout == "there is no session\n"
    assert not home.exists()
    store_session(home, work, "aaaa-1", [turn("mend the parser\nplease", args='{"file_path": "lexer.py"}')], at=NOON)
    store_session(home, work, "bbbb-2", [turn("write docs")], at=NOON + 60)
    store_session(home, work.parent, "cccc-3", [turn("elsewhere")], at=NOON - 60)
    rows = run(work, "list").stdout.splitlines()
    assert [row.split("  ")[0] for row in rows] == ["bbbb-2", "aaaa-1"]
    assert rows[1].endswith("  mend the parser")
    assert f"({work.parent})" in run(work, "list", "--all").stdout.splitlines()[2]
    assert run(work, "list", "--cwd", str(work.parent)).stdout.startswith("cccc-3")
    assert "and 1 older ones" in run(work, "list", "--limit", "1").stdout

    shown = run(work, "show", "mend")
    assert "mend the parser" in shown.stdout and "2, 1 calls" in shown.stdout
    assert run(work, "rename", "aaaa", "the", "lexer bug").returncode == 0
    assert "the lexer bug" in run(work, "list").stdout
    found = run(work, "search", "LEXER.py")
    assert found.stdout.splitlines()[0].startswith("aaaa-1") and "call: Read" in found.stdout
    assert run(work, "search", "nothing like it").returncode == 1


def test_for_programs(work: Path, home: Path) -> None:
    directory = store_session(home, work, "aaaa-1", [turn("mend the parser")], at=NOON)
    with (directory / TRANSCRIPT).open("ab") as file:
        file.write(b"garbage\n")
    listed = json.loads(run(work, "list", "--json").stdout)
    size = (directory / TRANSCRIPT).stat().st_size
    (row,) = listed["sessions"]
    assert (listed["version"], listed["total"], row["session_id"], row["title"]) == (1, 1, "aaaa-1", "mend the parser")
    assert (row["workspace"], row["created_at"], row["size"]) == (str(work), "2027-01-15T08:00:00Z", size)
    shown = json.loads(run(work, "show", "aaaa-1", "--json").stdout)
    assert shown["problems"] == [{"code": "malformed_record", "line": 7, "message": "line 7 is damaged"}]
    assert shown["directory"] == str(directory) and shown["revision"].startswith("r1_")
    (hit,) = json.loads(run(work, "search", "parser", "--json").stdout)["sessions"][0]["hits"]
    assert (hit["where"], hit["text"]) == ("prompt", "mend the parser")


def test_delete_asks_and_needs_a_yes_without_a_terminal(work: Path, home: Path) -> None:
    directory = store_session(home, work, "aaaa-1", [turn("mend the parser")])
    refused = run(work, "delete", "aaaa-1")
    assert refused.returncode == 2 and "--yes" in refused.stderr and directory.exists()
    program = [sys.executable, "-m", "agenyx", "sessions", "delete", "mend the parser"]
    for answer, left in (("n", True), ("y", False)):
        with Screen(program, work, command_env(work.parent)) as screen:
            screen.see("Delete this session for good? [y/N]")
            screen.type(f"{answer}\r")
            screen.see("nothing was deleted" if left else "deleted aaaa-1")
        assert directory.exists() == left
    assert run(work, "delete", "aaaa-1", "--yes").returncode == 2


def test_delete_of_what_changed_or_is_in_use(work: Path, home: Path) -> None:
    directory = store_session(home, work, "aaaa-1", [turn("one")])
    seen = json.loads(run(work, "show", "aaaa-1", "--json").stdout)["revision"]
    store_session(home, work, "aaaa-1", [turn("two")])
    stale = run(work, "delete", "aaaa-1", "--revision", seen, "--yes", "--json")
    assert (stale.returncode, json.loads(stale.stdout)["status"]) == (1, "stale")
    store = FileStore(str(directory))
    locked = run(work, "delete", "aaaa-1", "--yes")
    assert locked.returncode == 1 and "in use" in locked.stdout
    store.close()
    assert run(work, "delete", "aaaa-1", "--yes").stdout == "deleted aaaa-1\n"


def test_prune_says_what_it_would_do_first(work: Path, home: Path) -> None:
    for number in range(4):
        store_session(home, work, f"s{number}", [turn(f"prompt {number}")], at=NOON - number)
    dry = run(work, "prune", "--keep", "2")
    assert dry.returncode == 0 and "would delete" in dry.stdout and "nothing was deleted" in dry.stdout
    assert len(json.loads(run(work, "list", "--json").stdout)["sessions"]) == 4
    done = json.loads(run(work, "prune", "--keep", "2", "--yes", "--json").stdout)
    assert [(row["session_id"], row["status"]) for row in done["sessions"]] == [("s2", "deleted"), ("s3", "deleted")]
    assert [row["session_id"] for row in json.loads(run(work, "list", "--json").stdout)["sessions"]] == ["s0", "s1"]
    assert "no limit" in run(work, "prune").stdout


def test_list_sessions(work: Path, home: Path) -> None:
    assert flags(work, "--list-sessions") == (0, {"version": 1, "status": "ok", "sessions": []})
    assert not home.exists(), "nothing is made"
    for number in range(3):
        store_session(home, work, f"s{number}", [turn("hello")], at=NOON - number)
    code, first = flags(work, "--list-sessions", "--session-page-size", "2")
    assert code == 0 and sorted(first) == ["next_page_token", "sessions", "status", "version"]
    assert [sorted(row) for row in first["sessions"]] == [["revision", "session_id", "updated_at"]] * 2
    assert first["sessions"][0]["updated_at"] == "2027-01-15T08:00:00Z"
    code, second = flags(work, "--list-sessions", "--session-page-token", first["next_page_token"])
    assert [row["session_id"] for row in second["sessions"]] == ["s2"] and "next_page_token" not in second
    store_session(home, work, "s9", [turn("new")])
    code, stale = flags(work, "--list-sessions", "--session-page-token", first["next_page_token"])
    assert (code, stale) == (1, {"version": 1, "status": "stale", "sessions": []})
    Path(sessions_of(str(home), str(work))).chmod(0o777)
    assert flags(work, "--list-sessions") == (1, {"version": 1, "status": "store_unsafe", "sessions": []})


def test_list_sessions_as_text(work: Path, home: Path) -> None:
    argv = ("--list-sessions", "--cwd", str(work))
    assert run(work, *argv, command="").stdout == "no sessions\n"
    for number in range(2):
        store_session(home, work, f"s{number}", [turn("hello")], at=NOON - number)
    row, token = run(work, *argv, "--session-page-size", "1", command="").stdout.splitlines()
    assert row.split("\t")[:2] == ["s0", "2027-01-15T08:00:00Z"] and row.split("\t")[2].startswith("r1_")
    assert token.startswith("next_page_token\tp1_")
    stale = run(work, *argv, "--session-page-token", "p1_x", command="")
    assert (stale.returncode, stale.stdout) == (1, "status\tstale\n")


def test_delete_session(work: Path, home: Path) -> None:
    store_session(home, work, "s1", [turn("hello")])
    revision = flags(work, "--list-sessions")[1]["sessions"][0]["revision"]
    argv = ("--delete-session", "s1", "--session-revision", revision)
    other = ("--delete-session", "s1", "--session-revision", "r1_" + "A" * 43)
    assert flags(work, *other) == (1, {"version": 1, "status": "stale", "session_id": "s1"})
    assert flags(work, *argv) == (0, {"version": 1, "status": "deleted", "session_id": "s1"})
    assert flags(work, *argv)[1]["status"] == "deleted"
    assert flags(work, *other)[1]["status"] == "stale"
    gone = run(work, "--delete-session", "none", "--session-revision", revision, "--cwd", str(work), command="")
    assert (gone.returncode, gone.stdout) == (1, "not_found\tnone\n")


@pytest.mark.parametrize(
    "argv",
    [
        ["--list-sessions"],
        ["--list-sessions", "--cwd", ".", "prompt"],
        ["--list-sessions", "--cwd", ".", "--cwd", "."],
        ["--list-sessions", "--cwd", ".", "-p"],
        ["--list-sessions", "--cwd", ".", "--model", "m"],
        ["--list-sessions", "--cwd", ".", "--session-page-size", "0"],
        ["--list-sessions", "--cwd", ".", "--session-page-size", "501"],
        ["--list-sessions", "--cwd", ".", "--session-revision", "r1_x"],
        ["--list-sessions", "--cwd", "missing"],
        ["--list-sessions=yes", "--cwd", "."],
        ["--list-sessions", "--delete-session", "s1", "--cwd", "."],
        ["--delete-session", "s1", "--cwd", "."],
        ["--delete-session", "s1", "--session-revision", "r1_x", "--cwd", "."],
        ["--delete-session", "../s1", "--session-revision", "r1_" + "A" * 43, "--cwd", "."],
        ["--delete-session", "--list-sessions", "--cwd", "."],
        ["--session-page-size", "5", "hello"],
        ["--session-revision", "r1_x", "hello"],
        ["--resume", "--list-sessions"],
    ],
)
@pytest.mark.parametrize("form", [[], ["--output-format", "json"]], ids=["text", "json"])
def test_the_grammar_is_closed(work: Path, home: Path, argv: list[str], form: list[str]) -> None:
    done = run(work, *argv, *form, command="")
    assert done.returncode == 2 and done.stderr
    if "--list-sessions" in argv or "--delete-session" in argv:
        assert done.stdout == ""
    assert not home.exists()


@pytest.mark.parametrize(
    "argv",
    [
        ["frobnicate"],
        ["show"],
        ["show", "nothing"],
        ["list", "--yes"],
        ["prune", "--keep", "many"],
        ["rename", "s1"],
        ["list", "--limit", "0"],
        ["list", "--cwd", "missing"],
        ["search"],
    ],
)
def test_what_is_not_understood(work: Path, argv: list[str]) -> None:
    done = run(work, *argv)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("agenyx: ")


def test_resume_by_title_and_prefix_says_what_it_cannot_tell_apart(work: Path, home: Path) -> None:
    store_session(home, work, "aaaa-1", [turn("write tests")])
    store_session(home, work, "aaaa-2", [turn("write docs")])
    several = run(work, "-p", "--resume", "write", "go on", command="")
    assert several.returncode == 2
    assert "2 sessions are called 'write'" in several.stderr and "aaaa-2" in several.stderr
    none = run(work, "-p", "--resume", "zzzz", "go on", command="")
    assert none.returncode == 2 and "agenyx sessions list" in none.stderr


@pytest.mark.parametrize("argv", [("delete", "aaaa-1", "--yes"), ("prune", "--yes")], ids=lambda argv: argv[0])
def test_a_deletion_that_broke_off_is_finished(work: Path, home: Path, argv: tuple[str, ...]) -> None:
    directory = store_session(home, work, "aaaa-1", [turn("one")])
    seen = json.loads(run(work, "show", "aaaa-1", "--json").stdout)["revision"]
    folder = os.open(directory, os.O_RDONLY)
    receipts.write_intent(folder, ("aaaa-1", seen))
    os.close(folder)
    assert run(work, "list").stdout == "there is no session\n"
    assert run(work, "show", "aaaa-1").returncode == 2
    done = run(work, *argv)
    assert done.returncode == 0 and "deleted" in done.stdout
    assert not directory.exists()
    assert run(work, "prune", "--yes").stdout == "there is nothing to delete\n"

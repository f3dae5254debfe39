"""`--debug` in real runs, with hooks, MCP servers and commands: every stage is told, and nothing of what was said."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.errors import AgenyxError
from agenyx.core.events import AgentEvent
from agenyx.ui.debug_log import DebugLog
from support.golden import SECRETS, load
from support.mcp_place import McpPlace, fake, tools
from support.mock import agenyx, command_env

WORDS = ("PROMPT-WORDS", "ARGUMENT-WORDS", "OUTPUT-WORDS", "HOOK-WORDS", "SERVER-WORDS", "FILE-NAME-WORDS")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[McpPlace]:
    with McpPlace(tmp_path) as made:
        made.mine(fake=fake(instructions="SERVER-WORDS"))
        command = "echo HOOK-WORDS >&2; exit 0"
        hooks = {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}]}
        (made.home / "hooks.json").write_text(json.dumps({"hooks": hooks}))
        (made.work / "FILE-NAME-WORDS.txt").write_text("OUTPUT-WORDS")
        yield made


SCRIPT = [
    tools(("Bash", {"command": "echo ARGUMENT-WORDS; cat FILE-NAME-WORDS.txt"})),
    tools(("mcp__fake__echo", {"text": "ARGUMENT-WORDS"})),
    tools(("Read", {"file_path": "/etc/FILE-NAME-WORDS"})),
]


def records(told: str) -> list[dict[str, Any]]:
    return [json.loads(row) for row in told.splitlines() if row.startswith("{")]


def nothing_private(told: str, place: McpPlace) -> None:
    rows = "\n".join(row for row in told.splitlines() if row.startswith("{"))
    for words in (*WORDS, str(place.top), "k" * 20, "/etc", "exit 0", "echo A"):
        assert words not in rows


@pytest.mark.parametrize("flags", [(), ("--output-format", "json"), ("--output-format", "stream-json", "--verbose")])
def test_every_stage_of_a_run_is_told_and_nothing_of_its_content(place: McpPlace, flags: tuple[str, ...]) -> None:
    url = place.play(*SCRIPT)
    argv = ("-p", "--debug", *flags, "--dangerously-skip-permissions", "PROMPT-WORDS")
    done = agenyx(*argv, cwd=place.work, env=place.env(url))
    assert done.returncode == 0, done.stderr
    assert b"OUTPUT-WORDS" in place.server.requests[1].body
    rows = records(done.stderr)
    stages = {row["msg"] for row in rows}
    assert stages >= {
        "turn started",
        "model iteration started",
        "model stream opened",
        "model stream event",
        "model iteration completed",
        "capability batch accepted",
        "capability batch started",
        "capability output",
        "capability result",
        "hook started",
        "hook completed",
        "process started",
        "process ended",
        "mcp server",
        "turn completed",
    }
    if not flags:
        assert stages >= {"session construction started", "session construction completed", "turn admission started"}
        assert stages >= {"session shutdown started", "session shutdown completed"}
    (hook,) = (row for row in rows if row["msg"] == "hook completed")
    assert (hook["event"], hook["kind"], hook["code"], hook["errors_chars"]) == ("PreToolUse", "command", 0, 11)
    assert ("fake", "ready") in [(row["server"], row["state"]) for row in rows if row["msg"] == "mcp server"]
    assert all(isinstance(row["code"], int) for row in rows if row["msg"] == "process ended")
    results = [(row["tool"], row["status"]) for row in rows if row["msg"] == "capability result"]
    assert results[:2] == [("Bash", "ok"), ("mcp__fake__echo", "ok")]
    assert all(len(json.dumps(row)) < 1_000 and row["time"].endswith("Z") for row in rows)
    nothing_private(done.stderr, place)


def test_a_session_that_could_not_be_made_is_told_by_its_kind_only(tmp_path: Path) -> None:
    work = tmp_path / "FILE-NAME-WORDS"
    work.mkdir()
    env = command_env(tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL="http://127.0.0.1:9/v1", AGENYX_MODEL="m")
    done = agenyx("-p", "--debug", "--resume", "PROMPT-WORDS", "x", cwd=work, env=env)
    failed = [row for row in records(done.stderr) if row["msg"] == "session construction failed"]
    assert [(row["level"], row["error"]) for row in failed] == [("error", "UsageError")]


def test_a_conversation_writes_it_into_a_file_of_its_owner(place: McpPlace) -> None:
    url = place.play(*SCRIPT)
    lines = place.top / "said.txt"
    lines.write_text("PROMPT-WORDS\n/clear\nPROMPT-WORDS again\n/exit\n")
    with lines.open("rb") as stdin:
        argv = ("chat", "--debug", "--dangerously-skip-permissions")
        done = agenyx(*argv, cwd=place.work, env=place.env(url), stdin=stdin)
    assert done.returncode == 0, done.stderr
    (file,) = (place.home / "debug").iterdir()
    assert f"Diagnostics: {file}" in done.stdout
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    told = file.read_text("utf-8")
    rows = records(told)
    assert len(rows) == told.count("\n")
    assert {"turn started", "capability result", "hook completed", "mcp server", "turn completed"} <= {
        row["msg"] for row in rows
    }
    assert len({row["session"] for row in rows if row["msg"] == "turn started"}) == 2
    nothing_private(told, place)
    assert '"msg"' not in done.stdout + done.stderr, "the terminal stays the conversation's"


def both(log: DebugLog, times: int) -> list[AgentEvent]:
    seen: list[AgentEvent] = []
    emit = log.around(seen.append)
    for _ in range(times):
        for event in load():
            emit(event)
    return seen


def test_the_file_is_bounded_and_old_ones_go(tmp_path: Path) -> None:
    folder = tmp_path / "debug"
    folder.mkdir(mode=0o700)
    for number in range(14):
        (folder / f"20200101-0000{number:02d}-1.jsonl").touch()
        (folder / f"20200101-0000{number:02d}-1.jsonl.1").touch()
    (folder / "notes.txt").touch()
    log = DebugLog(str(tmp_path), most=20_000)
    assert both(log, 5) == load() * 5
    log.close()
    sizes = {
        file.name: file.stat().st_size for file in folder.iterdir() if file.name.startswith(os.path.basename(log.path))
    }
    assert len(sizes) == 2 and all(0 < size <= 20_000 for size in sizes.values())
    text = "".join(file.read_text("utf-8") for file in folder.iterdir())
    assert all(json.loads(row) for row in text.splitlines())
    assert not [secret for secret in SECRETS if secret in text]
    left = sorted(file.name for file in folder.iterdir() if file.name.startswith("2020"))
    assert len(left) == 18 and left[0] == "20200101-000005-1.jsonl"
    assert (folder / "notes.txt").exists()


def test_a_disk_that_takes_no_more_ends_the_diagnostics_and_nothing_else(tmp_path: Path) -> None:
    log = DebugLog(str(tmp_path))
    os.close(log._file)
    assert both(log, 1) == load()


def test_a_home_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "debug").write_text("a file")
    with pytest.raises(AgenyxError, match="diagnostics cannot be written"):
        DebugLog(str(tmp_path))

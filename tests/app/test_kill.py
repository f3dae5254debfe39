"""kill -9 in the middle of a tool run, then --continue: nothing is lost, nothing runs twice, nothing stays behind."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from support.mock import agenyx, command_env
from support.raw_server import RawServer, call, content, finish, stream


def until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.02)


def tools(*made: tuple[str, dict[str, object]]) -> bytes:
    """A response that calls these tools."""
    return stream(
        *(call(name, json.dumps(args), f"call_{index}", index) for index, (name, args) in enumerate(made)),
        finish("tool_calls"),
    )


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def start(work: Path, env: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "agenyx", "-p", "--dangerously-skip-permissions", "do it"],
        cwd=work,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


RUNS = {"command": "echo run >> runs.txt; echo $$ > pid.txt; sleep 300 & echo $! >> pid.txt; wait"}


def test_killed_during_a_command_then_continued(work: Path, tmp_path: Path) -> None:
    script = [
        [
            tools(
                ("Bash", {"command": "echo first >> runs.txt"}), ("Bash", RUNS), ("Bash", {"command": "echo never > x"})
            )
        ],
        [stream(content("I see that it was interrupted."), finish())],
    ]
    with RawServer(script) as server:
        env = command_env(tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{server.url}/v1", AGENYX_MODEL="m")
        process = start(work, env)
        until(lambda: (work / "pid.txt").exists() and len((work / "pid.txt").read_text().split()) == 2)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        pids = [int(pid) for pid in (work / "pid.txt").read_text().split()]
        until(lambda: not any(alive(pid) for pid in pids))

        again = agenyx("-c", "-p", "go on", cwd=work, env=env)
        assert (again.returncode, again.stdout) == (0, "I see that it was interrupted.\n"), again.stderr
        assert (work / "runs.txt").read_text().split() == ["first", "run"], "nothing ran twice"
        assert not (work / "x").exists()
        messages = server.requests[1].json["messages"]
        results = [message["content"] for message in messages if message["role"] == "tool"]
        assert len(results) == 3, "every call has its result"
        assert "stopped while this call ran" in results[1]
        assert "before this call ran" in results[2]
        assert [m["content"] for m in messages if m["role"] == "user"][-1] == "go on"


def test_an_unfinished_turn_is_continued_without_a_new_prompt(work: Path, tmp_path: Path) -> None:
    script = [[tools(("Bash", RUNS))], [stream(content("Done now."), finish())]]
    with RawServer(script) as server:
        env = command_env(tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{server.url}/v1", AGENYX_MODEL="m")
        process = start(work, env)
        until(lambda: (work / "pid.txt").exists())
        process.send_signal(signal.SIGKILL)
        process.communicate()
        again = agenyx("-c", "-p", "--dangerously-skip-permissions", cwd=work, env=env)
        assert (again.returncode, again.stdout) == (0, "Done now.\n"), again.stderr
        assert (work / "runs.txt").read_text().split() == ["run"]
        once_more = agenyx("-c", "-p", cwd=work, env=env)
        assert once_more.returncode == 2, "a finished turn needs a prompt"


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_signal_ends_the_tree_and_leaves_a_session_to_go_on_with(
    work: Path, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    script = [[tools(("Bash", RUNS))], [stream(content("Welcome back."), finish())]]
    with RawServer(script) as server:
        env = command_env(tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{server.url}/v1", AGENYX_MODEL="m")
        process = start(work, env)
        until(lambda: (work / "pid.txt").exists() and len((work / "pid.txt").read_text().split()) == 2)
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == code, errors
        pids = [int(pid) for pid in (work / "pid.txt").read_text().split()]
        until(lambda: not any(alive(pid) for pid in pids))
        again = agenyx("-c", "-p", "and?", cwd=work, env=env)
        assert (again.returncode, again.stdout) == (0, "Welcome back.\n"), again.stderr


def test_background_work_ends_with_the_run(work: Path, tmp_path: Path) -> None:
    command = {"command": "sleep 300 >/dev/null 2>&1 & echo $! > pid.txt"}
    with RawServer([[tools(("Bash", command))], [stream(content("Started."), finish())]]) as server:
        env = command_env(tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{server.url}/v1", AGENYX_MODEL="m")
        done = agenyx("-p", "--dangerously-skip-permissions", "start it", cwd=work, env=env)
        assert (done.returncode, done.stdout) == (0, "Started.\n")
        assert not alive(int((work / "pid.txt").read_text()))
        result = server.requests[1].json["messages"][-1]["content"]
        assert (work / "pid.txt").read_text().strip() in result, "the model is told what still runs"


def test_a_second_process_cannot_write_the_same_session(work: Path, tmp_path: Path) -> None:
    with RawServer([[tools(("Bash", RUNS))]]) as server:
        env = command_env(tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{server.url}/v1", AGENYX_MODEL="m")
        process = start(work, env)
        until(lambda: (work / "pid.txt").exists())
        second = agenyx("-c", "-p", "me too", cwd=work, env=env)
        assert second.returncode == 1
        assert f"in use by process {process.pid}" in second.stderr and "--fork-session" in second.stderr
        copy = agenyx("-c", "--fork-session", "-p", "--max-steps", "1", "me too", cwd=work, env=env)
        assert "in use" not in copy.stderr, "what is said to help does"
        os.kill(process.pid, signal.SIGTERM)
        process.communicate(timeout=30)


def test_nothing_raw_of_a_key_is_on_the_disk_when_it_is_killed_in_the_middle_of_an_output(
    work: Path, tmp_path: Path
) -> None:
    """Long enough an output is put aside as it comes: masked before it is written, also where lines break the key."""
    key = "sk-live-" + "0123456789abcdef" * 2
    coded = base64.b64encode(key.encode()).decode()
    (work / "dump.txt").write_text(f"row {key} and a wrapped one {coded[:20]}\n{coded[20:]} end\n" * 800)
    prints = {"command": "cat dump.txt; sleep 300", "timeout": 300_000}
    with RawServer([[tools(("Bash", prints))]]) as server:
        env = command_env(tmp_path, OPENAI_API_KEY=key, OPENAI_BASE_URL=f"{server.url}/v1", AGENYX_MODEL="m")
        process = start(work, env)
        home = tmp_path / ".agenyx"

        def put_aside() -> list[Path]:
            return [path for path in home.rglob("output/*.txt") if path.read_bytes().count(b"row ") > 700]

        until(lambda: bool(put_aside()))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    (kept,) = put_aside()
    assert kept.read_bytes().count(b"row [REDACTED] and a wrapped one [REDACTED]") > 700
    for path in (path for path in home.rglob("*") if path.is_file()):
        flat = path.read_bytes().replace(b"\n", b"")
        assert key.encode() not in flat and coded[:40].encode() not in flat, path

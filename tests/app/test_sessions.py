"""Going on with sessions from the command line, and leaving nothing behind where that was asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.mock import Mock, agenyx, command_env, mock_server


@pytest.fixture(scope="module")
def mock() -> Iterator[Mock]:
    with mock_server() as running:
        yield running


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def environment(mock: Mock, tmp_path: Path) -> dict[str, str]:
    return command_env(tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{mock.url}/v1", AGENYX_MODEL="m")


def said(mock: Mock) -> list[str]:
    return [m["content"] for m in json.loads(mock.bodies()[-1])["messages"] if m["role"] == "user"]


def test_resume_by_id_and_runs_that_leave_nothing(mock: Mock, work: Path, tmp_path: Path) -> None:
    env = environment(mock, tmp_path)
    mock.reset("hello", keep_bodies=True)
    first = json.loads(agenyx("-p", "--output-format", "json", "one", cwd=work, env=env).stdout)
    agenyx("-p", "another session", cwd=work, env=env)
    resumed = agenyx("-p", "--resume", first["session_id"], "two", cwd=work, env=env)
    assert resumed.returncode == 0, resumed.stderr
    assert said(mock)[1:] == ["one", "two"]

    before = sorted(path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts)
    gone = agenyx("-p", "--no-session-persistence", "secret plan", cwd=work, env=env)
    assert gone.returncode == 0
    assert sorted(path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts) == before


def test_a_session_works_from_any_directory_by_its_id(mock: Mock, work: Path, tmp_path: Path) -> None:
    env = environment(mock, tmp_path)
    mock.reset("hello", keep_bodies=True)
    first = json.loads(agenyx("-p", "--output-format", "json", "one", cwd=work, env=env).stdout)
    done = agenyx("-p", "--resume", first["session_id"], "two", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    assert f"goes on in its own directory, {work}" in done.stderr
    assert said(mock)[1:] == ["one", "two"]
    other = agenyx("-p", "--resume", first["session_id"], "--cwd", str(tmp_path), "two", cwd=work, env=env)
    assert other.returncode == 1
    assert f"belongs to {work}" in other.stderr
    assert f"--cwd {work}" in other.stderr


def test_there_is_nothing_to_go_on_with(mock: Mock, work: Path, tmp_path: Path) -> None:
    env = environment(mock, tmp_path)
    for flags in (("--continue",), ("--resume", "nonsense"), ("--resume", "../../etc")):
        done = agenyx("-p", *flags, "hello", cwd=work, env=env)
        assert done.returncode == 2
        assert "session" in done.stderr


def test_a_damaged_transcript_is_told_and_gone_on_with(mock: Mock, work: Path, tmp_path: Path) -> None:
    env = environment(mock, tmp_path)
    mock.reset("hello", keep_bodies=True)
    agenyx("-p", "one", cwd=work, env=env)
    (transcript,) = tmp_path.rglob("transcript.jsonl")
    lines = transcript.read_bytes().splitlines(keepends=True)
    transcript.write_bytes(b"".join([*lines[:3], b"\x00garbage\n", *lines[3:], b'{"v":1,"id":"torn']))
    done = agenyx("-p", "--continue", "two", cwd=work, env=env)
    assert (done.returncode, done.stdout) == (0, "BENCH-DONE\n"), done.stderr
    assert "damaged" in done.stderr
    assert said(mock)[1:] == ["one", "two"]


def test_another_model_on_resume_is_recorded(mock: Mock, work: Path, tmp_path: Path) -> None:
    env = environment(mock, tmp_path)
    mock.reset("hello", keep_bodies=True)
    agenyx("-p", "one", cwd=work, env=env)
    done = agenyx("-p", "-c", "--model", "other", "two", cwd=work, env=env)
    assert done.returncode == 0, done.stderr
    del env["AGENYX_MODEL"]
    again = agenyx("-p", "-c", "three", cwd=work, env=env)
    assert again.returncode == 0, again.stderr
    assert [json.loads(body)["model"] for body in mock.bodies()] == ["m", "other", "other"]


def test_any_line_may_be_lost_or_hurt_by_hand_and_the_session_goes_on(mock: Mock, work: Path, tmp_path: Path) -> None:
    """Each line of a session with a call in turn; what is lost is told, with its code, by what lists sessions too."""
    env = environment(mock, tmp_path)
    (work / "f.txt").write_text("text\n")
    mock.reset("tools-2", files=["f.txt", "f.txt"])
    agenyx("-p", "one", cwd=work, env=env)
    (transcript,) = tmp_path.rglob("transcript.jsonl")
    lines = transcript.read_bytes().splitlines(keepends=True)
    kinds = [json.loads(line)["body"]["kind"] for line in lines]
    assert {"opened", "binding", "prefix", "prompt", "response", "accepted", "result", "finished"} <= set(kinds)
    for number, line in enumerate(lines):
        hurt = (b"", b"\x00" * 20 + b"\n", line[:-9] + b"\n", line + line)[number % 4]
        transcript.write_bytes(before := b"".join([*lines[:number], hurt, *lines[number + 1 :]]))
        mock.reset("hello", keep_bodies=True)
        shown = json.loads(agenyx("sessions", "show", transcript.parent.name, "--json", cwd=work, env=env).stdout)
        last = number == len(lines) - 1
        assert shown["problems"] or (last and not hurt), f"a lost {kinds[number]} is told"
        done = agenyx("-p", "--continue", "two", cwd=work, env=env)
        assert (done.returncode, done.stdout) == (0, "BENCH-DONE\n"), (kinds[number], done.stderr)
        assert ("damaged" in done.stderr) == bool(shown["problems"])
        assert said(mock)[-1] == "two" and ("one" in said(mock) or kinds[number] == "prompt"), kinds[number]
        assert transcript.read_bytes().startswith(before), "nothing of it is written over"

"""The whole program against a scripted server over real HTTP: it completes, and each request extends the last."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from support.mock import Mock, agenyx, command_env, mock_server
from support.raw_server import RawServer, content, finish, stream


@pytest.fixture(scope="module")
def mock() -> Iterator[Mock]:
    with mock_server() as server:
        yield server


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    for n in range(24):
        (folder / f"f{n:02}.txt").write_text("".join(f"file {n} line {m}\n" for m in range(40)))
    return folder


def env(mock: Mock, tmp_path: Path) -> dict[str, str]:
    return command_env(tmp_path, OPENAI_API_KEY="sk-test-12345678", OPENAI_BASE_URL=f"{mock.url}/v1", AGENYX_MODEL="m")


def test_hello(mock: Mock, work: Path, tmp_path: Path) -> None:
    mock.reset("hello", keep_bodies=True)
    done = agenyx("-p", "Say hello.", cwd=work, env=env(mock, tmp_path))
    assert (done.returncode, done.stdout) == (0, "BENCH-DONE\n"), done.stderr
    (body,) = mock.bodies()
    assert len(body) < 16_000, "the first request stays small"


def test_the_key_of_another_provider_is_masked_in_an_answer_too(work: Path, tmp_path: Path) -> None:
    other = "sk-deepseek-0123456789abcdef"
    with RawServer([[stream(content(f"found {other[:9]}"), content(f"{other[9:]}!"), finish())]]) as server:
        variables = {"OPENAI_BASE_URL": f"{server.url}/v1", "AGENYX_MODEL": "m", "DEEPSEEK_API_KEY": other}
        done = agenyx("-p", "hi", cwd=work, env=command_env(tmp_path, OPENAI_API_KEY="k" * 20, **variables))
    assert (done.returncode, done.stdout) == (0, "found [REDACTED]!\n"), done.stderr
    (transcript,) = tmp_path.rglob("transcript.jsonl")
    assert other not in transcript.read_text("utf-8")


def test_twenty_tool_calls_complete(mock: Mock, work: Path, tmp_path: Path) -> None:
    mock.reset("tools-20", files=[f"f{n:02}.txt" for n in range(20)])
    done = agenyx("-p", "--output-format", "json", "Read them all.", cwd=work, env=env(mock, tmp_path))
    result = json.loads(done.stdout)
    assert (done.returncode, result["subtype"], result["num_turns"]) == (0, "success", 21), done.stderr
    assert len(mock.log()) == 21


def test_each_request_is_a_byte_prefix_of_the_next_over_fifty_steps(mock: Mock, work: Path, tmp_path: Path) -> None:
    mock.reset("tools-50", files=[f"f{n:02}.txt" for n in range(24)], keep_bodies=True)
    done = agenyx("-p", "Read them all.", cwd=work, env=env(mock, tmp_path))
    assert done.returncode == 0, done.stderr
    bodies = mock.bodies()
    mock.reset("hello", keep_bodies=True)
    # Another process goes on with the session: the stored head is replayed, whatever it would build today.
    again = agenyx("-c", "-p", "And now?", cwd=work, env=env(mock, tmp_path))
    assert again.returncode == 0, again.stderr
    bodies += mock.bodies()
    assert len(bodies) == 52
    for number, (body, following) in enumerate(pairwise(bodies)):
        assert body.endswith(b"]}")
        assert following.startswith(body[:-2]), f"request {number} is not a prefix of the next"
        assert following[len(body) - 2 :].startswith(b",{"), "only entries were added"
    head = json.loads(bodies[0])
    assert [*head][:: len(head) - 1] == ["model", "messages"]

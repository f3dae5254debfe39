"""Hard budgets of a run, as a program sees them: exit code 6, an honest message, the cost in the record."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.mock import Mock, agenyx, command_env, mock_server
from support.raw_server import RawServer, call, content, finish, stream, usage

PRICED = (
    '{"hosts": {"127.0.0.1": {"models": {"m": {"price": {"in": 1000, "cached": 1000, "write": 1000, "out": 1000}}}}}}'
)


@pytest.fixture(scope="module")
def mock() -> Iterator[Mock]:
    with mock_server() as running:
        yield running


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "f.txt").write_text("text", "utf-8")
    (tmp_path / ".agenyx").mkdir(0o700)
    return folder


def run(work: Path, mock: Mock, *argv: str) -> subprocess.CompletedProcess[str]:
    env = command_env(work.parent, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{mock.url}/v1", AGENYX_MODEL="m")
    done = agenyx("-p", *argv, "go", cwd=work, env=env)
    assert "Traceback" not in done.stderr
    return done


def priced(work: Path) -> None:
    (work.parent / ".agenyx" / "catalogue.json").write_text(PRICED, "utf-8")


def test_a_token_budget_ends_the_run_before_the_next_request(work: Path, mock: Mock) -> None:
    mock.reset("tools-9", files=["f.txt"])
    done = run(work, mock, "--max-tokens", "1")
    assert done.returncode == 6, done.stderr
    assert "token budget" in done.stderr and "--continue" in done.stderr
    assert len(mock.log()) == 1


def test_a_budget_reached_by_a_batch_of_calls_starts_none_of_them(work: Path) -> None:
    made = [call("Bash", json.dumps({"command": f"touch {n}"}), f"call_{n}", n) for n in range(3)]
    made += [call("Read", json.dumps({"file_path": "f.txt"}), f"call_{n}", n) for n in range(3, 6)]
    script: list[list[Any]] = [
        [stream(*made, finish("tool_calls"), usage(90, 20))],
        [stream(content("I see."), finish(), usage(9, 9))],
    ]
    with RawServer(script) as server:
        env = command_env(work.parent, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{server.url}/v1", AGENYX_MODEL="m")
        flags = ("--dangerously-skip-permissions", "--max-tokens", "100")
        done = agenyx("-p", *flags, "go", cwd=work, env=env)
        assert done.returncode == 6 and "110 of 100 tokens" in done.stderr
        assert [path.name for path in work.iterdir()] == ["f.txt"]
        again = agenyx("-p", "--continue", "go on", cwd=work, env=env)
        assert (again.returncode, again.stdout) == (0, "I see.\n"), again.stderr
        told = [m["content"] for m in server.requests[1].json["messages"] if m["role"] == "tool"]
        assert told == ["The budget was reached, so this call was not started."] * 6


def test_a_budget_in_dollars(work: Path, mock: Mock) -> None:
    priced(work)
    mock.reset("tools-9", files=["f.txt"])
    done = run(work, mock, "--max-budget-usd", "0.000001", "--output-format", "json")
    assert done.returncode == 6, done.stderr
    record = json.loads(done.stdout)
    assert (record["subtype"], record["is_error"]) == ("error_max_budget_usd", True)
    assert record["total_cost_usd"] > 0
    assert len(mock.log()) == 1


def test_a_budget_that_is_large_enough_changes_nothing_and_the_cost_is_told(work: Path, mock: Mock) -> None:
    priced(work)
    mock.reset("tools-3", files=["f.txt"])
    flags = ["--max-budget-usd", "1000", "--max-tokens", "10000000", "--output-format", "json"]
    done = run(work, mock, *flags)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["total_cost_usd"] == pytest.approx(record["usage"]["total_tokens"] / 1000)


def test_without_a_known_price_a_budget_in_dollars_is_a_usage_error(work: Path, mock: Mock) -> None:
    mock.reset("hello")
    done = run(work, mock, "--max-budget-usd", "5")
    assert (done.returncode, done.stdout) == (2, "")
    assert "price of m is not known" in done.stderr and "--max-tokens" in done.stderr
    assert mock.log() == []
    free = run(work, mock, "--output-format", "json")
    assert json.loads(free.stdout)["total_cost_usd"] is None, "an unknown price is not 0"

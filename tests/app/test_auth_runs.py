"""A run over each kind of profile of auth.json, to a real server: the right address, header, model and effort."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.mock import Mock, agenyx, command_env, mock_server

KEY = "sk-secret-0123456789"


@pytest.fixture(scope="module")
def mock() -> Iterator[Mock]:
    with mock_server() as running:
        yield running


def auth(home: Path, *entries: dict[str, Any]) -> None:
    (home / ".agenyx").mkdir(0o700, exist_ok=True)
    path = home / ".agenyx" / "auth.json"
    path.write_text(json.dumps({"version": 2, "providers": entries}), "utf-8")
    path.chmod(0o600)


def run(home: Path, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    done = agenyx("-p", *argv, "hello", cwd=home, env=command_env(home, **env))
    assert KEY not in done.stdout + done.stderr and "Traceback" not in done.stderr
    return done


def entry(kind: str, url: str) -> dict[str, Any]:
    if kind == "azure_openai":
        member = {"endpoint": url, "model": "logical", "deployment": "dep", "api_key": KEY, "api_version": ""}
        efforts = {"reasoning": {"efforts": ["low", "high"], "default_effort": "low"}}
        return {"id": "p", "type": kind, kind: member, "capabilities": efforts}
    if kind == "responses":
        member = {"base_url": f"{url}/v1", "api_key": KEY, "model": "m", "wire": "responses"}
        return {"id": "p", "type": "openai_compatible", "openai_compatible": member}
    if kind == "anthropic":
        return {"id": "p", "type": kind, kind: {"base_url": url, "api_key": KEY, "model": "m"}}
    return {"id": "p", "type": kind, kind: {"base_url": f"{url}/v1", "api_key": KEY, "model": "m"}}


@pytest.mark.parametrize(
    ("kind", "path", "model"),
    [
        ("openai_compatible", "/v1/chat/completions", "m"),
        ("responses", "/v1/responses", "m"),
        ("azure_openai", "/openai/v1/responses", "dep"),
        ("anthropic", "/v1/messages", "m"),
    ],
)
def test_each_kind_runs(kind: str, path: str, model: str, tmp_path: Path, mock: Mock) -> None:
    auth(tmp_path, entry(kind, mock.url))
    mock.reset("hello", keep_bodies=True)
    done = run(tmp_path, OPENAI_API_KEY="another-0123456789", OPENAI_BASE_URL="http://127.0.0.1:9/v1")
    assert (done.returncode, done.stdout) == (0, "BENCH-DONE\n"), done.stderr
    assert [request["path"].partition("?")[0] for request in mock.log()] == [path]
    assert json.loads(mock.bodies()[0])["model"] == model


def test_an_effort_of_the_profile_and_one_outside_it(tmp_path: Path, mock: Mock) -> None:
    auth(tmp_path, entry("azure_openai", mock.url))
    mock.reset("hello", keep_bodies=True)
    assert run(tmp_path, "--effort", "high").returncode == 0
    assert json.loads(mock.bodies()[0])["reasoning"]["effort"] == "high"
    refused = run(tmp_path, AGENYX_REASONING_EFFORT="max")
    assert (refused.returncode, len(mock.log())) == (2, 1)
    assert "low, high" in refused.stderr


def test_a_failure_never_falls_back_to_another_profile(tmp_path: Path, mock: Mock) -> None:
    broken = entry("openai_compatible", "http://127.0.0.1:9") | {"id": "first", "default": True}
    auth(tmp_path, broken, entry("openai_compatible", mock.url))
    mock.reset("hello")
    done = run(tmp_path)
    assert done.returncode == 1 and "127.0.0.1:9" in done.stderr
    assert mock.log() == []
    assert run(tmp_path, "--provider", "p").returncode == 0


def test_a_new_key_keeps_the_session(tmp_path: Path, mock: Mock) -> None:
    profile = entry("openai_compatible", mock.url)
    auth(tmp_path, profile)
    mock.reset("hello")
    assert run(tmp_path).returncode == 0
    profile["openai_compatible"]["api_key"] = "rotated-0123456789"
    auth(tmp_path, profile)
    done = run(tmp_path, "--continue")
    assert (done.returncode, done.stderr) == (0, ""), "no break of the prefix, no word about another model"


def test_a_file_that_others_can_read_stops_everything(tmp_path: Path, mock: Mock) -> None:
    auth(tmp_path, entry("openai_compatible", mock.url))
    (tmp_path / ".agenyx" / "auth.json").chmod(0o644)
    mock.reset("hello")
    done = run(tmp_path, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"{mock.url}/v1")
    assert (done.returncode, mock.log()) == (1, [])
    assert "mode 0644" in done.stderr and "chmod 600" in done.stderr

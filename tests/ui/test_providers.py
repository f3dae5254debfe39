"""`--list-providers` as a host program uses it: everything or nothing on standard output, and never a secret."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.mock import agenyx, command_env

KEY = "sk-secret-0123456789"
AZURE = {
    "id": "work",
    "type": "azure_openai",
    "default": True,
    "capabilities": {"reasoning": {"efforts": ["low", "high"], "default_effort": "high"}},
    "azure_openai": {
        "endpoint": "https://hidden-endpoint.example",
        "model": "gpt-5.6-sol",
        "deployment": "hidden-deployment",
        "api_key": KEY,
        "api_version": "hidden-version",
    },
}
CLAUDE = {"id": "claude", "type": "anthropic", "anthropic": {"api_key": KEY + "2"}}
BOX = {"id": "box", "type": "openai_compatible", "openai_compatible": {"base_url": "https://box.example/v1"}}


def auth(home: Path, *entries: Any, text: str = "") -> None:
    (home / ".agenyx").mkdir(0o700)
    path = home / ".agenyx" / "auth.json"
    path.write_text(text or json.dumps({"version": 2, "providers": entries}))
    path.chmod(0o600)


def run(home: Path, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    done = agenyx(*argv, cwd=home, env=command_env(home, **env))
    assert KEY not in done.stdout + done.stderr and "Traceback" not in done.stderr
    return done


def test_the_table(tmp_path: Path) -> None:
    auth(tmp_path, AZURE, CLAUDE, BOX)
    done = run(tmp_path, "--list-providers")
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.split("\t") for line in done.stdout.splitlines()] == [
        ["ID", "TYPE", "MODEL", "DEFAULT", "REASONING_EFFORTS", "DEFAULT_EFFORT"],
        ["work", "azure_openai", "gpt-5.6-sol", "true", "low,high", "high"],
        ["claude", "anthropic", "claude-sonnet-5-5", "false", "", ""],
        ["box", "openai_compatible", "", "false", "", ""],
    ]
    assert "hidden" not in done.stdout and not (tmp_path / ".agenyx" / "sessions").exists()


@pytest.mark.parametrize(
    "argv",
    [
        ["--list-providers", "--output-format", "json"],
        ["--output-format=json", "--list-providers"],
        ["--list-providers", "--output-format=json", "--"],
    ],
)
def test_json(argv: list[str], tmp_path: Path) -> None:
    auth(tmp_path, AZURE, BOX)
    done = run(tmp_path, *argv)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1 and "hidden" not in done.stdout
    value = json.loads(done.stdout)
    assert value["version"] == 1
    assert value["providers"] == [
        {
            "value": "work",
            "id": "work",
            "providerType": "azure_openai",
            "model": "gpt-5.6-sol",
            "displayName": "work (gpt-5.6-sol)",
            "description": "Azure OpenAI",
            "default": True,
            "selected": False,
            "supportsEffort": True,
            "supportedReasoningEfforts": ["low", "high"],
            "defaultReasoningEffort": "high",
            "reasoning": {"supported": True, "efforts": ["low", "high"], "defaultEffort": "high"},
        },
        {
            "value": "box",
            "id": "box",
            "providerType": "openai_compatible",
            "model": "",
            "displayName": "box",
            "description": "An OpenAI-compatible server",
            "default": False,
            "selected": False,
            "supportsEffort": False,
            "supportedReasoningEfforts": [],
            "defaultReasoningEffort": None,
            "reasoning": {"supported": False, "efforts": [], "defaultEffort": None},
        },
    ]


@pytest.mark.parametrize(
    "argv",
    [
        ["--list-providers", "prompt"],
        ["--list-providers", "-p"],
        ["--list-providers", "--provider", "work"],
        ["--list-providers", "--list-providers"],
        ["--list-providers", "--output-format", "text", "--output-format", "json"],
        ["--list-providers", "--output-format", "xml"],
        ["--list-providers", "--output-format"],
        ["--list-providers", "--", "x"],
        ["--list-providers=yes"],
        ["-c", "--list-providers", "--output-format", "json"],
    ],
)
def test_the_grammar_is_closed(argv: list[str], tmp_path: Path) -> None:
    auth(tmp_path, AZURE)
    done = run(tmp_path, *argv)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


@pytest.mark.parametrize("text", ["{", '{"version": 1}'])
@pytest.mark.parametrize("form", ["text", "json"])
def test_standard_output_stays_empty_on_failure(text: str, form: str, tmp_path: Path) -> None:
    auth(tmp_path, text=text)
    done = run(tmp_path, "--list-providers", "--output-format", form, OPENAI_API_KEY=KEY + "3")
    assert (done.returncode, done.stdout) == (1, "")
    assert "auth.json is invalid" in done.stderr and '"version": 2' in done.stderr


def test_a_broken_sibling_lists_nothing(tmp_path: Path) -> None:
    auth(tmp_path, AZURE, CLAUDE | {"type": "openai"})
    done = run(tmp_path, "--list-providers")
    assert (done.returncode, done.stdout) == (1, "")
    assert "providers[1]" in done.stderr


def test_several_without_a_default_are_listed_all_the_same(tmp_path: Path) -> None:
    auth(tmp_path, CLAUDE, BOX)
    assert [line.split("\t")[3] for line in run(tmp_path, "--list-providers").stdout.splitlines()] == [
        "DEFAULT",
        "false",
        "false",
    ]


def test_the_environment(tmp_path: Path) -> None:
    done = run(tmp_path, "--list-providers", OPENROUTER_API_KEY=KEY, OPENAI_API_KEY=KEY)
    rows = [line.split("\t")[:4] for line in done.stdout.splitlines()[1:]]
    assert rows == [
        ["openai", "openai", "gpt-5.6-sol", "true"],
        ["openrouter", "openai_compatible", "", "false"],
    ]


def test_nothing_configured(tmp_path: Path) -> None:
    done = run(tmp_path, "--list-providers")
    assert (done.returncode, done.stdout) == (1, "")
    assert "agenyx login" in done.stderr
    assert not (tmp_path / ".agenyx").exists()

"""`agenyx config`, and what settings.toml does to a run."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from agenyx.ui.defaults import apply
from agenyx.ui.flags import Options
from agenyx.ui.parse import parse
from support.mock import agenyx, command_env, mock_server

KEY = "sk-secret-0123456789"


def run(home: Path, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    done = agenyx(*argv, cwd=home, env=command_env(home, **env))
    assert "Traceback" not in done.stderr
    return done


def write(path: Path, text: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o600)


def test_set_get_explain_unset(tmp_path: Path) -> None:
    path = tmp_path / ".agenyx" / "settings.toml"
    assert run(tmp_path, "config", "get", "model").returncode == 1
    assert run(tmp_path, "config", "set", "model", "m-1").stdout == f"{path}: model = m-1\n"
    assert path.read_text() == 'model = "m-1"\n'
    assert run(tmp_path, "config", "get", "model").stdout == "m-1\n"
    explained = run(tmp_path, "config", "explain", "model").stdout
    assert f"> home         {path}:1 = m-1" in explained
    by_variable = run(tmp_path, "config", "explain", "model", AGENYX_MODEL="v").stdout
    assert "> environment  AGENYX_MODEL = v" in by_variable
    assert run(tmp_path, "config", "unset", "model").returncode == 0
    assert path.read_text() == ""
    assert "> default" in run(tmp_path, "config", "explain", "model").stdout


def test_for_programs(tmp_path: Path) -> None:
    write(tmp_path / ".agenyx" / "settings.toml", "effort = 'low'\n")
    listed = json.loads(run(tmp_path, "config", "list", "--json").stdout)
    assert {row["key"]: row["value"] for row in listed}["effort"] == "low"
    explained = json.loads(run(tmp_path, "config", "explain", "effort", "--json").stdout)
    assert explained["value"] == "low"
    assert [place["source"] for place in explained["places"] if place["in_effect"]] == ["home"]


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["set", "modle", "x"], "Did you mean model?"),
        (["set", "max_steps", "many"], "max_steps must be a whole number"),
        (["set", "permission_mode", "bypassPermissions"], "must be one of: default, acceptEdits, plan, dontAsk"),
        (["set", "model"], "does not understand"),
        (["get", "nothing"], "unknown key"),
        (["explain", "nothing"], "unknown key"),
        ([], "needs a command"),
        (["frobnicate"], "does not understand"),
        (["list", "--yaml"], "no flag --yaml"),
    ],
)
def test_mistakes(argv: list[str], words: str, tmp_path: Path) -> None:
    done = run(tmp_path, "config", *argv)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert not (tmp_path / ".agenyx").exists()


def test_help_names_every_key(tmp_path: Path) -> None:
    text = run(tmp_path, "config", "--help").stdout
    for key in ("model", "effort", "permission_mode", "max_steps", "output_format", "provider"):
        assert key in text


def options(home: Path, *argv: str, **env: str) -> Options:
    parsed = parse(argv)
    apply(parsed, env, str(home / ".agenyx"))
    return parsed


FILE = "provider = 'p'\nmodel = 'm'\neffort = 'low'\npermission_mode = 'plan'\nmax_steps = 7\noutput_format = 'json'\n"


def test_a_file_fills_in_what_was_left_open(tmp_path: Path) -> None:
    write(tmp_path / ".agenyx" / "settings.toml", FILE)
    got = options(tmp_path, "hi")
    assert (got.provider, got.model, got.effort, got.mode, got.steps, got.output_format) == (
        "p",
        "m",
        "low",
        "plan",
        7,
        "json",
    )


@pytest.mark.parametrize(
    ("argv", "env", "field", "value"),
    [
        (["--model", "x"], {}, "model", "x"),
        ([], {"AGENYX_MODEL": "v"}, "model", ""),
        ([], {"AGENYX_REASONING_EFFORT": "max"}, "effort", ""),
        (["--provider", "other"], {}, "model", ""),
        (["--base-url", "http://localhost/v1"], {}, "provider", ""),
        (["--output-format", "text"], {}, "output_format", "text"),
        (["--dangerously-skip-permissions"], {}, "mode", "bypassPermissions"),
        (["--permission-mode", "acceptEdits"], {}, "mode", "acceptEdits"),
        (["--max-steps", "3"], {}, "steps", 3),
    ],
)
def test_flags_and_variables_win(
    argv: list[str], env: dict[str, str], field: str, value: object, tmp_path: Path
) -> None:
    write(tmp_path / ".agenyx" / "settings.toml", FILE)
    assert getattr(options(tmp_path, *argv, "hi", **env), field) == value


def test_what_the_file_filled_in_yields_to_a_workspace(tmp_path: Path) -> None:
    write(tmp_path / ".agenyx" / "settings.toml", "model = 'home'\neffort = 'low'")
    assert options(tmp_path, "--effort", "high", "hi").yielding == ("model",)


def test_a_workspace_counts_with_trust_alone(tmp_path: Path) -> None:
    write(tmp_path / ".agenyx" / "settings.toml", "model = 'home'")
    work = tmp_path / "work"
    work.mkdir()
    write(work / ".agenyx" / "settings.toml", "model = 'work'")
    env = command_env(tmp_path)

    def model(*argv: str) -> str:
        return agenyx("config", "get", "model", *argv, cwd=work, env=env).stdout.strip()

    assert model() == "home"
    assert model("--trust-workspace") == "work"
    assert agenyx("trust", "add", "--yes", cwd=work, env=env).returncode == 0
    assert model() == "work"
    write(work / ".agenyx" / "settings.toml", "model = 'other'")
    assert model() == "home", "trust is in the content"


def test_the_home_is_not_read_as_a_workspace(tmp_path: Path) -> None:
    write(tmp_path / ".agenyx" / "settings.toml", "permission_mode = 'plan'")
    done = run(tmp_path, "config", "get", "permission_mode", "--trust-workspace")
    assert (done.returncode, done.stdout) == (0, "plan\n")


def test_a_run_obeys_the_file(tmp_path: Path) -> None:
    write(tmp_path / ".agenyx" / "settings.toml", "model = 'from-file'\neffort = 'high'\noutput_format = 'json'\n")
    with mock_server() as mock:
        mock.reset("hello", keep_bodies=True)
        done = run(tmp_path, "-p", "hi", OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"{mock.url}/v1")
        body = json.loads(mock.bodies()[-1])
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["result"] == "BENCH-DONE"
    assert (body["model"], body["reasoning_effort"]) == ("from-file", "high")


def test_a_wrong_file_stops_the_run_with_its_line(tmp_path: Path) -> None:
    write(tmp_path / ".agenyx" / "settings.toml", "# mine\npermision_mode = 'plan'\n")
    done = run(tmp_path, "-p", "hi", OPENAI_API_KEY=KEY)
    assert (done.returncode, done.stdout) == (1, "")
    assert "settings.toml:2: unknown key 'permision_mode'" in done.stderr
    assert "Did you mean permission_mode?" in done.stderr

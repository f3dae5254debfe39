"""`agenyx doctor` as a person uses it: with a good model, a bad key, a bad file, and with nothing at all."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.mock import agenyx, command_env
from support.ollama import ollama
from support.raw_server import RawServer, plain

KEY = "sk-secret-0123456789"
CALL = {
    "id": "c1",
    "type": "function",
    "index": 0,
    "function": {"name": "Lookup", "arguments": '{"word": "periwinkle"}'},
}


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"id": "r", "model": "m", "choices": [choice]}).encode() + b"\n\n"


def reply(*chunks: bytes) -> list[Any]:
    return [plain(200, b"".join(chunks) + b"data: [DONE]\n\n", kind="text/event-stream")]


CALLS = reply(
    chunk({"content": "I "}), chunk({"content": "look."}), chunk({"tool_calls": [CALL]}), chunk({}, "tool_calls")
)
ANSWERS = reply(chunk({"content": "A small plant."}), chunk({}, "stop"))
CHATS = reply(chunk({"content": "I have no tools."}), chunk({}, "stop"))


def run(home: Path, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    done = agenyx("doctor", *argv, cwd=home, env=command_env(home, OLLAMA_HOST="elsewhere.example", **env))
    assert KEY not in done.stdout + done.stderr and "Traceback" not in done.stderr
    return done


def checks(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, str]]:
    value = json.loads(done.stdout)
    assert value["ok"] is (done.returncode == 0)
    return {check["name"]: check for check in value["checks"]}


def test_a_good_model(tmp_path: Path) -> None:
    with RawServer([CALLS, ANSWERS]) as server:
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{server.url}/v1", "AGENYX_MODEL": "m"}
        done = run(tmp_path, **env, ANTHROPIC_API_KEY=KEY)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "because OPENAI_API_KEY is set; not used: ANTHROPIC_API_KEY" in done.stdout
    assert "call parsed, result taken up, streamed in 2 pieces" in done.stdout
    assert (
        "sandbox" in done.stdout
        and "bash" in done.stdout
        and "1 masked in all output" in done.stdout
        and "rg" in done.stdout
    )
    assert "0 failed" in done.stdout
    assert len(server.requests) == 2
    assert server.requests[1].json["messages"][-1]["role"] == "tool"
    assert not (tmp_path / ".agenyx" / "sessions").exists()


def test_nothing_configured_works_and_says_what_to_do(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    assert "fail  provider" in done.stdout
    for word in ("agenyx login", "OPENAI_API_KEY", "Ollama", "agenyx local install"):
        assert word in done.stdout
    assert "will be made" in done.stdout and not (tmp_path / ".agenyx").exists()


def test_offline_asks_nobody(tmp_path: Path) -> None:
    with RawServer([CHATS]) as server:
        done = run(tmp_path, "--offline", "--json", OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"{server.url}/v1")
        assert server.connections == 0
    assert done.returncode == 0
    assert checks(done)["model"]["state"] == "ok" and "round trip" not in checks(done)


def test_a_wrong_key(tmp_path: Path) -> None:
    refused = [plain(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})]
    with RawServer([refused]) as server:
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{server.url}/v1", "AGENYX_MODEL": "m"}
        found = checks(run(tmp_path, "--json", **env))
    assert found["round trip"]["state"] == "fail"
    assert "401" in found["round trip"]["text"] and "OPENAI_API_KEY" in found["round trip"]["fix"]


def test_a_model_without_tools_fails(tmp_path: Path) -> None:
    with RawServer([CHATS]) as server:
        env = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{server.url}/v1", "AGENYX_MODEL": "m"}
        done = run(tmp_path, "--json", **env)
    assert done.returncode == 1
    assert "did not call the tool" in checks(done)["round trip"]["text"]


@pytest.mark.parametrize(
    ("providers", "argv", "words"),
    [
        (["a"], [], "a (openai_compatible) from auth.json: the only profile"),
        (["a", "b*"], [], "b (openai_compatible) from auth.json: the default, of 2"),
        (["a", "b*"], ["--provider", "a"], "a (openai_compatible) from auth.json: asked for by name, of 2"),
        (["a", "b"], [], "there are 2 providers and none is the default: a, b"),
        ([], [], "auth.json is invalid: providers must be 1 to 32"),
    ],
)
def test_which_profile_wins_and_why(providers: list[str], argv: list[str], words: str, tmp_path: Path) -> None:
    (tmp_path / ".agenyx").mkdir(0o700)
    path = tmp_path / ".agenyx" / "auth.json"
    entries = [
        {
            "id": name.strip("*"),
            "type": "openai_compatible",
            "default": "*" in name,
            "openai_compatible": {"base_url": "http://127.0.0.1:9/v1"},
        }
        for name in providers
    ]
    path.write_text(json.dumps({"version": 2, "providers": entries}), "utf-8")
    path.chmod(0o600)
    done = run(tmp_path, "--offline", *argv, OPENAI_API_KEY=KEY)
    assert words in done.stdout
    assert done.returncode == (0 if "from auth.json" in words else 1)


def test_it_looks_at_what_a_run_would_use(tmp_path: Path) -> None:
    (tmp_path / ".agenyx").mkdir(0o700)
    path = tmp_path / ".agenyx" / "settings.toml"
    path.write_text("provider = 'groq'\nmodel = 'from-file'\n", "utf-8")
    done = run(tmp_path, "--offline", OPENAI_API_KEY=KEY, GROQ_API_KEY=KEY)
    assert "groq (openai_compatible) asked for by name (GROQ_API_KEY)" in done.stdout
    assert "from-file (offline" in done.stdout
    flagged = run(tmp_path, "--offline", "--provider", "openai", OPENAI_API_KEY=KEY, GROQ_API_KEY=KEY)
    assert "openai (openai) asked for by name" in flagged.stdout and "from-file" not in flagged.stdout


def test_trouble_around_it(tmp_path: Path) -> None:
    home = tmp_path / ".agenyx"
    home.mkdir(0o755)
    home.chmod(0o755)
    (home / "settings.toml").write_text("modle = 'x'\n", "utf-8")
    env = {
        "OPENAI_API_KEY": KEY,
        "HTTPS_PROXY": "socks5://user:proxy-secret@proxy.example:1080",
        "SSL_CERT_FILE": "/nonexistent",
    }
    done = run(tmp_path, "--offline", "--json", **env)
    found = checks(done)
    assert found["home"]["state"] == "warn" and "chmod 700" in found["home"]["fix"]
    assert found["settings"]["state"] == "fail" and "settings.toml:1" in found["settings"]["text"]
    assert found["proxy"]["state"] == "fail" and "proxy-secret" not in done.stdout
    assert found["certificates"]["state"] == "fail" and "SSL_CERT_FILE" in found["certificates"]["fix"]


def test_missing_programs(tmp_path: Path) -> None:
    env = command_env(tmp_path, OPENAI_API_KEY=KEY) | {"PATH": "/nonexistent"}
    done = subprocess.run(
        [sys.executable, "-m", "agenyx", "doctor", "--offline", "--json"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    found = checks(done)
    assert found["shell"]["state"] == "ok", "the usual place is looked at first"
    assert found["git"]["state"] == "warn"
    assert found["rg"]["state"] == found["shfmt"]["state"] == "ok", "ours lie beside the interpreter"


@pytest.mark.parametrize("home", ["relative", "/"])
def test_a_home_that_is_none(home: str, tmp_path: Path) -> None:
    done = run(tmp_path, "--offline", AGENYX_HOME=home)
    assert done.returncode == 1 and "fail  home" in done.stdout


def test_a_home_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    found = checks(run(tmp_path, "--offline", "--json", AGENYX_HOME=str(tmp_path / "file" / "home")))
    assert found["home"]["state"] == "fail"


def test_mistakes(tmp_path: Path) -> None:
    assert run(tmp_path, "--of").returncode == 2
    assert run(tmp_path, "word").returncode == 2
    assert "--offline" in run(tmp_path, "--help").stdout


def test_a_key_that_is_too_short_to_be_masked_is_named_without_showing_it(tmp_path: Path) -> None:
    found = checks(run(tmp_path, "--offline", "--json", OPENAI_API_KEY="zq7!", OPENAI_BASE_URL="http://127.0.0.1:9/v1"))
    assert found["keys"]["state"] == "warn" and "OPENAI_API_KEY" in found["keys"]["text"]
    assert "zq7!" not in json.dumps(found)


def test_a_folder_above_the_home_that_others_may_write(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    home = tmp_path / "shared" / "home"
    home.mkdir(0o700)
    (tmp_path / "shared").chmod(0o777)
    found = checks(run(tmp_path, "--offline", "--json", OPENAI_API_KEY=KEY, AGENYX_HOME=str(home)))
    assert found["home"]["state"] == "warn" and f"chmod go-w {tmp_path / 'shared'}" in found["home"]["fix"]
    (tmp_path / "shared").chmod(0o1777)
    found = checks(run(tmp_path, "--offline", "--json", OPENAI_API_KEY=KEY, AGENYX_HOME=str(home)))
    assert found["home"]["state"] == "ok"


def test_the_window_of_ollama(tmp_path: Path) -> None:
    with ollama() as server:
        env = command_env(tmp_path, OLLAMA_HOST=server.url)
        found = checks(agenyx("doctor", "--json", cwd=tmp_path, env=env))
    assert found["window"]["state"] == "warn" and "a window of 4,096 tokens" in found["window"]["text"]
    assert "OLLAMA_CONTEXT_LENGTH" in found["window"]["fix"]

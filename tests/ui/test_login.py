"""`agenyx login` and `logout` as a person uses them: hidden input, one try, a private file, nothing lost."""

from __future__ import annotations

import json
import os
import pty
import select
import stat
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Any

import pytest

from support.mock import command_env
from support.pty_rest import rest
from support.raw_server import RawServer, plain

KEY = "sk-secret-0123456789"
LISTED = plain(200, {"data": [{"id": "one"}, {"id": "two"}]})
REFUSED = plain(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}})


def run(home: Path, *argv: str, key: str | None = None, code: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "agenyx", *argv],
        cwd=home,
        env=command_env(home, **env),
        input=key or "",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        start_new_session=True,
    )
    assert done.returncode == code, done.stderr
    assert KEY not in done.stdout + done.stderr and "Traceback" not in done.stderr
    return done


def stored(home: Path) -> list[dict[str, Any]]:
    return json.loads((home / ".agenyx" / "auth.json").read_text())["providers"]


def test_a_key_is_tried_and_stored_privately(tmp_path: Path) -> None:
    with RawServer([[LISTED]]) as server:
        done = run(tmp_path, "login", "box", "--base-url", f"{server.url}/v1", "--stdin", key=f"{KEY}\n")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert "lists 2 models" in done.stdout and "box was added" in done.stdout
    path = tmp_path / ".agenyx" / "auth.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stored(tmp_path) == [
        {
            "id": "box",
            "type": "openai_compatible",
            "openai_compatible": {"base_url": f"{server.url}/v1", "api_key": KEY},
        }
    ]


def test_a_refused_key_is_not_stored(tmp_path: Path) -> None:
    with RawServer([[REFUSED]]) as server:
        done = run(tmp_path, "login", "box", "--base-url", server.url, "--stdin", key=KEY, code=1)
    assert "401" in done.stderr and "auth.json (box)" in done.stderr
    assert not (tmp_path / ".agenyx" / "auth.json").exists()


def test_a_server_without_a_list_is_tried_with_a_word(tmp_path: Path) -> None:
    answer = b'data: {"id":"r","model":"m","choices":[{"index":0,"delta":{"content":"ready"},"finish_reason":"stop"}]}'
    reply = plain(200, answer + b"\n\ndata: [DONE]\n\n", kind="text/event-stream")
    with RawServer([[plain(404, b"")], [reply]]) as server:
        done = run(tmp_path, "login", "box", "--base-url", server.url, "--model", "m", "--stdin", key=KEY)
    assert "m answered" in done.stdout
    assert [request.line.split()[0] for request in server.requests] == ["GET", "POST"]


def test_a_model_that_is_not_listed_is_said(tmp_path: Path) -> None:
    with RawServer([[LISTED]]) as server:
        done = run(tmp_path, "login", "box", "--base-url", server.url, "--model", "three", "--stdin", key=KEY)
    assert "does not list the model three" in done.stdout


def test_a_second_profile_leaves_the_first_the_default(tmp_path: Path) -> None:
    run(tmp_path, "login", "--stdin", "--no-test", key=f"{KEY}-1")
    run(tmp_path, "login", "anthropic", "--model", "claude-opus-5-5", "--stdin", "--no-test", key=f"{KEY}-2")
    run(tmp_path, "login", "deepseek", "--stdin", "--no-test", "--default", key=f"{KEY}-3")
    assert [(entry["id"], entry.get("default")) for entry in stored(tmp_path)] == [
        ("openai", None),
        ("anthropic", None),
        ("deepseek", True),
    ]
    assert stored(tmp_path)[2]["openai_compatible"]["base_url"] == "https://api.deepseek.com"
    done = run(tmp_path, "login", "--stdin", "--no-test", key=f"{KEY}-new")
    assert "openai was replaced" in done.stdout and len(stored(tmp_path)) == 3
    assert stored(tmp_path)[0]["openai"]["api_key"] == f"{KEY}-new"


def test_azure(tmp_path: Path) -> None:
    flags = ["--base-url", "https://r.openai.azure.com/openai/v1", "--model", "gpt-5.6-sol", "--deployment", "d"]
    run(tmp_path, "login", "azure", *flags, "--stdin", "--no-test", key=KEY)
    assert stored(tmp_path)[0]["azure_openai"] == {
        "endpoint": "https://r.openai.azure.com/openai/v1",
        "model": "gpt-5.6-sol",
        "deployment": "d",
        "api_key": KEY,
        "api_version": "",
    }


def test_it_says_that_the_environment_counts_no_longer(tmp_path: Path) -> None:
    done = run(tmp_path, "login", "--stdin", "--no-test", key=KEY, OPENAI_API_KEY="other-0123456789")
    assert "no longer: OPENAI_API_KEY" in done.stderr


@pytest.mark.parametrize(
    ("argv", "key", "words"),
    [
        (["--type", "other"], KEY, "--type cannot be 'other'"),
        (["--type", "local"], KEY, "--type cannot be 'local'"),
        (["--type", "openai_compatible"], KEY, "--base-url"),
        (["azure"], KEY, "--deployment"),
        (["anthropic", "--wire", "chat"], KEY, "--wire does not go with anthropic"),
        (["--wire", "telnet"], KEY, "wire must be one of"),
        (["a b"], KEY, "1 to 64 letters"),
        (["--base-url", "http://far.example"], KEY, "plain http"),
        ([], "", "no key was given"),
        ([], "two words", "white space"),
        (["one", "two"], KEY, "too many words"),
        (["--model", KEY], KEY, "holds a key"),
    ],
)
def test_mistakes_store_nothing(argv: list[str], key: str, words: str, tmp_path: Path) -> None:
    done = run(tmp_path, "login", *argv, "--stdin", "--no-test", key=key, code=2)
    assert words in done.stderr
    assert not (tmp_path / ".agenyx").exists()


def test_without_a_terminal_it_asks_for_a_pipe(tmp_path: Path) -> None:
    assert "--stdin" in run(tmp_path, "login", "--no-test", code=2).stderr


def test_a_broken_file_is_told_before_a_key_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / ".agenyx").mkdir(0o700)
    path = tmp_path / ".agenyx" / "auth.json"
    path.write_text("{")
    path.chmod(0o600)
    assert "invalid" in run(tmp_path, "login", "--stdin", "--no-test", key=KEY, code=1).stderr
    assert path.read_text() == "{"


def test_logout(tmp_path: Path) -> None:
    run(tmp_path, "login", "--stdin", "--no-test", key=KEY)
    assert "no profile 'other'" in run(tmp_path, "logout", "other", code=2).stderr
    assert "too few" in run(tmp_path, "logout", code=2).stderr
    assert "openai was removed, 0 left" in run(tmp_path, "logout", "openai").stdout
    assert not (tmp_path / ".agenyx" / "auth.json").exists()


def test_at_a_terminal_the_key_is_not_shown(tmp_path: Path) -> None:
    master, slave = pty.openpty()
    steal = (
        f"import fcntl,os,sys,termios; fcntl.ioctl({slave},termios.TIOCSCTTY,0); os.execv(sys.executable,sys.argv[1:])"
    )
    command = [sys.executable, "-m", "agenyx", "login", "--no-test"]
    process = subprocess.Popen(
        [sys.executable, "-c", steal, *command],
        cwd=tmp_path,
        env=command_env(tmp_path),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        pass_fds=(slave,),
    )
    screen, typed, end = b"", False, time.monotonic() + 60
    while process.poll() is None or select.select([master], [], [], 0)[0]:
        assert time.monotonic() < end, screen
        if select.select([master], [], [], 0.01)[0]:
            screen += os.read(master, 4096)
        if not typed and b"not shown" in screen and not termios.tcgetattr(slave)[3] & termios.ECHO:
            os.write(master, KEY.encode() + b"\n")
            typed = True
    screen += rest(master, slave)
    assert process.returncode == 0, screen
    assert KEY.encode() not in screen
    assert termios.tcgetattr(slave)[3] & termios.ECHO, "the terminal is left as it was found"
    assert stored(tmp_path)[0]["openai"] == {"api_key": KEY}
    os.close(master), os.close(slave)


RING = """
import json, os
from keyring.backend import KeyringBackend

class Keyring(KeyringBackend):
    '''Keeps everything in one file beside this module.'''
    priority = 1
    path = os.path.join(os.path.dirname(__file__), "ring.json")

    def _all(self):
        if not os.path.exists(self.path):
            return {}
        with open(self.path) as file:
            return json.load(file)

    def _write(self, items):
        with open(self.path, "w") as file:
            json.dump(items, file)

    def get_password(self, service, username):
        return self._all().get(f"{service}|{username}")

    def set_password(self, service, username, password):
        self._write(self._all() | {f"{service}|{username}": password})

    def delete_password(self, service, username):
        items = self._all()
        del items[f"{service}|{username}"]
        self._write(items)

class Locked(Keyring):
    def get_password(self, service, username):
        from keyring.errors import KeyringLocked
        raise KeyringLocked("the collection is locked")
"""


@pytest.fixture
def ring(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine whose keyring is a file."""
    folder = tmp_path / "ring"
    folder.mkdir()
    (folder / "filering.py").write_text(RING, "utf-8")
    return {"PYTHONPATH": str(folder), "PYTHON_KEYRING_BACKEND": "filering.Keyring"}


def items(tmp_path: Path) -> dict[str, str]:
    return json.loads((tmp_path / "ring" / "ring.json").read_text("utf-8"))


def test_a_key_in_the_system_keyring(tmp_path: Path, ring: dict[str, str]) -> None:
    with RawServer([[LISTED]]) as server:
        flags = ["--base-url", f"{server.url}/v1", "--model", "one", "--keyring", "--stdin"]
        done = run(tmp_path, "login", "box", *flags, key=KEY, **ring)
        assert "its key is in the system keyring" in done.stdout
        assert stored(tmp_path)[0]["openai_compatible"] == {
            "base_url": f"{server.url}/v1",
            "api_key_source": "keyring",
            "model": "one",
        }
        assert KEY not in (tmp_path / ".agenyx" / "auth.json").read_text("utf-8")
        assert items(tmp_path) == {f"agenyx|box {tmp_path}/.agenyx": KEY}
        # A run reads it from there; a list of what is configured does not even load the library.
        run(tmp_path, "doctor", code=1, **ring)
        asked = [request for request in server.requests[1:] if request.headers.get("authorization") == f"Bearer {KEY}"]
        assert asked and len(asked) == len(server.requests) - 1
        done = run(tmp_path, "--list-providers", **{**ring, "PYTHON_KEYRING_BACKEND": "none.Such"})
        assert "box" in done.stdout
    done = run(tmp_path, "logout", "box", **ring)
    assert "box was removed, 0 left" in done.stdout and items(tmp_path) == {} and not done.stderr


def test_from_the_keyring_into_the_file_and_back(tmp_path: Path, ring: dict[str, str]) -> None:
    run(tmp_path, "login", "--keyring", "--stdin", "--no-test", key=KEY, **ring)
    run(tmp_path, "login", "--stdin", "--no-test", key=f"{KEY}-2", **ring)
    assert items(tmp_path) == {} and stored(tmp_path)[0]["openai"] == {"api_key": f"{KEY}-2"}
    run(tmp_path, "login", "--keyring", "--stdin", "--no-test", key=f"{KEY}-3", **ring)
    assert list(items(tmp_path).values()) == [f"{KEY}-3"]
    assert stored(tmp_path)[0]["openai"] == {"api_key_source": "keyring"}


@pytest.mark.parametrize(
    ("backend", "words"),
    [
        ("keyring.backends.fail.Keyring", "no system keyring"),
        ("keyring.backends.null.Keyring", "did not keep the key"),
        ("filering.Locked", "the collection is locked"),
        ("none.Such", "the system keyring refused"),
    ],
)
def test_a_keyring_that_does_not_work_stores_nothing(
    backend: str, words: str, tmp_path: Path, ring: dict[str, str]
) -> None:
    env = ring | {"PYTHON_KEYRING_BACKEND": backend}
    done = run(tmp_path, "login", "--keyring", "--stdin", "--no-test", key=KEY, code=1, **env)
    assert words in done.stderr and "auth.json" in done.stderr
    assert not (tmp_path / ".agenyx" / "auth.json").exists()


def test_without_the_extra_it_names_it(tmp_path: Path, ring: dict[str, str]) -> None:
    run(tmp_path, "login", "--keyring", "--stdin", "--no-test", key=KEY, **ring)
    (tmp_path / "ring" / "keyring.py").write_text("raise ImportError('not here')", "utf-8")
    done = run(tmp_path, "login", "other", "--type", "openai", "--keyring", "--stdin", key=KEY, code=1, **ring)
    assert "pip install 'agenyx[keyring]'" in done.stderr
    found = run(tmp_path, "doctor", "--offline", code=1, **ring)
    assert "the key of openai is in the system keyring" in found.stdout
    assert "pip install 'agenyx[keyring]'" in found.stdout
    done = run(tmp_path, "logout", "openai", **ring)
    assert "0 left" in done.stdout and "still in the system keyring" in done.stderr


def test_a_key_that_went_missing_says_how_to_store_it(tmp_path: Path, ring: dict[str, str]) -> None:
    run(tmp_path, "login", "--keyring", "--stdin", "--no-test", key=KEY, **ring)
    (tmp_path / "ring" / "ring.json").unlink()
    assert "agenyx login openai --keyring" in run(tmp_path, "doctor", "--offline", code=1, **ring).stdout

"""Wrong keys, addresses, models, certificates, homes and disks: one clear sentence each, and the right exit code."""

from __future__ import annotations

import json
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import trustme

from support.disk import namespaces
from support.mock import Mock, agenyx, command_env, mock_server

KEY = "sk-test-0123456789abcdef"


@contextmanager
def server(status: int, body: dict[str, Any], context: ssl.SSLContext | None = None, **headers: str) -> Iterator[str]:
    """Answers everything with one status and body; yields the base URL."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            data = json.dumps(body).encode()
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST

        def log_message(self, *_: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if context is not None:
        listening.socket = context.wrap_socket(listening.socket, server_side=True)
    thread = threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"{'https' if context else 'http'}://127.0.0.1:{listening.server_address[1]}/v1"
    finally:
        listening.shutdown()
        listening.server_close()


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "f.txt").write_text("text\n")
    return folder


@pytest.fixture(scope="module")
def mock() -> Iterator[Mock]:
    with mock_server() as running:
        yield running


def run(work: Path, *argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    done = agenyx("-p", *(argv or ("hello",)), cwd=work, env=command_env(work.parent, **env))
    assert "Traceback" not in done.stderr
    assert KEY not in done.stdout + done.stderr
    return done


def test_no_key(work: Path) -> None:
    done = run(work)
    assert done.returncode == 1
    assert "OPENAI_API_KEY" in done.stderr
    assert "agenyx local install" in done.stderr
    assert done.stdout == ""


def test_wrong_key(work: Path) -> None:
    said = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}
    with server(401, said) as url:
        done = run(work, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=url, AGENYX_MODEL="m")
    assert done.returncode == 1
    assert "key" in done.stderr
    assert "OPENAI_API_KEY" in done.stderr


def test_nobody_listens(work: Path) -> None:
    done = run(work, OPENAI_API_KEY=KEY, OPENAI_BASE_URL="http://127.0.0.1:9/v1", AGENYX_MODEL="m")
    assert done.returncode == 1
    assert "127.0.0.1:9" in done.stderr
    assert "OPENAI_BASE_URL" in done.stderr


@pytest.mark.parametrize("url", ["ftp://x/v1", "nonsense", "http://example.com/v1", "https://user:pw@host/v1"])
def test_addresses_that_are_none(work: Path, url: str) -> None:
    done = run(work, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=url, AGENYX_MODEL="m")
    assert done.returncode in (1, 2)
    assert "OPENAI_BASE_URL" in done.stderr


def test_unknown_model(work: Path) -> None:
    said = {"error": {"message": "The model `nope` does not exist", "code": "model_not_found"}}
    with server(404, said) as url:
        done = run(work, "--model", "nope", "hello", OPENAI_API_KEY=KEY, OPENAI_BASE_URL=url)
    assert done.returncode == 1
    assert "nope" in done.stderr
    assert "--model" in done.stderr


def test_no_model_chosen_and_several_offered(work: Path) -> None:
    with server(200, {"data": [{"id": "alpha"}, {"id": "beta"}]}) as url:
        done = run(work, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=url)
    assert done.returncode == 1
    assert "alpha" in done.stderr
    assert "beta" in done.stderr
    assert "--model" in done.stderr


def test_the_only_model_of_a_server_is_used(work: Path, mock: Mock) -> None:
    mock.reset("hello")
    done = run(work, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"{mock.url}/v1")
    assert (done.returncode, done.stdout) == (0, "BENCH-DONE\n"), done.stderr


def test_busy_provider_that_asks_for_a_long_wait(work: Path) -> None:
    with server(429, {"error": {"message": "slow down"}}, Retry_After="600") as url:
        done = run(work, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=url, AGENYX_MODEL="m")
    assert done.returncode == 75, done.stderr


def test_a_redirect_is_refused(work: Path) -> None:
    with server(307, {}, Location="https://elsewhere.example/v1") as url:
        done = run(work, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=url, AGENYX_MODEL="m")
    assert done.returncode == 1
    assert "elsewhere.example" in done.stderr


def test_a_certificate_nobody_vouches_for_and_the_remedy(work: Path, tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    bundle = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(bundle))
    env = {"OPENAI_API_KEY": KEY, "AGENYX_MODEL": "m"}
    with server(401, {"error": {"message": "no"}}, context) as url:
        refused = run(work, OPENAI_BASE_URL=url, **env)
        trusted = run(work, OPENAI_BASE_URL=url, SSL_CERT_FILE=str(bundle), **env)
    assert refused.returncode == 1
    assert "certificate" in refused.stderr
    assert "SSL_CERT_FILE" in refused.stderr
    assert "certificate" not in trusted.stderr, "with the authority known, the server is reached"


def test_a_home_that_cannot_be_written_gives_a_warning_and_a_session_in_memory(work: Path, mock: Mock) -> None:
    mock.reset("tools-3", files=["f.txt"])
    blocked = work.parent / "blocked"
    blocked.write_text("a file where the home should be")
    home = str(blocked / "home")
    done = run(work, OPENAI_API_KEY=KEY, OPENAI_BASE_URL=f"{mock.url}/v1", AGENYX_MODEL="m", AGENYX_HOME=home)
    assert (done.returncode, done.stdout) == (0, "BENCH-DONE\n"), done.stderr
    assert "memory only" in done.stderr
    assert "AGENYX_HOME" in done.stderr


@pytest.mark.parametrize("home", ["relative/home", "/"])
def test_a_home_that_is_none_never_falls_back(work: Path, home: str) -> None:
    done = run(work, OPENAI_API_KEY=KEY, AGENYX_HOME=home)
    assert done.returncode == 1
    assert "AGENYX_HOME" in done.stderr
    assert not (work.parent / ".agenyx").exists()


def on_full_disk(work: Path, script: str, env: dict[str, str], mock: Mock) -> subprocess.CompletedProcess[str]:
    """Run with AGENYX_HOME on a disk that fills up; the log of the tests says which kind of disk it is."""
    home = work.parent / "small"
    home.mkdir()
    program = [sys.executable, "-m", "agenyx", "-p", "--dangerously-skip-permissions", "go"]
    if namespaces():
        command = [
            "unshare",
            "-Urm",
            "sh",
            "-c",
            f'mount -t tmpfs -o size=96k none "$0" && {script} && exec "$@"',
            str(home),
        ]
    else:
        command = ["sh", "-c", 'ulimit -f 40 && exec "$@"', str(home)]
    env = command_env(
        work.parent,
        OPENAI_API_KEY=KEY,
        OPENAI_BASE_URL=f"{mock.url}/v1",
        AGENYX_MODEL="m",
        AGENYX_HOME=str(home / "h"),
        **env,
    )
    return subprocess.run([*command, *program], cwd=work, env=env, capture_output=True, text=True, check=False)


def test_a_disk_that_fills_up_during_the_run_ends_it_and_loses_nothing_that_was_accepted(
    work: Path, mock: Mock
) -> None:
    names = [f"f{n}.txt" for n in range(60)]
    for name in names:
        (work / name).write_text(f"{name} " + "x" * 2000 + "\n")
    mock.reset("tools-60", files=names)
    done = on_full_disk(work, "true", {}, mock)
    assert done.returncode == 1, done.stderr
    assert "could not be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(mock.log()) < 60, "no further request after the failed write"


@pytest.mark.skipif(not namespaces(), reason="needs a disk of its own that is full from the start")
def test_a_disk_that_is_full_from_the_start_gives_a_session_in_memory(work: Path, mock: Mock) -> None:
    mock.reset("hello")
    fill = 'mkdir "$0/h" && { dd if=/dev/zero of="$0/fill" bs=1k 2>/dev/null || true; }'
    done = on_full_disk(work, fill, {}, mock)
    assert (done.returncode, done.stdout) == (0, "BENCH-DONE\n"), done.stderr
    assert "memory only" in done.stderr


@pytest.mark.skipif(not namespaces(), reason="needs a disk of its own that is read-only")
def test_a_read_only_home_gives_a_session_in_memory(work: Path, mock: Mock) -> None:
    mock.reset("hello")
    done = on_full_disk(work, 'mkdir "$0/h" && mount -o remount,ro "$0"', {}, mock)
    assert (done.returncode, done.stdout) == (0, "BENCH-DONE\n"), done.stderr
    assert "memory only" in done.stderr
    assert "Read-only" in done.stderr


def test_start_up_errors_are_one_json_record_where_a_program_reads(work: Path) -> None:
    done = run(work, "--output-format", "json", "hello")
    result = json.loads(done.stdout)
    assert (result["type"], result["is_error"]) == ("result", True)
    assert "OPENAI_API_KEY" in " ".join(result["errors"])

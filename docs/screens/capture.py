"""Captures what Agenyx says to a new user in the situations that go wrong, into the text files beside this script.

    python docs/screens/capture.py        with the agenyx that this Python has installed

Servers are stand-ins on this machine; nothing leaves it. Paths and ports are replaced, so that the files change only
when the words do.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHUNK = '{"choices":[{"index":0,"delta":{"content":"Hello from the stand-in."},"finish_reason":"stop"}]}'
ANSWER = f"data: {CHUNK}\n\ndata: [DONE]\n\n"
OLLAMA = {
    "/api/version": (200, "application/json", json.dumps({"version": "0.12.0"})),
    "/api/tags": (200, "application/json", json.dumps({"models": [{"name": "qwen3:8b"}]})),
    "/api/show": (
        200,
        "application/json",
        json.dumps({"model_info": {"general.architecture": "qwen3", "qwen3.context_length": 40960}}),
    ),
    "/api/ps": (200, "application/json", json.dumps({"models": [{"name": "qwen3:8b", "context_length": 4096}]})),
    "/v1/models": (200, "application/json", json.dumps({"data": [{"id": "qwen3:8b"}]})),
    "/v1/chat/completions": (200, "text/event-stream", ANSWER),
}
REFUSES = {
    "*": (401, "application/json", json.dumps({"error": {"message": "Incorrect API key.", "code": "invalid_api_key"}}))
}
PROXY = {"*": (407, "text/plain", "Proxy authentication required")}


@contextmanager
def server(routes: dict[str, tuple[int, str, str]]) -> Iterator[str]:
    """A stand-in that answers by path; `*` answers everything else. Yields host:port."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, kind, body = routes.get(self.path) or routes.get("*") or (404, "text/plain", "not found")
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_POST = do_CONNECT = answer

        def log_message(self, *_: object) -> None:
            pass

    listening = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=listening.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{listening.server_address[1]}"
    finally:
        listening.shutdown()


def capture(name: str, title: str, argv: list[str], env: dict[str, str]) -> None:
    """Run once in an empty directory with an empty home; write what a person would see."""
    with tempfile.TemporaryDirectory() as folder:
        work, home = Path(folder, "project"), Path(folder, "home")
        work.mkdir()
        home.mkdir()
        base = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
        done = subprocess.run(
            [sys.executable, "-m", "agenyx", *argv],
            cwd=work,
            env=base | env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        said = done.stdout.replace(folder, "~tmp").replace(str(Path(sys.prefix)), "~env")
    said = re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", said)
    said = re.sub(r"\d+\.\d\d s", "0.00 s", said)
    shown = " ".join(f"{key}={re.sub(r':[0-9]{2,5}', ':PORT', value)}" for key, value in env.items())
    words = " ".join(word if " " not in word else f'"{word}"' for word in argv)
    text = f"# {title}\n\n$ {shown}{' ' if shown else ''}agenyx {words}\n{said}[exit code {done.returncode}]\n"
    (HERE / f"{name}.txt").write_text(text, "utf-8")


def main() -> None:
    capture("nothing-configured", "Nothing is configured", ["-p", "hello"], {})
    with server(REFUSES) as at:
        env = {
            "OPENAI_API_KEY": "sk-wrong-0123456789",
            "OPENAI_BASE_URL": f"http://{at}/v1",
            "AGENYX_MODEL": "some-model",
        }
        capture("wrong-key", "The key is wrong", ["-p", "hello"], env)
    with server(OLLAMA) as at:
        capture("ollama", "Ollama runs on this machine", ["-p", "--verbose", "hello"], {"OLLAMA_HOST": f"http://{at}"})
    with server(PROXY) as at:
        env = {"OPENAI_API_KEY": "sk-right-0123456789", "HTTPS_PROXY": f"http://{at}"}
        capture("proxy-refuses", "The proxy wants a password", ["-p", "hello"], env)
    env = {"OPENAI_API_KEY": "sk-right-0123456789", "HTTPS_PROXY": "http://127.0.0.1:9"}
    capture("proxy-missing", "The proxy is not there", ["-p", "hello"], env)


if __name__ == "__main__":
    main()

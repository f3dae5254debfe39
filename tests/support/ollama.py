"""A stand-in for Ollama: its native API and its OpenAI-compatible route, on a real socket."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CHUNK = '{"choices":[{"index":0,"delta":{"content":"Hello."},"finish_reason":"stop"}]}'
TRAINED = {"general.architecture": "qwen3", "qwen3.context_length": 40_960, "vision.context_length": 77}


class Ollama:
    """Serves the model `qwen3:8b`. `loads` is the window it gives a model that is asked for, `running` what it has in
    memory, `parameters` the text of the model's own; `broken` makes the native API unknown. `asked` lists what came.
    """

    def __init__(self) -> None:
        self.url = ""
        self.loads = 4096
        self.running: dict[str, int] = {}
        self.parameters = ""
        self.remote = ""
        self.broken = False
        self.asked: list[tuple[str, Any]] = []

    def answer(self, path: str, body: Any) -> tuple[int, str, str]:
        self.asked.append((path, body))
        if self.broken and path.startswith("/api/") and path != "/api/version":
            return 404, "text/plain", "404 page not found"
        match path:
            case "/api/version":
                return 200, "application/json", json.dumps({"version": "0.12.0"})
            case "/v1/models":
                return 200, "application/json", json.dumps({"data": [{"id": "qwen3:8b"}]})
            case "/v1/chat/completions":
                return 200, "text/event-stream", f"data: {CHUNK}\n\ndata: [DONE]\n\n"
            case "/api/show":
                shown: dict[str, Any] = {"model_info": TRAINED, "parameters": self.parameters}
                if self.remote:
                    shown["remote_host"] = self.remote
                return 200, "application/json", json.dumps(shown)
            case "/api/generate":
                self.running[body["model"]] = self.loads
                return 200, "application/json", json.dumps({"done": True, "done_reason": "load"})
            case "/api/ps":
                models = [{"name": name, "model": name, "context_length": n} for name, n in self.running.items()]
                return 200, "application/json", json.dumps({"models": models})
            case _:
                return 404, "text/plain", "404 page not found"


@contextmanager
def ollama() -> Iterator[Ollama]:
    """One that listens on a free port of this machine."""
    fake = Ollama()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, kind, body = fake.answer(self.path, json.loads(data) if data else None)
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        do_GET = do_POST = answer

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)

"""A server that answers with exactly the bytes of a script, on a real socket in a thread.

    with RawServer([[stream(content("Hi"), finish())]]) as server:
        ...  # talk to server.url
    assert server.requests[0].body == ...

The script is a list of replies; each request takes the next one, on whatever connection it comes, and the last reply
serves every further request. A reply is a list of steps, done in order:

    bytes                    sent as they are
    Until(event)             waits for a threading.Event of the test (at most DEADLINE seconds)
    CLIENT_GONE              waits until the client closed; sets server.gone
    FLOOD                    sends body bytes until the client closes; counts them in server.flooded, sets server.gone
    CLOSE / RESET            ends the connection in an orderly way / with a TCP reset

A reply that ends without CLOSE or RESET leaves the connection open for another request. `tls` is an ssl.SSLContext.
`stream`, `plain` and `head` make usual responses; `content`, `reasoning`, `call`, `finish`, `usage` their payloads.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

DEADLINE = 30.0  # seconds after which a wait that never ends fails the test


@dataclass
class Until:
    event: threading.Event


@dataclass(frozen=True)
class _Mark:
    name: str


CLIENT_GONE = _Mark("gone")
FLOOD = _Mark("flood")
CLOSE = _Mark("close")
RESET = _Mark("reset")

Step = bytes | Until | _Mark


@dataclass
class Seen:
    """One request as it came. `connection` counts from 0."""

    head: bytes
    body: bytes
    connection: int
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def line(self) -> str:
        return self.head.split(b"\r\n", 1)[0].decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class RawServer:
    """See the module. `requests` and `connections` may be read at any time."""

    def __init__(self, script: list[list[Step]], tls: ssl.SSLContext | None = None) -> None:
        self.script = script
        self.requests: list[Seen] = []
        self.connections = 0
        self.gone = threading.Event()
        self.flooded = 0
        self._tls = tls
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.port}"

    def __enter__(self) -> RawServer:
        self._start(self._accept)
        return self

    def _start(self, target: Callable[..., None], *args: object) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread in accept, which would take one more
        self._listener.close()
        # Only the thread of a connection closes it: a descriptor closed under it could become another socket.
        with self._lock:
            for sock in self._open:
                with suppress(OSError):
                    socket.socket.shutdown(sock, socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(DEADLINE)

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                number = self.connections
                self.connections += 1
                self._open.add(sock)
            self._start(self._serve, sock, number)

    def _serve(self, sock: socket.socket, number: int) -> None:
        raw = sock
        try:
            sock.settimeout(DEADLINE)
            if self._tls:
                sock = self._tls.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
                with self._lock:
                    self._open.add(sock)  # before the handshake, which a client may leave half done
                sock.do_handshake()
            while (seen := self._read(sock, number)) is not None:
                with self._lock:
                    reply = self.script[min(len(self.requests), len(self.script) - 1)]
                    self.requests.append(seen)
                if not self._play(sock, reply):
                    break
        except OSError:
            pass
        finally:
            with self._lock:
                self._open -= {sock, raw}
            sock.close()
            raw.close()

    def _read(self, sock: socket.socket, number: int) -> Seen | None:
        data = b""
        while b"\r\n\r\n" not in data:
            part = sock.recv(65536)
            if not part:
                return None
            data += part
        head, _, body = data.partition(b"\r\n\r\n")
        lines = [line.partition(b":") for line in head.split(b"\r\n")[1:]]
        headers = {name.decode().strip().lower(): value.decode("latin-1").strip() for name, _, value in lines}
        while len(body) < int(headers.get("content-length", 0)):
            body += sock.recv(65536)
        return Seen(head, body, number, headers)

    def _play(self, sock: socket.socket, reply: list[Step]) -> bool:
        for step in reply:
            if isinstance(step, bytes):
                sock.sendall(step)
            elif isinstance(step, Until):
                step.event.wait(DEADLINE)
            elif step is CLIENT_GONE:
                try:
                    while sock.recv(4096):
                        pass
                except TimeoutError:
                    return False
                except OSError:
                    pass
                self.gone.set()
                return False
            elif step is FLOOD:
                with suppress(OSError):
                    while True:
                        self.flooded += sock.send(b"x" * 65536)
                self.gone.set()
                return False
            else:
                if step is RESET:
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return False
        return True


# --- responses -------------------------------------------------------------------------------------------------------


def head(status: int = 200, *lines: str) -> bytes:
    """A status line and header lines, with the empty line."""
    return "\r\n".join([f"HTTP/1.1 {status} Status", *lines, "", ""]).encode("latin-1")


def plain(status: int, body: bytes | str | dict[str, Any], *lines: str, kind: str = "application/json") -> bytes:
    """A whole response with a Content-Length."""
    data = json.dumps(body).encode() if isinstance(body, dict) else body.encode() if isinstance(body, str) else body
    return head(status, f"Content-Type: {kind}", f"Content-Length: {len(data)}", *lines) + data


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def event(payload: dict[str, Any] | bytes | str) -> bytes:
    """One server-sent event."""
    data = payload if isinstance(payload, bytes) else payload.encode() if isinstance(payload, str) else None
    return b"data: " + (json.dumps(payload).encode() if data is None else data) + b"\n\n"


STREAM_HEAD = head(200, "Content-Type: text/event-stream", "Transfer-Encoding: chunked")


def begin(*payloads: dict[str, Any] | bytes | str) -> bytes:
    """The beginning of a streamed response: head and events, one chunk each."""
    return STREAM_HEAD + b"".join(chunk(event(payload)) for payload in payloads)


def stream(*payloads: dict[str, Any] | bytes | str, done: bool = True) -> bytes:
    """A whole streamed response; `done` adds the [DONE] mark."""
    return begin(*payloads, *(["[DONE]"] if done else [])) + b"0\r\n\r\n"


def delta(fields: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    """One chunk of a chat completion."""
    choice = {"index": 0, "delta": fields, "finish_reason": finish}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "served-model", "choices": [choice]}


def content(text: str) -> dict[str, Any]:
    return delta({"role": "assistant", "content": text})


def reasoning(text: str) -> dict[str, Any]:
    return delta({"reasoning_content": text})


def call(name: str, args: str | None, id: str | None = "call_1", index: int = 0) -> dict[str, Any]:
    """A whole call, or a piece of one."""
    function = {"name": name, "arguments": args}
    return delta({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]})


def finish(reason: str = "stop") -> dict[str, Any]:
    return delta({}, reason)


def usage(prompt: int, out: int, **more: Any) -> dict[str, Any]:
    counts = {"prompt_tokens": prompt, "completion_tokens": out, "total_tokens": prompt + out, **more}
    return {"id": "chatcmpl-1", "model": "served-model", "choices": [], "usage": counts}

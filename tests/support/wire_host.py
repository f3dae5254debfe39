"""A host that talks in JSON lines with the command line as a process: sends records, waits for those it expects."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from support.mock import command_env
from support.raw_server import RawServer, call, content, finish, stream, usage

DEADLINE = 60.0  # seconds for what never comes
FLAGS = ("--output-format", "stream-json", "--verbose", "--input-format", "stream-json")
SDK = {"CLAUDE_CODE_ENTRYPOINT": "sdk-test"}

Record = dict[str, Any]


def says(text: str = "Hello.") -> list[Any]:
    """A reply of the model server."""
    return [stream(content(text), finish(), usage(10, 2))]


def calls(name: str, **args: Any) -> list[Any]:
    """A reply that calls a tool."""
    return [stream(call(name, json.dumps(args)), finish("tool_calls"), usage(10, 2))]


class Host:
    """`seen` holds all records in their order. Started in `folder`/work with a home of its own."""

    def __init__(
        self, folder: Path, server: RawServer, *flags: str, env: dict[str, str] | None = None, stdin: Any = None
    ) -> None:
        home, self.work = folder / "home", folder / "work"
        for one in (home, self.work):
            one.mkdir(exist_ok=True)
        model = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{server.url}/v1", "AGENYX_MODEL": "served-model"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "agenyx", *FLAGS, *flags],
            cwd=self.work,
            env=command_env(home, **{**model, **(SDK if env is None else env)}),
            stdin=subprocess.PIPE if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.seen: list[Record] = []
        self.errors = ""
        self._coming: queue.Queue[Record | None] = queue.Queue()
        self._next = 0
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._read, self._listen)]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Host:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        for thread in self._threads:
            thread.join(DEADLINE)
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._coming.put(json.loads(line))
        self._coming.put(None)

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors += line.decode()

    # --- out --------------------------------------------------------------------------------------------------------

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, *records: Record) -> None:
        self.raw(b"".join(json.dumps(record).encode() + b"\n" for record in records))

    def prompt(self, text: str, **more: Any) -> None:
        self.send({"type": "user", "message": {"role": "user", "content": text}, **more})

    def request(self, subtype: str, **fields: Any) -> Record:
        """Send a request and wait for its answer."""
        ident = self.ask(subtype, **fields)
        return self.wait(lambda one: one["type"] == "control_response" and one["response"]["request_id"] == ident)[
            "response"
        ]

    def ask(self, subtype: str, **fields: Any) -> str:
        self._next += 1
        ident = f"h{self._next}"
        self.send({"type": "control_request", "request_id": ident, "request": {"subtype": subtype, **fields}})
        return ident

    def initialize(self, **fields: Any) -> Record:
        """As an Agent SDK does; with nothing at all use `request("initialize")`, as an AgentX host does."""
        return self.request("initialize", hooks=None, **fields)["response"]

    def answer(self, asked: Record, **response: Any) -> None:
        inner = {"subtype": "success", "request_id": asked["request_id"], "response": response}
        self.send({"type": "control_response", "response": inner})

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    # --- in ---------------------------------------------------------------------------------------------------------

    def next(self) -> Record | None:
        """The next record, None at the end."""
        try:
            record = self._coming.get(timeout=DEADLINE)
        except queue.Empty:
            raise AssertionError(f"nothing came any more; seen: {self.seen}; stderr: {self.errors}") from None
        if record is not None:
            self.seen.append(record)
        return record

    def soon(self) -> Record | None:
        """A record that has come already, None where there is none."""
        try:
            record = self._coming.get_nowait()
        except queue.Empty:
            return None
        if record is None:
            self._coming.put(None)  # the end stays the end
            return None
        self.seen.append(record)
        return record

    def wait(self, condition: Callable[[Record], bool]) -> Record:
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            record = self.next()
            if record is None:
                break
            if condition(record):
                return record
        raise AssertionError(f"it never came; seen: {self.seen}; stderr: {self.errors}")

    def result(self) -> Record:
        return self.wait(lambda one: one["type"] == "result")

    def asked(self, subtype: str = "can_use_tool") -> Record:
        return self.wait(lambda one: one["type"] == "control_request" and one["request"]["subtype"] == subtype)

    def streaming(self) -> Record:
        """Wait until the model's answer has begun to come; the flag for partial messages must be given."""
        return self.wait(lambda one: one["type"] == "stream_event" and "delta" in one["event"])

    def end(self) -> int:
        """Read the rest; the exit code."""
        while self.next() is not None:
            pass
        return self.process.wait(DEADLINE)

    def kinds(self) -> list[str]:
        return [one["subtype"] if one["type"] == "system" else one["type"] for one in self.seen]

"""Random hosts: whatever they write, the program neither crashes nor hangs, and answers every request exactly once.

AGENYX_FUZZ_MINUTES=10 goes on for so long; a failure names its seed, and AGENYX_FUZZ_SEED plays it again.
"""

from __future__ import annotations

import json
import os
import random
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from agenyx.ui.wire.controls import HANDLERS
from support.raw_server import RawServer
from support.wire_host import SDK, Host, calls, says

ROUNDS = 6
RECORDS = 40
WORDS = ("", "hi", "/status", "/nonsense", "a\u2028b", "\ud800", "x" * 5000, "/compact", "@a.txt")
JUNK: tuple[Any, ...] = (None, 7, -1.5, True, "", "x", [], {}, [1], {"a": {"b": []}}, "\ud800")
SUBTYPES = (*HANDLERS, "initialize", "interrupt", "hologram", "set_max_thinking_tokens", "")
FIELDS = ("mode", "model", "task_id", "user_message_id", "serverName", "title", "cancel_queued", "hooks", "agents")
PRIORITIES = ("now", "next", "later", "steer", "soon", None)


class Writer:
    """Makes the records of one host."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.asked: list[str] = []

    def record(self) -> dict[str, Any]:
        pick = self.random.random()
        if pick < 0.4:
            return self._prompt()
        if pick < 0.8:
            return self._request()
        if pick < 0.9:
            inner = {"subtype": self.random.choice(("success", "error", "x")), "request_id": "never", "response": {}}
            return {"type": "control_response", "response": inner}
        if pick < 0.95:
            return {"type": "control_cancel_request", "request_id": self.random.choice([*self.asked, "never"])}
        if pick < 0.98:
            return self._upload()
        return {"type": self.random.choice(("keep_alive", "assistant", "hologram"))}

    def _upload(self) -> dict[str, Any]:
        operation = self.random.choice(("begin", "chunk", "commit", "abort", *JUNK))
        upload = self.random.choice(("upl_1", "upl_2", *JUNK))
        names = ("prompt_uuid", "attachment_id", "name", "size_bytes", "mime_type", "sha256", "sequence", "data")
        fields = {name: self.random.choice((*JUNK, "att_1", "QUFB")) for name in self.random.sample(names, 4)}
        return {"type": "attachment_import", "version": 1, "operation": operation, "upload_id": upload, **fields}

    def _prompt(self) -> dict[str, Any]:
        content = self.random.choice((*WORDS, [{"type": "text", "text": "hi"}], [{"type": "image"}], *JUNK))
        record: dict[str, Any] = {"type": "user", "message": {"role": "user", "content": content}}
        if self.random.random() < 0.5:
            record["uuid"] = f"u{self.random.randrange(12)}"
        if self.random.random() < 0.5:
            record["priority"] = self.random.choice(PRIORITIES)
        return record

    def _request(self) -> dict[str, Any]:
        ident = f"r{len(self.asked)}"
        self.asked.append(ident)
        names = (
            "mode",
            "model",
            "task_id",
            "user_message_id",
            "serverName",
            "title",
            "cancel_queued",
            "hooks",
            "agents",
        )
        fields = {name: self.random.choice((*JUNK, "plan", "u1")) for name in self.random.sample(names, 2)}
        request: Any = {"subtype": self.random.choice(SUBTYPES), **fields}
        if self.random.random() < 0.05:
            request = self.random.choice(JUNK)
        return {"type": "control_request", "request_id": ident, "request": request}

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        good = {"behavior": "allow", "updatedInput": asked["request"].get("input", {})}
        response = self.random.choice((good, {"behavior": "deny", "message": "no"}, {}, {"behavior": 7}))
        inner = {"subtype": "success", "request_id": asked["request_id"], "response": response}
        return {"type": "control_response", "response": inner}


def play(folder: Path, seed: int) -> None:
    folder.mkdir()
    writer = Writer(seed)
    agentx = writer.random.random() < 0.3
    flags = ("--permission-prompt-tool", "stdio", "--include-partial-messages", "--replay-user-messages")
    script = [says(), calls("Write", file_path="a.txt", content="a"), says("Done."), calls("Bash", command="ls")] * 50
    with RawServer(script) as server, Host(folder, server, *flags, env={} if agentx else SDK) as host:
        if agentx:
            host.request("initialize")
        for _ in range(RECORDS):
            if host.process.poll() is not None:
                break
            with suppress(BrokenPipeError):
                host.raw(json.dumps(writer.record()).encode() + b"\n")
            while (record := host.soon()) is not None:
                if record["type"] == "control_request":
                    with suppress(BrokenPipeError):
                        host.send(writer.answer(record))
        with suppress(BrokenPipeError):
            host.close()
        code = host.end()
        answered = [one["response"]["request_id"] for one in host.seen if one["type"] == "control_response"]
        mine = [ident for ident in answered if ident != "h1" or not agentx]
        broken = any("the input cannot be read" in text for one in host.seen for text in one.get("errors", ()))
        assert code in (0, 1), (code, host.errors)
        assert "fault of Agenyx" not in host.errors + json.dumps(host.seen)
        assert len(mine) == len(set(mine)), mine
        assert broken or sorted(mine) == sorted(writer.asked), (mine, writer.asked)


def test_random_hosts(tmp_path: Path) -> None:
    minutes = float(os.environ.get("AGENYX_FUZZ_MINUTES", "0"))
    first = int(os.environ.get("AGENYX_FUZZ_SEED", "0")) or random.SystemRandom().randrange(1 << 30)
    end, done = time.monotonic() + 60 * minutes, 0
    while done < ROUNDS or time.monotonic() < end:
        seed = first + done
        try:
            play(tmp_path / str(seed), seed)
        except Exception as error:
            raise AssertionError(f"AGENYX_FUZZ_SEED={seed}") from error
        done += 1
    print(f"\n{done} random hosts, the first of seed {first}")

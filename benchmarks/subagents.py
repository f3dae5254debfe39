"""How long eight subagents take at once, over a real repository, when the model takes a second.

    python benchmarks/subagents.py [--rounds N] [DIRECTORY]

A server on a real socket answers over HTTP: each subagent greps, reads a file and answers, and one response of each
takes a second. Prints the seconds from the start of the eight calls to their last result, in the order of the calls,
and what is left of one second.
"""
# ruff: noqa: T201, TID251

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from statistics import median
from typing import Any

from agenyx.app.settings import Settings
from agenyx.app.start import open_conversation
from agenyx.core.events import AgentEvent, CallFinished, EffectStarted
from agenyx.ui.approve import HeadlessApprover

AT_ONCE = 8
DELAY = 1.0


def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    value = {"id": "x", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def answer(messages: Sequence[dict[str, Any]]) -> tuple[float, bytes]:
    """The delay in seconds and the body for a request, by what it holds."""
    first = next(m["content"] for m in messages if m["role"] == "user" and "Environment" not in str(m["content"])[:40])
    task, done = str(first), sum(m["role"] == "assistant" for m in messages)
    calls: list[tuple[str, dict[str, Any]]] = []
    delay, text = 0.0, f"{task} is done."
    if task == "main":
        calls = [("Task", {"description": f"job {n}"}) for n in range(AT_ONCE)] if not done else []
    elif done == 0:
        delay, calls = DELAY, [("Grep", {"pattern": "def main", "glob": "*.py"}), ("LS", {"path": "."})]
    elif done == 1:
        calls = [("Glob", {"pattern": "**/*.md"})]
    if not calls:
        return delay, chunk({"content": text}) + chunk({}, "stop") + b"data: [DONE]\n\n"
    made = [
        {"index": n, "id": f"c{done}{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
        for n, (name, args) in enumerate(calls)
    ]
    return delay, chunk({"tool_calls": made}) + chunk({}, "tool_calls") + b"data: [DONE]\n\n"


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            size = int(head.partition(b"content-length:")[2].split(b"\r\n")[0])
            delay, body = answer(json.loads(await reader.readexactly(size))["messages"])
            await asyncio.sleep(delay)
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(body) + body
            )
            await writer.drain()
    except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
        writer.close()


async def once(directory: str) -> tuple[float, bool]:
    """Seconds from the start of the calls to the last result, and whether these came in order."""
    server = await asyncio.start_server(serve, "127.0.0.1", 0, limit=1 << 22)
    port = server.sockets[0].getsockname()[1]
    times: dict[str, float] = {}
    order: list[str] = []
    started: tuple[str, ...] = ()

    def emit(event: AgentEvent) -> None:
        nonlocal started
        if event.agent:
            return
        if isinstance(event.body, EffectStarted):
            started, times["begin"] = event.body.calls, time.perf_counter()
        elif isinstance(event.body, CallFinished):
            order.append(event.body.result.call)
            times["end"] = time.perf_counter()
            assert event.body.result.status == "ok", event.body.result.text

    async def barrier() -> None:
        pass

    with tempfile.TemporaryDirectory() as home:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "OPENAI_API_KEY": "benchmark-key-0123456789",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
        }
        settings = Settings(directory, model="m", bare=True)
        talk = await open_conversation(settings, env, emit, HeadlessApprover(), barrier)
        finished = await talk.prompt("main")
        assert finished.outcome.kind == "done", finished
        await talk.close()
    server.close()
    return times["end"] - times["begin"], list(started) == order and len(order) == AT_ONCE


def main(argv: list[str]) -> None:
    rounds = int(argv[argv.index("--rounds") + 1]) if "--rounds" in argv else 5
    names = [word for word in argv if not word.startswith("--") and word != str(rounds)]
    directory = os.path.abspath(names[0] if names else os.path.join(os.path.dirname(__file__), ".."))
    taken = [asyncio.run(once(directory)) for _ in range(rounds)]
    seconds = [one for one, _ in taken]
    print(f"{AT_ONCE} subagents, {DELAY:g} s of model delay each, over {directory}")
    middle = median(seconds)
    print(f"  median {middle:.2f} s, slowest {max(seconds):.2f} s; beyond the delay {middle - DELAY:.2f} s")
    print(f"  results in the order of the calls: {'yes' if all(ordered for _, ordered in taken) else 'NO'}")


if __name__ == "__main__":
    main(sys.argv[1:])

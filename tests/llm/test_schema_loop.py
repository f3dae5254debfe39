"""Twenty tool calls over the JSON-schema protocol: real engine and HTTP, a server that knows no tools."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from typing import Any

from agenyx.config.profiles import Profile
from agenyx.core.events import CallDraft, ModelEvent, TextDelta
from agenyx.core.redact import Masker
from agenyx.llm.dialects import COMPATIBLE
from agenyx.llm.failures import Target
from agenyx.llm.http import Client
from agenyx.llm.request import Request
from agenyx.llm.schema_decode import SchemaDecoder
from agenyx.llm.schema_encode import SchemaEncoder
from agenyx.llm.stream import Post, Retry, stream
from agenyx.llm.throttle import Throttle
from support.parts import Parts, Peek, Poke
from support.raw_server import RawServer, Step, content, finish, usage
from support.raw_server import stream as streamed

CALLS = 20


class SchemaProvider:
    """The protocol over the ordinary stream."""

    def __init__(self, url: str) -> None:
        self.binding = "schema"
        self._url = f"{url}/v1/chat/completions"
        self._client = Client({})
        self._encoder = SchemaEncoder(COMPATIBLE, self.binding)

    def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        target = Target(self._url, "127.0.0.1", request.model, secured=False)
        post = Post(target, {"Content-Type": "application/json"}, self._encoder.encode(request))
        return stream(self._client, post, lambda: SchemaDecoder(target, self.binding), Masker(), Retry(), Throttle())

    async def close(self) -> None:
        await self._client.close()


def said(value: Any) -> list[Step]:
    text = json.dumps(value)
    return [streamed(*(content(text[i : i + 4]) for i in range(0, len(text), 4)), finish(), usage(50, 9))]


def test_a_conversation_of_twenty_calls() -> None:
    script = [
        said({"tool": "Peek" if n % 2 else "Poke", "arguments": {"text": f'ä "{n}"', "fail": n == 7}})
        for n in range(CALLS)
    ]
    script.append(said({"final_answer": "All done: ä 😀."}))
    peek, poke = Peek(), Poke()
    with RawServer(script) as server:
        profile = Profile("x", "openai_compatible", server.url)
        provider = SchemaProvider(profile.base_url)
        parts = Parts(provider, (peek, poke))
        parts.approver.choices = ["allow"] * CALLS
        parts.prompt("Do it.")

        async def run() -> Any:
            try:
                return await parts.engine.run()
            finally:
                await provider.close()

        finished = asyncio.run(run())
    assert (finished.outcome.kind, finished.text) == ("done", "All done: ä 😀.")
    assert [*poke.ran, *peek.ran] == [f'ä "{n}"' for n in (*range(0, CALLS, 2), *range(1, CALLS, 2))]
    assert [status for status, _ in parts.results()] == ["error" if n == 7 else "ok" for n in range(CALLS)]
    assert finished.usage.fresh == 50 * (CALLS + 1)
    assert "".join(delta.text for delta in parts.bodies(TextDelta)) == "All done: ä 😀."
    assert len(parts.bodies(CallDraft)) >= CALLS

    bodies = [seen.body for seen in server.requests]
    assert len(bodies) == CALLS + 1
    for before, after in itertools.pairwise(bodies):
        assert after.startswith(before[:-2]), "each request extends the last one"
    last = json.loads(bodies[-1])
    assert "tools" not in last and last["response_format"]["type"] == "json_schema"
    answers = [json.loads(m["content"]) for m in last["messages"] if m["role"] == "assistant"]
    assert answers == [json.loads(b"".join(_contents(reply))) for reply in script[:-1]]
    assert {m["role"] for m in last["messages"]} == {"system", "user", "assistant"}


def _contents(reply: list[Step]) -> list[bytes]:
    """The deltas of a scripted reply."""
    assert isinstance(reply[0], bytes)
    events = [line[6:] for line in reply[0].split(b"\n") if line.startswith(b"data: {")]
    choices = [choice for event in events for choice in json.loads(event)["choices"]]
    return [choice["delta"]["content"].encode() for choice in choices if "content" in choice["delta"]]


def test_arguments_that_do_not_fit_come_back_to_the_model() -> None:
    script = [said({"tool": "Peek", "arguments": {"wrong": 1}}), said({"tool": "Nope", "arguments": {}})]
    script.append(said({"final_answer": "ok"}))
    with RawServer(script) as server:
        provider = SchemaProvider(server.url)
        parts = Parts(provider, (Peek(),))
        parts.prompt("Do it.")

        async def run() -> Any:
            try:
                return await parts.engine.run()
            finally:
                await provider.close()

        assert asyncio.run(run()).text == "ok"
    assert [status for status, _ in parts.results()] == ["malformed", "unavailable"]
    told = [m["content"] for m in json.loads(server.requests[-1].body)["messages"] if m["role"] == "user"]
    assert told[-2].startswith("Result (malformed) of Peek:") and told[-1].startswith("Result (unavailable) of Nope:")

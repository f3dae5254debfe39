"""One provider, every wire: the same task against the scripted server, headers, faults, masking, and token counts."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from agenyx.config.profiles import Profile
from agenyx.core.events import Done, Failure, ModelEvent, Usage
from agenyx.core.messages import Entry, Reasoning, Step, Text, ToolCall, ToolResult, User
from agenyx.core.tools import ToolSpec
from agenyx.llm.anthropic_encode import strip_marks
from agenyx.llm.http import Client
from agenyx.llm.provider import HttpProvider, headers_of, messages_url, open_provider
from agenyx.llm.request import Options, Request
from agenyx.llm.stream import Retry
from support import raw_server, wires
from support.mock import Mock, mock_server
from support.raw_server import RawServer, plain

KEY = "sk-test-0123456789abcdef"
READ = ToolSpec(
    "Read",
    "Read a file.",
    {"type": "object", "properties": {"file_path": {"type": "string"}}, "required": ["file_path"]},
)
TASK = User((Text("Read them all."),))

PROFILES = {
    "chat": Profile("a", "openai_compatible", "/v1", KEY),
    "responses": Profile("b", "openai", "/v1", KEY, "responses"),
    "responses lenient": Profile("b", "openai_compatible", "/v1", KEY, "responses"),
    "azure": Profile("c", "azure_openai", "", KEY, "responses", "m", "a-deployment"),
    "azure dated": Profile("c", "azure_openai", "/openai", KEY, "responses", "m", "a-deployment", "2025-04-01-preview"),
    "anthropic": Profile("d", "anthropic", "", KEY, "anthropic"),
}
PATHS = {
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "responses lenient": "/v1/responses",
    "azure": "/openai/v1/responses",
    "azure dated": "/openai/responses?api-version=2025-04-01-preview",
    "anthropic": "/v1/messages",
}


def at(url: str, wire: str) -> Profile:
    return replace(PROFILES[wire], base_url=url + PROFILES[wire].base_url)


async def once(provider: HttpProvider, *entries: Entry) -> list[ModelEvent]:
    request = Request("m", Options(), (READ,), ("Be brief.",), entries, "head")
    return [event async for event in provider.stream(request)]


def ask(url: str, wire: str, *entries: Entry, **retry: Any) -> list[ModelEvent]:
    async def run() -> list[ModelEvent]:
        client = Client({})

        async def sleep(seconds: float) -> None:
            pass

        given: dict[str, Any] = {"sleep": sleep, "random": lambda: 0.0, "idle": 30.0, **retry}
        provider = open_provider(at(url, wire), "m", {}, client=client, retry=Retry(**given))
        try:
            return await once(provider, *(entries or (TASK,)))
        finally:
            await client.close()

    return asyncio.run(run())


def owned(done: Done, number: int) -> Step:
    """The response as a session keeps it, with results."""
    blocks = tuple(replace(b, id=f"id{number}") if isinstance(b, ToolCall) else b for b in done.assistant.blocks)
    assistant = replace(done.assistant, blocks=blocks)
    return Step(assistant, tuple(ToolResult(c.id, "ok", (Text(f"line {number}"),)) for c in assistant.calls))


@pytest.fixture(scope="module")
def mock() -> Iterator[Mock]:
    with mock_server() as server:
        yield server


@pytest.mark.parametrize("wire", PROFILES)
def test_a_task_of_twenty_calls_on_every_wire(mock: Mock, wire: str) -> None:
    mock.reset("tools-20", keep_bodies=True, files=["/a.py", "/b.py"])

    async def run() -> list[Entry]:
        provider = open_provider(at(mock.url, wire), "m", {})
        history: list[Entry] = [TASK]
        try:
            while True:
                done = (await once(provider, *history))[-1]
                assert isinstance(done, Done), done
                history.append(owned(done, len(history)))
                if done.assistant.stop != "calls":
                    return history
        finally:
            await provider.close()

    history = asyncio.run(run())
    steps = [entry.assistant for entry in history if isinstance(entry, Step)]
    assert [step.stop for step in steps] == ["calls"] * 20 + ["end"] and steps[-1].text == "BENCH-DONE"
    assert [json.loads(step.calls[0].args)["file_path"] for step in steps[:20]] == ["/a.py", "/b.py"] * 10
    log = mock.log()
    assert [entry["turn"] for entry in log] == list(range(21))
    assert {entry["path"] for entry in log} <= {PATHS[wire], PATHS[wire].partition("?")[0]}
    bodies = [strip_marks(body) for body in mock.bodies()]
    assert all(b.startswith(a.removesuffix(b"]}")) for a, b in itertools.pairwise(bodies))
    expected = "a-deployment" if "azure" in wire else "m"
    assert {json.loads(body)["model"] for body in bodies} == {expected}


# --- what goes out ---------------------------------------------------------------------------------------------------

DONE = raw_server.STREAM_HEAD


def streamed(events: list[dict[str, Any]]) -> bytes:
    return DONE + b"".join(raw_server.chunk(wires.named(event)) for event in events) + b"0\r\n\r\n"


def fine(wire: str) -> bytes:
    """An answer with one call and reasoning, on any wire."""
    if wire == "chat":
        payloads = [raw_server.reasoning("hm"), raw_server.call("Read", "{}"), raw_server.finish("tool_calls")]
        return raw_server.stream(*payloads, raw_server.usage(9, 2))
    if wire == "anthropic":
        blocks = [*wires.thinking_block(0, "Sig==", "hm"), *wires.call_block(1, "Read", "{}")]
        return streamed([wires.opened(), *blocks, *wires.closed("tool_use")])
    return streamed(wires.response(wires.thought("hm"), wires.function_call("Read", "{}", 1)))


@pytest.mark.parametrize("wire", PROFILES)
def test_where_and_with_which_headers(wire: str) -> None:
    with RawServer([[fine(wire)]]) as server:
        events = ask(server.url, wire)
    assert isinstance(events[-1], Done)
    assert events[-1].assistant.binding == at(server.url, wire).fingerprint("m")
    seen = server.requests[0]
    assert seen.line == f"POST {PATHS[wire]} HTTP/1.1"
    keys = {name: seen.headers.get(name) for name in ("authorization", "api-key", "x-api-key") if name in seen.headers}
    expected = {"authorization": f"Bearer {KEY}"}
    if "azure" in wire:
        expected = {"api-key": KEY}
    elif wire == "anthropic":
        expected = {"x-api-key": KEY}
        assert seen.headers["anthropic-version"] == "2023-06-01"
    assert keys == expected
    assert seen.headers["accept"] == "text/event-stream" and seen.headers["content-type"] == "application/json"


@pytest.mark.parametrize("wire", ["responses", "azure", "anthropic"])
def test_reasoning_comes_back_to_the_server_byte_by_byte(wire: str) -> None:
    with RawServer([[fine(wire)]]) as server:
        done = ask(server.url, wire)[-1]
        assert isinstance(done, Done)
        (thought,) = [b for b in done.assistant.blocks if isinstance(b, Reasoning)]
        ask(server.url, wire, TASK, owned(done, 1))
    assert thought.opaque is not None and thought.opaque.json.encode() in server.requests[1].body
    assert (b"Sig==" if wire == "anthropic" else b"gAAA==") in server.requests[1].body


def test_a_version_in_the_base_url_is_not_doubled() -> None:
    assert messages_url("https://h/v1") == messages_url("https://h") == "https://h/v1/messages"


def test_without_a_key_there_is_no_credential_header() -> None:
    for wire, profile in PROFILES.items():
        assert not {"Authorization", "api-key", "x-api-key"} & set(headers_of(replace(profile, api_key=""), "x")), wire


# --- faults ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", PROFILES)
def test_a_busy_server_is_asked_again_with_the_same_bytes(wire: str) -> None:
    busy = plain(529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    with RawServer([[busy], [fine(wire)]]) as server:
        assert isinstance(ask(server.url, wire)[-1], Done)
    assert server.requests[0].body == server.requests[1].body


@pytest.mark.parametrize(
    ("wire", "key", "url"),
    [
        ("chat", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ("responses", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ("azure", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT"),
        ("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    ],
)
def test_remedies_name_what_such_a_profile_is_set_with(wire: str, key: str, url: str) -> None:
    with RawServer(
        [[plain(401, {"error": {"message": "bad key"}})], [plain(404, {"error": {"message": "no"}})]]
    ) as server:
        auth, missing = ask(server.url, wire)[-1], ask(server.url, wire)[-1]
    assert isinstance(auth, Failure) and auth.kind == "auth" and key in auth.fix
    assert isinstance(missing, Failure) and missing.kind == "not_found" and url in missing.fix
    assert ("deployment" in missing.fix) == (wire == "azure")


@pytest.mark.parametrize("wire", PROFILES)
def test_a_stream_that_ends_early_keeps_its_text_and_runs_no_call(wire: str) -> None:
    whole = fine(wire)
    cut = whole[: whole.rindex(b"Read") + 5]
    with RawServer([[cut, raw_server.CLOSE]]) as server:
        events = ask(server.url, wire)
    assert isinstance(events[-1], Failure) and events[-1].kind in ("truncated", "protocol")
    assert len(server.requests) == 1


@pytest.mark.parametrize("wire", ["responses", "anthropic"])
def test_a_document_in_place_of_a_stream_says_so(wire: str) -> None:
    document = {**wires.body(), "object": "response"} if wire == "responses" else {"type": "message", "content": []}
    with RawServer([[plain(200, document)]]) as server:
        found = ask(server.url, wire)[-1]
    assert isinstance(found, Failure) and found.kind == "protocol" and "document" in found.message


@pytest.mark.parametrize("wire", ["responses", "anthropic"])
def test_state_that_holds_the_key_is_dropped_as_a_whole_and_text_is_masked(wire: str) -> None:
    if wire == "responses":
        reply = streamed(
            wires.response(wires.thought("", f"x{KEY}"), wires.thought("b", place=1), wires.message(KEY, place=2))
        )
    else:
        blocks = [*wires.thinking_block(0, f"x{KEY}"), *wires.thinking_block(1, "s", "b"), *wires.text_block(2, KEY)]
        reply = streamed([wires.opened(), *blocks, *wires.closed()])
    with RawServer([[reply]]) as server:
        events = ask(server.url, wire)
    done = events[-1]
    assert isinstance(done, Done) and KEY not in repr(events) and done.assistant.text == "[REDACTED]"
    thoughts = [block for block in done.assistant.blocks if isinstance(block, Reasoning)]
    assert [thought.text for thought in thoughts] == ["", "b"]
    assert [thought.opaque is None for thought in thoughts] == [True, False]


# --- token counts: cached tokens once on every wire ------------------------------------------------------------------

CHAT = {"prompt_tokens": 1000, "completion_tokens": 50}
SAID = [raw_server.content("x"), raw_server.finish()]
RESPONSES_COUNTS = {
    "input_tokens": 1000,
    "input_tokens_details": {"cached_tokens": 600},
    "output_tokens": 50,
    "output_tokens_details": {"reasoning_tokens": 30},
    "total_tokens": 1050,
}


def chat(**counts: Any) -> bytes:
    return raw_server.stream(*SAID, {"choices": [], "usage": {**CHAT, **counts}})


def responses(**counts: Any) -> bytes:
    return streamed(wires.response(wires.message("x"), usage={**RESPONSES_COUNTS, **counts}))


THOUGHT = {"completion_tokens_details": {"reasoning_tokens": 30}}
CACHED = {"prompt_tokens_details": {"cached_tokens": 600}, **THOUGHT}
READ_COUNTS = {"input_tokens": 400, "cache_read_input_tokens": 600}
LAST_COUNTS: dict[str, Any] = {**READ_COUNTS, "output_tokens": 50, "output_tokens_details": {"thinking_tokens": 30}}

GOLDEN = {
    "openai chat": ("chat", chat(**CACHED)),
    "deepseek": ("chat", chat(prompt_cache_hit_tokens=600, prompt_cache_miss_tokens=400, **THOUGHT)),
    "kimi": ("chat", chat(cached_tokens=600, **THOUGHT)),
    "openrouter": ("chat", chat(cost=0.1, **CACHED)),
    "openai responses": ("responses", responses()),
    "azure": ("azure", responses()),
    "anthropic": (
        "anthropic",
        streamed([wires.opened(**READ_COUNTS), *wires.text_block(0, "x"), *wires.closed(**LAST_COUNTS)]),
    ),
}


@pytest.mark.parametrize("provider", GOLDEN)
def test_cached_tokens_are_counted_once_on_every_wire(provider: str) -> None:
    wire, reply = GOLDEN[provider]
    with RawServer([[reply]]) as server:
        events = ask(server.url, wire)
    assert isinstance(events[-1], Done)
    assert [e for e in events if isinstance(e, Usage)] == [Usage(fresh=400, cache_read=600, out=50, reasoning=30)]

"""A provider against real sockets: what a person is told, what is retried, and what a hostile server cannot do."""

from __future__ import annotations

import asyncio
import email.utils
import itertools
import json
import ssl
import threading
import time
from typing import Any

import pytest
import trustme

from agenyx.config.profiles import Profile
from agenyx.core.events import Done, Failure, ModelEvent, TextDelta, Usage
from agenyx.core.messages import Assistant, Text, ToolResult, User
from agenyx.core.messages import Step as Exchange
from agenyx.core.redact import MASK
from agenyx.llm.http import Client
from agenyx.llm.provider import open_provider
from agenyx.llm.request import Options, Request
from agenyx.llm.stream import Retry, retry_after
from agenyx.llm.throttle import Throttle
from support.raw_server import (
    CLIENT_GONE,
    CLOSE,
    DEADLINE,
    FLOOD,
    RESET,
    RawServer,
    Step,
    Until,
    begin,
    call,
    chunk,
    content,
    event,
    finish,
    head,
    plain,
    reasoning,
    stream,
    usage,
)

FINE = stream(content("Hello"), content(" there"), finish(), usage(9, 2))


def last(events: list[ModelEvent]) -> Any:
    assert sum(isinstance(found, Done | Failure) for found in events) == 1
    assert isinstance(events[-1], Done | Failure)
    return events[-1]


def ask(bench: Any, *replies: bytes | list[Step], **more: Any) -> tuple[list[ModelEvent], RawServer]:
    script = [[reply] if isinstance(reply, bytes) else reply for reply in replies]
    with RawServer(script) as server:
        return bench.ask(server.url, **more), server


# --- a good answer ---------------------------------------------------------------------------------------------------


def test_an_answer(bench: Any) -> None:
    events, server = ask(bench, FINE)
    assert bench.text(events) == "Hello there"
    assert Usage(fresh=9, out=2) in events
    done = last(events)
    assert (done.assistant.text, done.assistant.stop, done.assistant.model) == ("Hello there", "end", "served-model")
    assert done.assistant.binding == Profile("openai", "openai_compatible", server.url + "/v1").fingerprint("a-model")
    seen = server.requests[0]
    assert seen.line == "POST /v1/chat/completions HTTP/1.1"
    assert seen.headers["authorization"] == f"Bearer {bench.key}"
    assert seen.headers["user-agent"].startswith("agenyx/")
    assert seen.headers["accept"] == "text/event-stream" and "accept-encoding" not in seen.headers
    assert seen.json["model"] == "a-model" and seen.json["stream"] is True


def test_without_a_key_there_is_no_authorization(bench: Any) -> None:
    _, server = ask(bench, FINE, key="")
    assert "authorization" not in server.requests[0].headers


def test_steps_share_a_connection_and_grow_a_prefix(bench: Any) -> None:
    async def run(url: str) -> None:
        provider = open_provider(Profile("x", "openai_compatible", url + "/v1", bench.key), "m", {})
        entries: list[Any] = [User((Text("go"),))]
        for turn in range(3):
            request = Request("m", Options(), (), (), tuple(entries))
            events = [found async for found in provider.stream(request)]
            made: Assistant = last(events).assistant
            calls = tuple(
                type(block)(f"our{turn}", block.wire_id, block.name, block.args) if block in made.calls else block
                for block in made.blocks
            )
            results = (ToolResult(f"our{turn}", "ok", (Text("done"),)),)
            entries.append(Exchange(Assistant(calls, made.stop), results))
        await provider.close()

    with RawServer([[stream(call("Read", '{"a": broken', "same"), finish("tool_calls"))]]) as server:
        asyncio.run(run(server.url))
    assert {seen.connection for seen in server.requests} == {0}
    bodies = [seen.body for seen in server.requests]
    assert all(after.startswith(before[:-2]) for before, after in itertools.pairwise(bodies))
    asked = [c for m in json.loads(bodies[-1])["messages"] for c in m.get("tool_calls", [])]
    assert len({c["id"] for c in asked}) == 2 and {c["function"]["arguments"] for c in asked} == {"{}"}


def test_the_connection_is_kept_although_the_last_chunk_comes_late(bench: Any) -> None:
    """The answer is there at its end mark; the end of the HTTP body may come later, and is read in the background."""
    late = Until(threading.Event())

    async def run(url: str) -> None:
        client = Client({})
        provider = open_provider(Profile("x", "openai_compatible", url + "/v1"), "m", {}, client=client)
        request = Request("m", Options(), (), (), (User((Text("go"),)),))
        assert bench.text([found async for found in provider.stream(request)]) == "x"
        late.event.set()
        await client.settle()
        assert bench.text([found async for found in provider.stream(request)]) == "Hello there"
        await client.close()

    with RawServer([[begin(content("x"), finish(), "[DONE]"), late, b"0\r\n\r\n"], [FINE]]) as server:
        asyncio.run(run(server.url))
        assert [seen.connection for seen in server.requests] == [0, 0]


def test_a_server_that_answers_with_one_document(bench: Any) -> None:
    message = {"role": "assistant", "content": "whole"}
    document = {"id": "1", "choices": [{"message": message, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1}}
    events, _ = ask(bench, plain(200, json.dumps(document, indent=2)))
    assert last(events).assistant.text == "whole" and bench.text(events) == "whole"
    assert last(ask(bench, plain(200, {"error": {"message": "no such thing"}}))[0]).kind == "server"


def test_reasoning_a_lone_surrogate_and_an_empty_answer(bench: Any) -> None:
    events, _ = ask(bench, stream(reasoning("hm"), rb'{"choices":[{"delta":{"content":"a\ud800"}}]}', finish()))
    assert (bench.reasoning(events), bench.text(events)) == ("hm", "a\ufffd")
    assert last(ask(bench, stream(finish()))[0]).assistant.blocks == ()


def test_length_in_a_call(bench: Any) -> None:
    events, _ = ask(bench, stream(content("x"), call("Write", '{"content": "aaa'), finish("length")))
    assert (last(events).assistant.blocks, last(events).assistant.stop) == ((Text("x"),), "length")


def test_a_key_in_the_answer_is_masked_wherever_it_is_cut(bench: Any) -> None:
    pieces = [content(c) for c in f"key: {bench.key}!"]
    arguments = json.dumps({"command": f"curl -H {bench.key}"})
    events, _ = ask(bench, stream(*pieces, call("Bash", arguments), finish("tool_calls")))
    done = last(events).assistant
    assert bench.text(events) == done.text == f"key: {MASK}!"
    assert json.loads(done.calls[0].args) == {"command": f"curl -H {MASK}"}
    assert bench.key not in repr(events)


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "error", "kind", "words"),
    [
        (401, {"message": "Incorrect API key provided"}, "auth", ["OPENAI_API_KEY", "Incorrect"]),
        (403, {"message": "no access"}, "auth", ["OPENAI_API_KEY"]),
        (404, {"message": "The model does not exist"}, "not_found", ["/v1/chat/completions", "a-model", "--model"]),
        (400, {"message": "bad parameter"}, "invalid", ["bad parameter"]),
        (422, {"message": "bad parameter"}, "invalid", ["bad parameter"]),
        (400, {"message": "too long", "code": "context_length_exceeded"}, "overflow", ["larger context"]),
        (400, {"message": "prompt is too long: 9 tokens > 8 maximum"}, "overflow", []),
        (
            400,
            {"message": "the request exceeds the available context size", "type": "exceed_context_size_error"},
            "overflow",
            [],
        ),
        (413, {"message": "payload"}, "overflow", []),
        (402, {"message": "pay"}, "quota", ["billing"]),
        (429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}, "quota", ["billing"]),
        (418, {"message": "teapot"}, "invalid", ["418"]),
    ],
)
def test_a_refusal_is_not_retried_and_says_what_to_do(
    bench: Any, status: int, error: Any, kind: str, words: list[str]
) -> None:
    events, server = ask(bench, plain(status, {"error": error}))
    failed = last(events)
    assert (failed.kind, failed.retryable, len(server.requests), bench.slept) == (kind, False, 1, [])
    assert failed.fix
    for word in words:
        assert word in f"{failed.message} {failed.fix}"


def test_foreign_text_in_an_error_is_short_one_line_and_masked(bench: Any) -> None:
    failed = last(ask(bench, plain(400, {"error": {"message": f"no\n\n  {bench.key} " + "x" * 5000}}))[0])
    assert "\n" not in failed.message and len(failed.message) < 400
    assert bench.key not in failed.message and MASK in failed.message
    html = "<html><style>p{}</style><body><h1>502</h1>Bad <b>gateway</b></body></html>"
    assert "Bad gateway" in last(ask(bench, plain(400, html, kind="text/html"))[0]).message
    for body in (b"", b"\xff\xfe", b"[]", b"null", b'"just text"', b'{"error": 7}', b'{"detail": [{"msg": "x"}]}'):
        assert last(ask(bench, plain(400, body))[0]).kind == "invalid"


def test_the_body_of_an_error_is_not_read_without_end(bench: Any) -> None:
    with RawServer([[head(400, "Content-Length: 999999999999"), FLOOD]]) as server:
        assert last(bench.ask(server.url)).kind == "invalid"
        assert server.gone.wait(DEADLINE)
        assert server.flooded < 64 << 20  # what the kernel's buffers may hold, and far from what fits into seconds


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(bench: Any, status: int) -> None:
    with RawServer([[FINE]]) as elsewhere:
        events, server = ask(bench, plain(status, b"", f"Location: {elsewhere.url}/v1/chat/completions"))
        assert not elsewhere.requests
    failed = last(events)
    assert (failed.kind, len(server.requests)) == ("protocol", 1)
    assert "redirect" in failed.message and elsewhere.url in failed.message and "OPENAI_BASE_URL" in failed.fix


def test_a_web_page_in_place_of_a_stream(bench: Any) -> None:
    failed = last(ask(bench, plain(200, "<html>Welcome</html>", kind="text/html; charset=utf-8"))[0])
    assert failed.kind == "protocol" and "/v1" in failed.fix


# --- retries ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault",
    [
        [plain(429, {"error": {"message": "slow down"}})],
        [plain(408, b"")],
        [plain(409, b"")],
        [plain(500, b"oops")],
        [plain(503, b"")],
        [plain(529, b"")],
        [CLOSE],
        [RESET],
        [b"HTTP/1.1 200 OK\r\n", CLOSE],
        [begin(), CLOSE],
        [head(200, "Content-Type: text/event-stream", "Content-Length: 0")],
        [stream({"error": {"message": "Overloaded", "code": 529}})],
        [stream()],
    ],
)
def test_what_came_to_nothing_is_sent_again_with_the_same_bytes(bench: Any, fault: list[Step]) -> None:
    events, server = ask(bench, fault, fault, FINE)
    assert last(events).assistant.text == "Hello there"
    retries = bench.retries(events)
    assert [(r.attempt, r.limit, r.delay) for r in retries] == [(1, 10, 1.0), (2, 10, 2.0)]
    assert all(r.reason for r in retries) and bench.slept == [1.0, 2.0]
    assert len({seen.body for seen in server.requests}) == 1 and len(server.requests) == 3


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ([b"HTTP/1.1 two hundred\r\n\r\n"], "protocol"),
        ([b"garbage"], "protocol"),
        ([stream("not json")], "protocol"),
        ([head(200, "Transfer-Encoding: gzip")], "protocol"),
    ],
)
def test_what_is_no_answer_at_all_is_not_sent_again(bench: Any, fault: list[Step], kind: str) -> None:
    events, server = ask(bench, fault)
    assert (last(events).kind, len(server.requests)) == (kind, 1)


@pytest.mark.parametrize(
    ("rest", "kind"),
    [
        ([CLOSE], "truncated"),
        ([RESET], "truncated"),
        ([b"0\r\n\r\n"], "truncated"),
        ([b"zz\r\n"], "protocol"),
        ([b"ff\r\ndata: {", CLOSE], "truncated"),
        ([chunk(event("{broken"))], "protocol"),
        ([chunk(event({"error": {"message": "Overloaded"}}))], "busy"),
        ([CLIENT_GONE], "idle"),
    ],
)
def test_a_fault_after_the_first_event_keeps_the_text_and_is_not_retried(
    bench: Any, rest: list[Step], kind: str
) -> None:
    events, server = ask(bench, [begin(content("par"), content("tial")), *rest], idle=0.5)
    assert bench.text(events) == "partial"
    assert (last(events).kind, bench.slept, len(server.requests)) == (kind, [], 1)


def test_a_short_content_length_is_noticed(bench: Any) -> None:
    body = event(content("partial"))
    events, _ = ask(
        bench, [head(200, "Content-Type: text/event-stream", f"Content-Length: {len(body) + 50}") + body, CLOSE]
    )
    assert bench.text(events) == "partial" and last(events).kind == "truncated"


def test_slow_headers_trip_the_watchdog_and_are_retried(bench: Any) -> None:
    events, server = ask(bench, [b"HTTP/1.1 200 OK\r\nContent-", CLIENT_GONE], FINE, idle=0.5)
    assert last(events).assistant.text == "Hello there" and len(bench.retries(events)) == 1
    assert server.gone.wait(DEADLINE)


def test_delays_double_up_to_a_cap_and_ten_retries_are_the_limit(bench: Any) -> None:
    events, server = ask(bench, plain(500, b"oops"), window=1000.0)
    assert bench.slept == [1, 2, 4, 8, 16, 32, 32, 32, 32, 32]
    assert (last(events).kind, len(server.requests)) == ("server", 11)


def test_the_planned_delays_fit_a_window(bench: Any) -> None:
    events, _ = ask(bench, plain(503, b""))
    assert bench.slept == [1, 2, 4, 8, 16, 32, 32] and sum(bench.slept) <= 120
    assert last(events).kind == "busy"


def test_full_jitter(bench: Any) -> None:
    draws = iter([0.0, 0.5])
    ask(bench, plain(503, b""), plain(503, b""), FINE, random=lambda: next(draws))
    assert bench.slept == [0.0, 1.0]
    assert all(0 <= Retry().random() < 1 for _ in range(100))


def test_retry_after_is_a_floor(bench: Any) -> None:
    ask(bench, plain(429, b"", "Retry-After: 7"), plain(429, b"", "Retry-After: 1"), FINE)
    assert bench.slept == [7.0, 2.0]


def test_a_wait_that_does_not_fit_is_told_at_once(bench: Any) -> None:
    events, server = ask(bench, plain(500, b"", "Retry-After: 3600"))
    failed = last(events)
    assert (failed.kind, failed.retry_after, failed.retryable) == ("busy", 3600.0, True)
    assert (bench.slept, len(server.requests)) == ([], 1) and "3600" in failed.fix


@pytest.mark.parametrize(("status", "said", "times"), [(400, "true", 2), (500, "false", 1), (429, "false", 1)])
def test_the_server_may_say_whether_to_retry(bench: Any, status: int, said: str, times: int) -> None:
    _, server = ask(bench, plain(status, b"", f"x-should-retry: {said}"), FINE)
    assert len(server.requests) == times


def test_retry_after_in_every_form() -> None:
    assert retry_after({"retry-after": "1.5"}) == 1.5
    assert retry_after({"retry-after-ms": "250", "retry-after": "9"}) == 0.25
    at = retry_after({"retry-after": email.utils.formatdate(time.time() + 1000, usegmt=True)})
    assert at is not None and 900 < at <= 1000
    assert retry_after({"retry-after": email.utils.formatdate(0, usegmt=True)}) == 0.0
    for odd in ("", "soon", "-5", "inf", "nan", "1e3", "٣", "Wed, 99 Nov"):
        assert retry_after({"retry-after": odd}) is None


def test_nothing_listens_is_told_soon(bench: Any) -> None:
    with RawServer([[FINE]]) as server:
        pass
    events = bench.ask(server.url)
    assert last(events).kind == "connect" and "start the server" in last(events).fix
    assert len(bench.slept) == 2


def test_a_proxy_that_is_not_there_is_told_soon_and_by_its_own_name(bench: Any) -> None:
    with RawServer([[FINE]]) as server:
        pass
    events = bench.ask("https://api.example", env={"HTTPS_PROXY": server.url})
    assert last(events).kind == "connect" and "HTTPS_PROXY" in last(events).fix
    assert f"the proxy 127.0.0.1:{server.port}" in last(events).message
    assert len(bench.slept) == 2


# --- TLS, cancelling -------------------------------------------------------------------------------------------------


def test_an_unknown_certificate_is_not_retried_and_names_the_way_out(bench: Any, tmp_path: Any) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    with RawServer([[FINE]], context) as server:
        failed = last(bench.ask(server.url))
        assert (failed.kind, bench.slept) == ("tls", []) and "SSL_CERT_FILE" in failed.fix
        path = str(tmp_path / "ca.pem")
        authority.cert_pem.write_to_path(path)
        assert bench.text(bench.ask(server.url, env={"SSL_CERT_FILE": path})) == "Hello there"


def test_cancelling_the_consumer_closes_the_connection(bench: Any) -> None:
    async def run(url: str) -> None:
        client = Client({})
        provider = open_provider(Profile("x", "openai_compatible", url + "/v1"), "m", {}, client=client)
        first = asyncio.Event()

        async def consume() -> None:
            async for found in provider.stream(Request("m", Options(), (), (), (User((Text("go"),)),))):
                if isinstance(found, TextDelta):
                    first.set()

        task = asyncio.create_task(consume())
        await first.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.gone.wait, DEADLINE)
        await client.close()

    with RawServer([[begin(content("x")), CLIENT_GONE]]) as server:
        asyncio.run(run(server.url))


def test_cancelling_while_waiting_for_a_retry(bench: Any) -> None:
    async def run(url: str) -> None:
        waiting = asyncio.Event()

        async def sleep(_: float) -> None:
            waiting.set()
            await asyncio.Event().wait()

        profile = Profile("x", "openai_compatible", url + "/v1")
        provider = open_provider(profile, "m", {}, retry=bench.retry(sleep=sleep))

        async def consume() -> None:
            async for _ in provider.stream(Request("m", Options(), (), (), (User((Text("go"),)),))):
                pass

        task = asyncio.create_task(consume())
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await provider.close()

    with RawServer([[plain(503, b"")]]) as server:
        asyncio.run(run(server.url))
        assert len(server.requests) == 1


def test_one_request_that_is_told_to_wait_holds_the_others_back(bench: Any) -> None:
    """Three at a gate for one: the first is told to wait seven seconds, and nobody knocks before they are over."""
    now = [0.0]
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)
        now[0] += seconds

    gate = Throttle(1, lambda: now[0], sleep)
    busy = plain(429, {"error": {"message": "slow down"}}, "Retry-After: 7")

    async def run(url: str) -> list[str]:
        client = Client({})
        profile = Profile("x", "openai_compatible", f"{url}/v1")
        provider = open_provider(profile, "m", {}, client=client, retry=bench.retry(sleep=sleep), throttle=gate)
        request = Request("m", Options(), (), (), (User((Text("x"),)),))

        async def ask() -> str:
            return bench.text([found async for found in provider.stream(request)])

        try:
            return await asyncio.gather(ask(), ask(), ask())
        finally:
            await client.close()

    with RawServer([[busy], [FINE]]) as server:
        assert asyncio.run(run(server.url)) == ["Hello there"] * 3
        assert len(server.requests) == 4
    assert sum(waited) >= 7 and waited[0] == 7.0

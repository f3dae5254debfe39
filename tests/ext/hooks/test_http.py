"""Hooks that are addresses, against a real server, and the hosts that they never reach."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from agenyx.core.errors import AgenyxError
from agenyx.ext.hooks.http import HttpHook, checked
from agenyx.ext.hooks.model import OUTPUT_BYTES, Entry, HookResult
from support.raw_server import CLIENT_GONE, CLOSE, FLOOD, RawServer, Step

PAYLOAD = b'{"hook_event_name":"PreToolUse"}\n'


def reply(body: str, status: str = "200 OK", *more: str) -> list[Step]:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *more, "", ""]
    return ["\r\n".join(lines).encode() + body.encode(), CLOSE]


def run(url: str, env: dict[str, str] | None = None, keys: tuple[str, ...] = (), **more: Any) -> HookResult:
    one = Entry("PreToolUse", "http", url=url, **more)
    return asyncio.run(HttpHook(one, env or {}, keys).run(PAYLOAD))


def test_the_payload_is_posted_and_the_body_is_the_answer() -> None:
    with RawServer([reply('{"decision":"block"}')]) as server:
        found = run(f"{server.url}/hook?x=1")
        (seen,) = server.requests
    assert found.output == '{"decision":"block"}'
    assert not found.failure
    assert seen.head.startswith(b"POST /hook?x=1 HTTP/1.1\r\n")
    assert b"content-type: application/json" in seen.head.lower()
    assert seen.body == PAYLOAD.strip()


def test_other_states_and_redirects_are_failures_and_are_not_followed() -> None:
    with RawServer([reply("no", "500 Internal Server Error"), reply("", "302 Found", "Location: /other")]) as server:
        assert run(server.url).failure == "it answered with status 500"
        assert run(server.url).failure == "it answered with status 302"
        assert len(server.requests) == 2


def test_a_server_that_is_silent_or_gone_fails_in_words() -> None:
    with RawServer([[CLIENT_GONE]]) as server:
        assert "no answer within 0.3 seconds" in run(server.url, timeout=0.3).failure
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        assert "cannot connect" in run(f"http://127.0.0.1:{unused.getsockname()[1]}/").failure


def test_a_flood_is_cut_off() -> None:
    with RawServer([[b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", FLOOD]]) as server:
        found = run(server.url, timeout=20)
        assert "more than 256 KiB" in found.failure
        assert server.gone.wait(20)
    assert len(found.output) <= OUTPUT_BYTES


def test_headers_get_the_variables_that_the_entry_names_and_no_others() -> None:
    headers = {"Authorization": "Bearer $HOOK_TOKEN", "X-Other": "a${SECRET}b", "Content-Length": "999"}
    env = {"HOOK_TOKEN": "t" * 20, "SECRET": "never"}
    with RawServer([reply("")]) as server:
        run(server.url, env, headers=headers, allowed=("HOOK_TOKEN",))
        head = server.requests[0].head
    assert b"Authorization: Bearer " + b"t" * 20 in head
    assert head.endswith(b"X-Other: ab")
    assert b"999" not in head


def test_no_key_of_a_provider_and_no_credential_for_a_workspace_leaves() -> None:
    with RawServer([reply("")]) as server:
        more: dict[str, Any] = {"headers": {"X": "$K"}, "allowed": ("K",)}
        assert "the key of a provider" in run(server.url, {"K": "k" * 20}, ("k" * 20,), **more).failure
        theirs: dict[str, Any] = {"headers": {"X": "$API_TOKEN"}, "allowed": ("API_TOKEN",), "origin": "workspace"}
        assert "gets no credentials" in run(server.url, {"API_TOKEN": "t" * 20}, **theirs).failure
        assert not server.requests


def test_a_value_cannot_end_a_header() -> None:
    with RawServer([reply("")]) as server:
        found = run(server.url, {"V": "a\r\nX-Evil: 1"}, headers={"X": "$V"}, allowed=("V",))
        assert "what a header cannot" in found.failure
        assert not server.requests


@pytest.mark.parametrize(
    "url",
    [
        "https://10.0.0.8/",
        "https://192.168.1.1/",
        "https://100.64.0.1/",
        "https://[fd00::1]/",
        "http://169.254.169.254/latest/",
        "https://metadata.google.internal/",
        "https://intranet/",
        "https://printer.local/",
        "http://example.org/",
        "ftp://example.org/",
        "https://user:pw@example.org/",
        "file:///etc/passwd",
        "http://0x7f.1/",
    ],
)
def test_addresses_that_are_never_reached(url: str) -> None:
    with pytest.raises(AgenyxError):
        checked(url)
    assert run(url).failure


@pytest.mark.parametrize("number", ["10.1.2.3", "127.0.0.1", "169.254.169.254", "100.64.0.1"])
def test_a_public_name_that_leads_into_a_private_network_is_not_followed(number: str) -> None:
    async def resolve(host: str) -> list[tuple[int, str]]:
        return [(int(socket.AF_INET), number)]

    one = Entry("PreToolUse", "http", url="https://hooks.example.org/")
    found = asyncio.run(HttpHook(one, {}, (), resolve).run(PAYLOAD))
    assert number in found.failure


def test_no_proxy_of_the_environment_is_used() -> None:
    with RawServer([reply("{}")]) as proxy, RawServer([reply("direct")]) as server:
        env = {"HTTP_PROXY": proxy.url, "HTTPS_PROXY": proxy.url, "http_proxy": proxy.url}
        assert run(server.url, env).output == "direct"
        assert not proxy.requests

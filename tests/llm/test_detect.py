"""Servers on this machine are known by what they answer; nothing else is asked, and nothing waits."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack

import pytest
from msgspec.structs import replace

from agenyx.config.profiles import Profile
from agenyx.llm.detect import IDS, PROBES, detect
from support.raw_server import CLOSE, FLOOD, RawServer, Step, Until, head, plain

OLLAMA = plain(200, {"version": "0.12.6"})
LLAMA = plain(200, {"object": "list", "data": [{"id": "m", "owned_by": "llamacpp"}]}, "Server: llama.cpp")
VLLM = plain(200, {"object": "list", "data": [{"id": "m", "owned_by": "vllm", "max_model_len": 4096}]})
LM_NEW = plain(200, {"models": [{"type": "llm", "publisher": "qwen", "key": "m"}]})
LM_OLD = plain(200, {"object": "list", "data": [{"id": "m", "type": "llm", "publisher": "q", "state": "loaded"}]})
OTHER = plain(200, {"object": "list", "data": [{"id": "m", "object": "model"}]})
MISSING = plain(404, b"")


def found(
    servers: dict[str, RawServer], env: dict[str, str] | None = None, only: str = "", seconds: float = 5.0
) -> list[Profile]:
    """Every kind that has no server here is looked for on a port where nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        free = taken.getsockname()[1]
    probes = [replace(probe, port=servers[probe.id].port if probe.id in servers else free) for probe in PROBES]
    return asyncio.run(detect(env or {}, only, probes, seconds))


@pytest.mark.parametrize(
    ("kind", "script", "known"),
    [
        ("ollama", [OLLAMA], True),
        ("llamacpp", [LLAMA], True),
        ("llamacpp", [plain(200, {"data": [{"id": "m", "owned_by": "llamacpp"}]})], True),
        ("llamacpp", [plain(200, {"data": []}, "Server: llama.cpp")], True),
        ("vllm", [VLLM], True),
        ("lmstudio", [LM_NEW], True),
        ("lmstudio", [LM_OLD], True),
        ("ollama", [OTHER], False),
        ("ollama", [plain(200, b"Ollama", kind="text/plain")], False),
        ("ollama", [plain(200, b'{"version": 7}')], False),
        ("ollama", [plain(401, {"version": "0.1"})], False),
        ("llamacpp", [VLLM], False),
        ("llamacpp", [OTHER], False),
        ("vllm", [LLAMA], False),
        ("vllm", [plain(200, b"<html>", kind="text/html")], False),
        ("vllm", [plain(200, b"[]")], False),
        ("vllm", [plain(302, b"", "Location: http://elsewhere/")], False),
        ("lmstudio", [OTHER], False),
        ("lmstudio", [plain(200, {"models": []})], False),
        ("vllm", [CLOSE], False),
        ("vllm", [head(200, "Content-Type: application/json", "Connection: close"), FLOOD], False),
    ],
)
def test_fingerprints(kind: str, script: list[Step], known: bool) -> None:
    with RawServer([script]) as server:
        profiles = found({kind: server})
    assert [profile.id for profile in profiles] == ([kind] if known else [])
    if known:
        assert profiles[0].base_url == f"http://127.0.0.1:{server.port}/v1"
        assert (profiles[0].type, profiles[0].wire, profiles[0].api_key) == ("openai_compatible", "chat", "")
    assert all(request.line.startswith("GET ") and not request.body for request in server.requests), "no prompt is sent"


def test_the_order_is_fixed_and_one_can_be_asked_for() -> None:
    answers: dict[str, Sequence[Step]] = {"vllm": [VLLM], "ollama": [OLLAMA], "llamacpp": [LLAMA], "lmstudio": [LM_NEW]}
    with ExitStack() as stack:
        servers = {kind: stack.enter_context(RawServer([list(script)])) for kind, script in answers.items()}
        assert tuple(profile.id for profile in found(servers)) == IDS == ("ollama", "llamacpp", "lmstudio", "vllm")
        asked = {kind: len(server.requests) for kind, server in servers.items()}
        assert [profile.id for profile in found(servers, only="vllm")] == ["vllm"]
        assert len(servers["ollama"].requests) == asked["ollama"], "the others were left alone"


@pytest.mark.parametrize(
    "form", ["127.0.0.1:{port}", "0.0.0.0:{port}", "http://localhost:{port}", "http://0.0.0.0:{port}/"]
)
def test_ollama_host_moves_it(form: str) -> None:
    with RawServer([[OLLAMA]]) as server:
        profiles = found({}, {"OLLAMA_HOST": form.format(port=server.port)})
    assert [profile.id for profile in profiles] == ["ollama"]


@pytest.mark.parametrize("host", ["box.example:11434", "http://10.0.0.7", "https://localhost", "http://[::1", "a:b:c"])
def test_nothing_beyond_this_machine_is_asked(host: str) -> None:
    begun = time.monotonic()
    assert found({}, {"OLLAMA_HOST": host}) == []
    assert time.monotonic() - begun < 5


def test_a_server_that_says_nothing_is_not_waited_for() -> None:
    never = threading.Event()
    with RawServer([[Until(never)]]) as silent, RawServer([[VLLM]]) as server:
        assert found({"ollama": silent, "lmstudio": silent, "vllm": server}, seconds=1.0)[0].id == "vllm"
        never.set()

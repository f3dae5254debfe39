"""A real llama.cpp server, on its chat, Responses and Messages endpoints, with a real model.

Runs where the runtime (xllamacpp) is installed and AGENYX_TEST_GGUF names a model file that can call tools;
AGENYX_TEST_TEMPLATE may name a chat template that replaces the file's own.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from agenyx.config.profiles import Profile
from agenyx.core.events import Done, Started, Usage
from agenyx.core.messages import Entry, Reasoning, Step, Text, ToolCall, ToolResult, User
from agenyx.core.tools import ToolSpec
from agenyx.llm.provider import open_provider
from agenyx.llm.request import Options, Request

MODEL = os.environ.get("AGENYX_TEST_GGUF", "")
TEMPLATE = os.environ.get("AGENYX_TEST_TEMPLATE", "")

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("xllamacpp") is None, reason="the runtime xllamacpp is not installed"),
    pytest.mark.skipif(not MODEL, reason="AGENYX_TEST_GGUF names no model file"),
]

PROGRAM = """
import os, sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 4096
params.n_parallel = 1
params.n_gpu_layers = 0
params.use_jinja = True
if sys.argv[2]:
    params.chat_template = open(sys.argv[2]).read()
params.ui = False
server = xllamacpp.Server(params)
os.write(1, ("\\nREADY " + server.listening_address + "\\n").encode())
sys.stdin.read()
"""

READ = ToolSpec(
    "Read",
    "Read a file of the project.",
    {"type": "object", "properties": {"file_path": {"type": "string"}}, "required": ["file_path"]},
)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    child = subprocess.Popen(
        [sys.executable, "-I", "-c", PROGRAM, MODEL, TEMPLATE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdout is not None
    try:
        line = next((line for line in child.stdout if line.startswith("READY ")), "")
        assert line, "the server did not start"
        yield line.split()[1]
    finally:
        child.kill()
        child.wait()


def ask(url: str, wire: Any, *entries: Entry) -> list[Any]:
    profile = Profile("x", "anthropic" if wire == "anthropic" else "openai_compatible", url + "/v1", "", wire)

    async def run() -> list[Any]:
        provider = open_provider(profile, "m", {})
        try:
            options = Options(temperature=0.0, max_output=40)
            request = Request("m", options, (READ,), ("You are a coding agent. Be brief.",), entries)
            return [event async for event in provider.stream(request)]
        finally:
            await provider.close()

    return asyncio.run(run())


ASKED = User((Text("Read the file colour.txt with the Read tool."),))
CALL = ToolCall("id1", "call_1", "Read", '{"file_path": "colour.txt"}')


@pytest.mark.parametrize("wire", ["chat", "responses", "anthropic"])
def test_a_call_and_an_answer(server: str, wire: str) -> None:
    first = ask(server, wire, ASKED)
    assert isinstance(first[0], Started) and isinstance(first[-1], Done), first
    done = first[-1].assistant
    assert done.stop in ("calls", "end", "length") and (done.calls or done.text)
    (counts,) = [event for event in first if isinstance(event, Usage)]
    assert counts.fresh + counts.cache_read > 50 and 0 < counts.out <= 41
    for call in done.calls:
        assert call.name == "Read" and isinstance(json.loads(call.args), dict)

    # Its own answer where it called, else the call that it should have made.
    made = done.calls[0] if done.calls else CALL
    own = ToolCall("id1", made.wire_id, made.name, made.args, made.opaque)
    kept = tuple(block for block in done.blocks if isinstance(block, Reasoning))
    assistant = replace(done, blocks=(*kept, Text("I read it."), own), stop="calls")
    result = ToolResult("id1", "ok", (Text("The colour is green."),))
    history = [ASKED, Step(assistant, (result,)), User((Text("Which colour does the file name? One word, no tool."),))]
    second = ask(server, wire, *history)
    assert isinstance(second[-1], Done), second
    assert "green" in second[-1].assistant.text.lower()

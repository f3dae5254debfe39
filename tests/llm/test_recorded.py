"""What a real llama.cpp server sent on its Responses and Messages endpoints, byte by byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agenyx.core.events import Done, Usage
from agenyx.llm.anthropic_decode import AnthropicDecoder
from agenyx.llm.failures import Target
from agenyx.llm.responses_decode import ResponsesDecoder
from agenyx.llm.stream import Decoder
from support.wires import decode, sum_up

TARGET = Target("http://127.0.0.1:8080/v1", "127.0.0.1", "m", False)
GOLDEN = Path(__file__).parent / "golden"

STREAMS: dict[str, tuple[Callable[[], Decoder], Usage]] = {
    "llama_cpp_responses.sse": (
        lambda: ResponsesDecoder(TARGET, "b", strict=False),
        Usage(577, 0, 0, 22),
    ),
    "llama_cpp_anthropic.sse": (lambda: AnthropicDecoder(TARGET, "b"), Usage(1, 576, 0, 22)),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_recorded_call(name: str) -> None:
    decoder, counts = STREAMS[name]
    raw = (GOLDEN / name).read_bytes()
    whole = decode(decoder(), [raw])
    done = whole[-1]
    assert isinstance(done, Done) and (done.assistant.stop, done.assistant.model) == ("calls", "model.gguf")
    (call,) = done.assistant.calls
    assert (call.name, call.args) == ("Read", '{"file_path": "colour.txt"}') and call.wire_id
    assert [event for event in whole if isinstance(event, Usage)] == [counts]
    for cut in range(len(raw) + 1):
        assert sum_up(decode(decoder(), [raw[:cut], raw[cut:]])) == sum_up(whole), cut

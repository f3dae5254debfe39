"""Messages streams: the same result at every split, thinking with its signature, and figures that are not summed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agenyx.core.events import CallDraft, Done, Failure, ModelEvent, ReasoningDelta, Started, TextDelta, Usage
from agenyx.core.messages import Assistant, Opaque, Reasoning, Text, ToolCall
from agenyx.llm.anthropic_decode import AnthropicDecoder
from agenyx.llm.anthropic_wire import THINKING
from agenyx.llm.failures import Target
from support.wires import block, call_block, closed, decode, named, opened, sum_up, text_block, thinking_block

TARGET = Target("https://api.anthropic.com/v1/messages", "api.anthropic.com", "asked-model", True)
Events = list[dict[str, Any]]


def lines(*payloads: dict[str, Any]) -> bytes:
    return b"".join(map(named, payloads))


def answer(*events: dict[str, Any]) -> Assistant:
    last = decode(AnthropicDecoder(TARGET, "bound"), [lines(*events)])[-1]
    assert isinstance(last, Done), last
    return last.assistant


def failure(raw: bytes) -> Failure:
    last = decode(AnthropicDecoder(TARGET, "bound"), [raw])[-1]
    assert isinstance(last, Failure), last
    return last


def usage(*events: dict[str, Any]) -> list[Usage]:
    return [e for e in decode(AnthropicDecoder(TARGET), [lines(*events)]) if isinstance(e, Usage)]


FULL = [
    opened(cache_read_input_tokens=80, cache_creation_input_tokens=5),
    {"type": "ping"},
    *thinking_block(0, "EqQB+/==", "Hm ", '"ä"'),
    *block(1, {"type": "redacted_thinking", "data": "abc=="}),
    *text_block(2, "Héllo ", "wörld 😀"),
    *call_block(3, "Read", "", '{"file_path": ', '"ä.py"}'),
    *call_block(4, "LS", ""),
    *closed("tool_use", output_tokens=33),
]

RECORDED = {
    "everything": lines(*FULL),
    "crlf and comments": b": hi\r\n\r\n" + lines(*FULL).replace(b"\n", b"\r\n"),
    "an end without its blank line": lines(opened(), *text_block(0, "a"), *closed())[:-2],
    "overloaded": lines(opened(), *text_block(0, "partial"))
    + lines({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
    "not JSON": lines(opened(), *text_block(0, "partial")) + b"data: {broken\n\n" + lines(*closed()),
    "cut": lines(opened(), *text_block(0, "partial")),
    "unknown kinds": lines(
        opened(),
        {"type": "new_event", "x": 1},
        *block(0, {"type": "server_tool_use", "id": "x", "name": "web_search"}, {"type": "new_delta"}),
        *block(1, {"type": "text", "text": "first "}, {"type": "text_delta", "text": "a"}, {"type": "citations_delta"}),
        *closed(),
    ),
}


@pytest.mark.parametrize("name", RECORDED)
def test_every_split_gives_the_same_response(name: str) -> None:
    raw = RECORDED[name]

    def parts(*pieces: bytes) -> Any:
        return sum_up(decode(AnthropicDecoder(TARGET, "bound"), list(pieces)))

    whole = parts(raw)
    for cut in range(len(raw) + 1):
        assert parts(raw[:cut], raw[cut:]) == whole, cut
    assert parts(*(raw[i : i + 1] for i in range(len(raw)))) == whole
    assert parts(*(raw[i : i + 97] for i in range(0, len(raw), 97))) == whole


def test_what_the_recorded_ones_say() -> None:
    shown, rest = sum_up(decode(AnthropicDecoder(TARGET, "bound"), [RECORDED["everything"]]))
    assert shown == {
        (ReasoningDelta, 0): 'Hm "ä"',
        (TextDelta, 2): "Héllo wörld 😀",
        (CallDraft, 3): '{"file_path": "ä.py"}',
        (CallDraft, 4): "{}",
    }
    assert rest == [
        Started("msg_1", "served-model"),
        Usage(fresh=10, cache_read=80, cache_write=5, out=33),
        Done(
            Assistant(
                (
                    Reasoning(
                        'Hm "ä"',
                        Opaque("bound", THINKING, '{"type":"thinking","thinking":"Hm \\"ä\\"","signature":"EqQB+/=="}'),
                    ),
                    Reasoning("", Opaque("bound", THINKING, '{"type":"redacted_thinking","data":"abc=="}')),
                    Text("Héllo wörld 😀"),
                    ToolCall("", "toolu_3", "Read", '{"file_path": "ä.py"}'),
                    ToolCall("", "toolu_4", "LS", "{}"),
                ),
                "calls",
                "served-model",
                binding="bound",
            )
        ),
    ]
    assert sum_up(decode(AnthropicDecoder(TARGET), [RECORDED["unknown kinds"]]))[0] == {(TextDelta, 0): "first a"}


def test_what_is_signed_goes_out_again_byte_by_byte() -> None:
    from agenyx.llm.anthropic_encode import AnthropicEncoder
    from agenyx.llm.dialects import MESSAGES_ANTHROPIC
    from support.wires import request, step

    thinking = 'a "quoted"\nline, ä 😀 \\ and \u2028 '
    found = answer(opened(), *thinking_block(0, "Sig+/=", thinking), *call_block(1, "LS", "{}"), *closed("tool_use"))
    again = step(*(ToolCall("1", b.wire_id, b.name, b.args) if isinstance(b, ToolCall) else b for b in found.blocks))
    sent = json.loads(AnthropicEncoder(MESSAGES_ANTHROPIC, "bound").encode(request(again)))
    assert sent["messages"][0]["content"][0] == {"type": "thinking", "thinking": thinking, "signature": "Sig+/="}


def test_thinking_without_a_signature_is_only_shown() -> None:
    found = answer(opened(), *block(0, {"type": "thinking", "thinking": "a"}), *text_block(1, "b"), *closed())
    assert found.blocks == (Reasoning("a"), Text("b"))


def test_a_call_that_comes_whole() -> None:
    content = {"type": "tool_use", "id": "t", "name": "LS", "input": {"path": "."}}
    assert answer(opened(), *block(0, content), *closed("tool_use")).calls[0].args == '{"path":"."}'


# --- ends ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("end_turn", "end"), ("stop_sequence", "end"), ("pause_turn", "end"), ("tool_use", "end"), ("new", "end"),
        ("max_tokens", "length"), ("model_context_window_exceeded", "length"), ("refusal", "refusal"),
    ],
)  # fmt: skip
def test_stop_reasons(reason: str, stop: str) -> None:
    assert answer(opened(), *text_block(0, "x"), *closed(reason)).stop == stop


def test_calls_make_it_calls() -> None:
    assert answer(opened(), *call_block(0, "LS", "{}"), *closed("end_turn")).stop == "calls"


@pytest.mark.parametrize("args", [(), ('{"a', ": 1"), ('{"a": 1',)])
def test_a_call_cut_at_the_limit_is_dropped(args: tuple[str, ...]) -> None:
    found = answer(opened(), *text_block(0, "x"), *call_block(1, "Read", *args), *closed("max_tokens"))
    assert (found.stop, found.blocks) == ("length", (Text("x"),))


def test_a_refusal_without_text_says_why() -> None:
    delta = {"stop_reason": "refusal", "stop_details": {"type": "refusal", "explanation": "Not that."}}
    found = answer(opened(), {"type": "message_delta", "delta": delta, "usage": {}}, {"type": "message_stop"})
    assert (found.stop, found.text) == ("refusal", "Not that.")


def test_the_response_is_done_at_its_last_event() -> None:
    decoder = AnthropicDecoder(TARGET)
    assert isinstance(decoder.feed(lines(opened(), *text_block(0, "x"), *closed()))[-1], Done)
    assert decoder.feed(lines(opened())) == [] and decoder.end() == []


def test_a_missing_last_event_after_the_stop_reason_is_forgiven_and_an_earlier_end_is_not() -> None:
    assert answer(opened(), *text_block(0, "x"), closed()[0]).text == "x"
    assert failure(lines(opened(), *text_block(0, "x"))).kind == "truncated"
    assert "before it began" in failure(b"").message


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, "busy", True),
        ({"type": "rate_limit_error", "message": "Too many"}, "busy", True),
        ({"type": "api_error", "message": "Internal server error"}, "server", True),
        ({"type": "authentication_error", "message": "invalid x-api-key"}, "auth", False),
        ({"type": "billing_error", "message": "Your credit balance is too low"}, "quota", False),
        ({"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}, "overflow", False),
    ],
)
def test_errors(error: dict[str, str], kind: str, retryable: bool) -> None:
    for events in ([opened(), {"type": "error", "error": error}], [{"type": "error", "error": error}]):
        found = failure(lines(*events))
        assert (found.kind, found.retryable) == (kind, retryable)


def test_an_error_that_is_only_text() -> None:
    assert "went wrong" in failure(lines({"type": "error", "message": "went wrong"})).message


WRONG: dict[str, Events] = {
    "no beginning": [*text_block(0, "x"), *closed()],
    "only an end": [{"type": "message_stop"}],
    "two beginnings": [opened(), opened()],
    "a beginning without a message": [{"type": "message_start"}],
    "a block twice": [opened(), *text_block(0, "x"), *text_block(0, "x")],
    "a delta of no block": [opened(), text_block(0, "x")[1]],
    "a delta of another kind": [opened(), text_block(0)[0], call_block(0, "LS", "{}")[1]],
    "a delta that is no text": [opened(), *block(0, {"type": "text"}, {"type": "text_delta", "text": 7})],
    "arguments that are no text": [opened(), *block(0, {"type": "tool_use"}, {"type": "input_json_delta"})],
    "a delta without content": [opened(), text_block(0)[0], {"type": "content_block_delta", "index": 0}],
    "a document": [{"type": "message", "content": [], "stop_reason": "end_turn"}],
    "no type": [opened(), {"x": 1}],
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_message_is_a_protocol_failure(name: str) -> None:
    found = failure(b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in WRONG[name]))
    assert found.kind == "protocol" and not found.retryable and found.fix


def test_limits() -> None:
    assert "larger" in failure(lines(opened(), *call_block(0, "Read", *["x" * 600_000] * 2))).message
    many = [event for i in range(300) for event in call_block(i, "LS")]
    assert "256 calls" in failure(lines(opened(), *many)).message


# --- usage -----------------------------------------------------------------------------------------------------------


def test_figures_are_cumulative_and_not_summed() -> None:
    events = [opened(cache_read_input_tokens=80), *text_block(0, "x")]
    first = {"type": "message_delta", "delta": {}, "usage": {"output_tokens": 3, "cache_read_input_tokens": None}}
    assert usage(*events, first, *closed(output_tokens=9)) == [Usage(fresh=10, cache_read=80, out=9)]
    assert usage(*events, *closed(input_tokens=12, output_tokens=9)) == [Usage(fresh=12, cache_read=80, out=9)]


def test_thinking_is_part_of_the_output() -> None:
    last: ModelEvent = usage(opened(), *closed(output_tokens=9, output_tokens_details={"thinking_tokens": 4}))[0]  # type: ignore[arg-type]
    assert last == Usage(fresh=10, out=9, reasoning=4)


def test_missing_figures_are_no_event() -> None:
    head = {"type": "message_start", "message": {"id": "x", "model": "m"}}
    assert usage(head, *text_block(0, "x"), {"type": "message_delta", "delta": {"stop_reason": "end_turn"}}) == []

"""Chat-completions streams: the same result at every split, and the habits of many servers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agenyx.core.events import (
    CallDraft,
    Done,
    Failure,
    ModelEvent,
    ReasoningDelta,
    Started,
    TextDelta,
    Usage,
)
from agenyx.core.messages import Assistant, Opaque, Reasoning, Text, ToolCall
from agenyx.llm.chat_decode import ChatDecoder
from agenyx.llm.chat_wire import usage_of
from agenyx.llm.dialects import DETAILS, EXTRA
from agenyx.llm.failures import Target
from support.raw_server import call, content, delta, event, finish, reasoning, usage

TARGET = Target("http://127.0.0.1/v1/chat/completions", "127.0.0.1", "asked-model", True)
DONE = b"data: [DONE]\n\n"


def decode(parts: list[bytes]) -> list[ModelEvent]:
    decoder = ChatDecoder(TARGET, "bound")
    events = [found for part in parts for found in decoder.feed(part)]
    return events + decoder.end()


def lines(*payloads: dict[str, Any], done: bool = True) -> bytes:
    return b"".join(event(payload) for payload in payloads) + (DONE if done else b"")


def answer(*payloads: dict[str, Any]) -> Assistant:
    last = decode([lines(*payloads)])[-1]
    assert isinstance(last, Done), last
    return last.assistant


def failure(raw: bytes) -> Failure:
    last = decode([raw])[-1]
    assert isinstance(last, Failure), last
    return last


def calls(*payloads: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(c.wire_id, c.name, c.args) for c in answer(*payloads).calls]


def bare(**fields: Any) -> dict[str, Any]:
    """A delta with one call that is exactly these fields."""
    return delta({"tool_calls": [fields]})


# --- splits ----------------------------------------------------------------------------------------------------------

RECORDED = {
    "text": lines(content(""), content("Héllo "), content("wörld 😀"), finish(), usage(12, 3)),
    "escapes": b"".join(
        event(b'{"id":"x","choices":[{"delta":{"content":"%b"}}]}' % piece)
        for piece in (rb"\ud83d\ude00", rb"a\ud800b", rb"\udc00", rb"\\ud800", rb"\u00e9")
    )
    + event(finish())
    + DONE,
    "crlf": lines(content("one\r\n"), content("two"), finish()).replace(b"\n", b"\r\n"),
    "calls": lines(
        reasoning("Let me "),
        reasoning("think."),
        content("I read "),
        content("two files."),
        call("Read", "", "call_a", 0),
        bare(index=0, function={"arguments": '{"file_path":'}),
        bare(index=0, function={"arguments": ' "ä.py"}'}),
        call("Grep", '{"pattern":', "call_b", 1),
        bare(index=1, function={"arguments": '"x"}'}),
        finish("tool_calls"),
        usage(100, 20, prompt_tokens_details={"cached_tokens": 64}),
    ),
    "comments and an unterminated end": (
        b": ping\n\n" + lines(content("a"))[: -len(DONE)] + b": ping\n\nevent: x\n" + lines(content("b"), finish())[:-2]
    ),
    "error in the stream": lines(content("partial"), {"error": {"message": "Overloaded", "code": 529}}, done=False),
    "not JSON in the stream": lines(content("partial"), done=False) + b"data: {broken\n\n" + lines(content("more")),
    "cut": lines(content("partial"), content(" answer"), done=False),
}


def sum_up(events: list[ModelEvent]) -> tuple[Any, ...]:
    text = "".join(e.text for e in events if isinstance(e, TextDelta))
    thought = "".join(e.text for e in events if isinstance(e, ReasoningDelta))
    drafts: dict[int, str] = {}
    for e in events:
        if isinstance(e, CallDraft):
            drafts[e.block] = drafts.get(e.block, "") + e.text
    rest = [e for e in events if isinstance(e, Started | Usage | Done | Failure)]
    return text, thought, drafts, rest


@pytest.mark.parametrize("name", RECORDED)
def test_every_split_gives_the_same_response(name: str) -> None:
    raw = RECORDED[name]
    whole = sum_up(decode([raw]))
    for cut in range(len(raw) + 1):
        assert sum_up(decode([raw[:cut], raw[cut:]])) == whole, cut
    assert sum_up(decode([raw[i : i + 1] for i in range(len(raw))])) == whole
    assert sum_up(decode([raw[i : i + 97] for i in range(0, len(raw), 97)])) == whole


def test_what_the_recorded_ones_say() -> None:
    text, thought, drafts, rest = sum_up(decode([RECORDED["calls"]]))
    assert (text, thought) == ("I read two files.", "Let me think.")
    assert drafts == {2: '{"file_path": "ä.py"}', 3: '{"pattern":"x"}'}
    assert rest == [
        Started("chatcmpl-1", "served-model"),
        Usage(fresh=36, cache_read=64, out=20),
        Done(
            Assistant(
                (
                    Reasoning("Let me think."),
                    Text("I read two files."),
                    ToolCall("", "call_a", "Read", '{"file_path": "ä.py"}'),
                    ToolCall("", "call_b", "Grep", '{"pattern":"x"}'),
                ),
                "calls",
                "served-model",
                binding="bound",
            )
        ),
    ]
    assert sum_up(decode([RECORDED["escapes"]]))[0] == "😀a\ufffdb\ufffd\\ud800é"


def test_one_delta_a_read() -> None:
    deltas = [e for e in decode([RECORDED["text"]]) if isinstance(e, TextDelta)]
    assert deltas == [TextDelta(0, "Héllo wörld 😀")]


def test_the_response_is_done_at_the_end_mark_without_waiting_for_the_connection() -> None:
    decoder = ChatDecoder(TARGET)
    assert isinstance(decoder.feed(lines(content("x"), finish()))[-1], Done)
    assert decoder.feed(lines(content("more"))) == [] and decoder.end() == []


# --- ends ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "stop"),
    [("stop", "end"), ("length", "length"), ("content_filter", "filter"), ("eos", "end"), ("tool_calls", "end")],
)
def test_finish_reasons_without_calls(reason: str, stop: str) -> None:
    assert answer(content("x"), finish(reason)).stop == stop


@pytest.mark.parametrize("reason", ["stop", "tool_calls", "function_call", "end_turn"])
def test_calls_make_it_calls_whatever_the_server_says(reason: str) -> None:
    assert answer(call("Read", "{}"), finish(reason)).stop == "calls"


def test_a_stream_without_a_finish_reason_is_cut() -> None:
    cut = failure(lines(content("x"), done=False))
    assert (cut.kind, cut.retryable) == ("truncated", True)
    assert failure(b"").kind == "truncated"
    assert failure(DONE).kind == "truncated"


def test_a_finish_reason_and_the_end_of_the_stream_are_enough() -> None:
    assert isinstance(decode([lines(content("x"), finish(), done=False)])[-1], Done)


def test_an_empty_answer_is_an_answer() -> None:
    done = answer(content(""), finish())
    assert (done.blocks, done.stop) == ((), "end")


def test_a_call_that_the_length_limit_cut_is_dropped() -> None:
    done = answer(
        content("text"), call("Read", '{"a":1}', "a", 0), call("Write", '{"content": "long', "b", 1), finish("length")
    )
    assert done.blocks == (Text("text"), ToolCall("", "a", "Read", '{"a":1}'))
    assert done.stop == "length"
    assert answer(content("text"), call("Write", "", "b"), finish("length")).blocks == (Text("text"),)


def test_a_refusal() -> None:
    done = answer(delta({"refusal": "I will"}), delta({"refusal": " not."}), finish())
    assert (done.text, done.stop) == ("I will not.", "refusal")


# --- calls -----------------------------------------------------------------------------------------------------------


def test_no_index_and_whole_calls() -> None:
    assert calls(
        delta(
            {
                "tool_calls": [
                    {"id": "", "function": {"name": "Read", "arguments": '{"a":1}'}},
                    {"id": "", "function": {"name": "Read", "arguments": '{"a":2}'}},
                ]
            }
        ),
        bare(function={"name": "Read", "arguments": '{"a":3}'}),
        finish(),
    ) == [("", "Read", '{"a":1}'), ("", "Read", '{"a":2}'), ("", "Read", '{"a":3}')]


def test_two_calls_without_index_id_and_arguments_in_one_delta() -> None:
    ping = {"function": {"name": "Ping", "arguments": ""}}
    assert calls(delta({"tool_calls": [ping, ping]}), finish()) == [("", "Ping", ""), ("", "Ping", "")]
    assert calls(delta({"tool_calls": [ping]}), delta({"tool_calls": [ping]}), finish()) == [("", "Ping", "")]


def test_no_index_in_pieces() -> None:
    assert calls(
        bare(id="a", function={"name": "Read", "arguments": ""}),
        bare(function={"arguments": '{"a"'}),
        bare(function={"arguments": ":1}"}),
        bare(id="b", function={"name": "Read", "arguments": "{}"}),
        finish("tool_calls"),
    ) == [("a", "Read", '{"a":1}'), ("b", "Read", "{}")]


def test_every_call_at_index_zero() -> None:
    assert calls(call("Read", "{}", "a", 0), call("Grep", "{}", "b", 0), finish()) == [
        ("a", "Read", "{}"),
        ("b", "Grep", "{}"),
    ]


def test_repeated_ids_and_names() -> None:
    assert calls(
        call("Read", '{"a', "a", 0), call("Read", '":1}', "a", 0), call("Read", None, "a", 0), finish("tool_calls")
    ) == [("a", "Read", '{"a":1}')]
    assert calls(call("Read", "{}", "same", 0), call("Grep", "{}", "same", 1), finish()) == [
        ("same", "Read", "{}"),
        ("same", "Grep", "{}"),
    ]


def test_odd_but_plain_shapes() -> None:
    assert calls(call("Read", None, None), finish()) == [("", "Read", "")]
    assert calls(bare(index=0, function={"name": "Read", "arguments": {"a": 1}}), finish()) == [("", "Read", '{"a":1}')]
    old = delta({"function_call": {"name": "Read", "arguments": "{"}}), delta({"function_call": {"arguments": "}"}})
    assert calls(*old, finish("function_call")) == [("", "Read", "{}")]
    assert calls(call("Read", '{"a": nonsense', "a"), finish("tool_calls")) == [("a", "Read", '{"a": nonsense')]
    assert calls(call("n" * 200 + " é", "{}"), finish()) == [("call_1", "n" * 200 + " é", "{}")]


def test_what_a_server_attaches_to_a_call_is_kept_for_it() -> None:
    signed = bare(
        id="a", function={"name": "Read", "arguments": "{}"}, extra_content={"google": {"thought_signature": "s"}}
    )
    (found,) = answer(signed, finish()).calls
    assert found.opaque == Opaque("bound", EXTRA, '{"google":{"thought_signature":"s"}}')


def test_limits_on_calls() -> None:
    many = [call("Read", "{}", f"c{i}", i) for i in range(257)]
    assert failure(lines(*many, finish())).kind == "protocol"
    big = call("Write", "x" * 600_000)
    assert failure(lines(big, big, finish())).kind == "protocol"


# --- odd chunks ------------------------------------------------------------------------------------------------------


def test_harmless_shapes_are_tolerated() -> None:
    done = answer(
        {"id": 7, "model": None, "choices": [], "prompt_filter_results": []},
        {"choices": None},
        {},
        {"choices": [{"delta": None, "finish_reason": None}]},
        {
            "choices": [
                {"delta": {"content": None, "tool_calls": None, "reasoning": None}, "index": None, "logprobs": 1}
            ]
        },
        {"choices": [{"index": 1, "delta": {"content": "another choice"}}]},
        content("x"),
        finish(),
    )
    assert (done.text, done.model) == ("x", "asked-model")


def test_content_in_parts_and_other_names_for_reasoning() -> None:
    done = answer(
        delta({"reasoning": "a"}),
        delta({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "b"}]}]}),
        delta({"content": [{"type": "text", "text": "c"}]}),
        finish(),
    )
    assert done.blocks == (Reasoning("ab"), Text("c"))


def test_a_message_in_place_of_deltas() -> None:
    message = {
        "role": "assistant",
        "content": "whole",
        "tool_calls": [{"id": "a", "function": {"name": "Read", "arguments": "{}"}}],
    }
    done = answer({"id": "x", "choices": [{"message": message, "finish_reason": "tool_calls"}]})
    assert done.blocks == (Text("whole"), ToolCall("", "a", "Read", "{}"))


@pytest.mark.parametrize(
    "payload",
    [b"nonsense", b"[1]", b"7", b'{"choices": 7}', b'{"choices": [7]}', b'{"choices": [{"delta": "x"}]}',
     b'{"choices": [{"delta": {"content": 7}}]}', b'{"choices": [{"delta": {"tool_calls": 7}}]}',
     b'{"choices": [{"delta": {"tool_calls": [7]}}]}',
     b'{"choices": [{"delta": {"tool_calls": [{"function": {"arguments": 7}}]}}]}',
     b"[" * 100_000],
)  # fmt: skip
def test_what_is_no_completion_is_a_protocol_failure_behind_the_text_so_far(payload: bytes) -> None:
    for events in (
        decode([event(content("before")) + event(payload) + DONE]),
        decode([event(content("before")), event(payload)]),
    ):
        assert [type(e) for e in events] == [Started, TextDelta, Failure]
        assert isinstance(events[-1], Failure) and events[-1].kind == "protocol" and not events[-1].retryable


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ({"message": "Rate limit reached", "code": "rate_limit_exceeded"}, "busy", True),
        ({"message": "boom", "code": 502}, "server", True),
        ({"message": "boom", "type": "server_error"}, "server", True),
        ("plain text", "server", True),
        ({"message": "You exceeded your current quota", "code": "insufficient_quota"}, "quota", False),
        ({"message": "This model's maximum context length is 8192 tokens", "code": 400}, "overflow", False),
        ({"message": "bad key", "code": 401}, "auth", False),
    ],
)
def test_errors_inside_the_stream(error: object, kind: str, retryable: bool) -> None:
    found = failure(lines(content("x"), {"error": error}))  # type: ignore[dict-item]
    assert (found.kind, found.retryable) == (kind, retryable)


def test_a_finish_reason_that_says_the_server_failed() -> None:
    assert failure(lines(content("x"), finish("error"))).kind == "server"


def test_an_endless_response_is_cut() -> None:
    decoder = ChatDecoder(TARGET)
    piece = event(delta({"content": "x" * 1_000_000}))
    found: list[ModelEvent] = []
    for _ in range(70):
        found = decoder.feed(piece)
        if isinstance(found[-1], Failure):
            break
    assert isinstance(found[-1], Failure) and found[-1].kind == "protocol"


def test_details_of_reasoning_are_put_together_and_kept() -> None:
    pieces = [
        {"type": "reasoning.text", "index": 0, "text": "Let ", "signature": None, "format": "f"},
        {"type": "reasoning.text", "index": 0, "text": "me."},
        {"type": "reasoning.text", "index": 0, "signature": "sig"},
        {"type": "reasoning.encrypted", "index": 1, "data": "one"},
        {"type": "reasoning.encrypted", "index": 1, "data": "two"},
        7,
    ]
    whole = [
        {"type": "reasoning.text", "index": 0, "text": "Let me.", "signature": "sig", "format": "f"},
        {"type": "reasoning.encrypted", "index": 1, "data": "one"},
        {"type": "reasoning.encrypted", "index": 1, "data": "two"},
    ]
    events = [delta({"reasoning_details": [piece]}) for piece in pieces]
    for more, text in (([], ""), ([reasoning("Let me.")], "Let me.")):
        found = answer(content("x"), *more, *events, finish())
        (thought,) = [block for block in found.blocks if isinstance(block, Reasoning)]
        assert thought.text == text and thought.opaque is not None
        assert (thought.opaque.binding, thought.opaque.wire) == ("bound", DETAILS)
        assert json.loads(thought.opaque.json) == whole


# --- usage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wire", "want"),
    [
        ({"prompt_tokens": 10, "completion_tokens": 5}, Usage(fresh=10, out=5)),
        (
            {
                "prompt_tokens": 1000,
                "completion_tokens": 50,
                "prompt_tokens_details": {"cached_tokens": 700, "cache_write_tokens": 100},
                "completion_tokens_details": {"reasoning_tokens": 30},
            },
            Usage(fresh=200, cache_read=700, cache_write=100, out=50, reasoning=30),
        ),
        ({"prompt_tokens": 100, "completion_tokens": 1, "prompt_cache_hit_tokens": 60}, Usage(40, 60, 0, 1)),
        ({"prompt_tokens": 100, "completion_tokens": 1, "prompt_tokens_details": None}, Usage(100, 0, 0, 1)),
        ({"prompt_tokens": 5, "completion_tokens": -3, "prompt_tokens_details": {"cached_tokens": 9}}, Usage(0, 5)),
        ({"prompt_tokens": 12.0, "completion_tokens": None}, Usage(12)),
        ({"prompt_tokens": "12"}, Usage()),
    ],
)
def test_usage_is_normalised(wire: dict[str, Any], want: Usage) -> None:
    assert usage_of(wire) == want


def test_cumulative_usage_is_not_summed_and_missing_usage_is_no_event() -> None:
    events = decode(
        [lines(usage(10, 1), content("x"), usage(10, 2), finish(), usage(10, 3), {"choices": [], "usage": None})]
    )
    assert [e for e in events if isinstance(e, Usage)] == [Usage(fresh=10, out=3)]
    assert not [e for e in decode([lines(content("x"), finish())]) if isinstance(e, Usage)]


def test_usage_inside_a_choice() -> None:
    last = {"choices": [{"delta": {}, "finish_reason": "stop", "usage": {"prompt_tokens": 3, "completion_tokens": 2}}]}
    assert Usage(fresh=3, out=2) in decode([lines(content("x"), last)])


def test_the_json_of_the_tests_is_what_servers_send() -> None:
    assert json.loads(lines(content("x"), done=False).removeprefix(b"data: "))["choices"][0]["delta"]["content"] == "x"

"""Responses streams: the same result at every split, strict order for OpenAI and Azure, patience with the others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agenyx.core.events import CallDraft, Done, Failure, ModelEvent, ReasoningDelta, Started, TextDelta, Usage
from agenyx.core.messages import Assistant, Opaque, Reasoning, Text, ToolCall
from agenyx.llm.failures import Target
from agenyx.llm.responses_decode import ResponsesDecoder
from agenyx.llm.responses_wire import CALL, ITEM, usage_of
from support.wires import begun, body, decode, function_call, message, named, response, streamed, sum_up, thought

TARGET = Target("https://api.openai.com/v1/responses", "api.openai.com", "asked-model", True)
Events = list[dict[str, Any]]


def lines(*payloads: dict[str, Any]) -> bytes:
    return b"".join(map(named, payloads))


def read(raw: bytes, *, strict: bool = True) -> list[ModelEvent]:
    return decode(ResponsesDecoder(TARGET, "bound", strict=strict), [raw])


def answer(events: Events, *, strict: bool = True) -> Assistant:
    last = read(lines(*events), strict=strict)[-1]
    assert isinstance(last, Done), last
    return last.assistant


def failure(events: Events | bytes, *, strict: bool = True) -> Failure:
    last = read(events if isinstance(events, bytes) else lines(*events), strict=strict)[-1]
    assert isinstance(last, Failure), last
    return last


def opaque(item: dict[str, Any]) -> Opaque:
    return Opaque("bound", ITEM, json.dumps(item))


COUNTS = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 64},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 12},
    "total_tokens": 120,
}
FULL = response(
    thought("I think, ä.", place=0),
    message("Héllo wörld 😀", "commentary", place=1),
    function_call("Read", '{"file_path": "ä.py"}', place=2),
    function_call("Grep", '{"pattern":"x"}', place=3),
    usage=COUNTS,
)

RECORDED = {
    "everything": lines(*FULL),
    "crlf and comments": b": hi\r\n\r\n" + lines(*FULL).replace(b"\n", b"\r\n") + b": bye\r\n\r\n",
    "an end without its blank line": lines(*response(message("a")))[:-2],
    "escapes": lines(*begun())
    + b'data: {"type":"response.output_text.delta","output_index":0,"delta":"a\\ud83d\\ude00b\\ud800"}\n\n'
    + lines({"type": "response.completed", "response": body(output=[message("a😀b\ufffd")])}),
    "failed": lines(*begun(), *streamed(message("partial"), 0)[:3])
    + lines({"type": "response.failed", "response": body("failed", error={"code": "server_error", "message": "boom"})}),
    "not JSON": lines(*begun(), *streamed(message("partial"), 0)[:3]) + b"data: {broken\n\n",
    "cut": lines(*FULL[:-1]),
    "unknown events": lines(*begun(), {"type": "response.new_thing", "delta": 7}, *response(message("x"))[2:]),
}


@pytest.mark.parametrize("name", RECORDED)
def test_every_split_gives_the_same_response(name: str) -> None:
    raw = RECORDED[name]

    def parts(*pieces: bytes) -> Any:
        return sum_up(decode(ResponsesDecoder(TARGET, "bound"), list(pieces)))

    whole = parts(raw)
    for cut in range(len(raw) + 1):
        assert parts(raw[:cut], raw[cut:]) == whole, cut
    assert parts(*(raw[i : i + 1] for i in range(len(raw)))) == whole
    assert parts(*(raw[i : i + 97] for i in range(0, len(raw), 97))) == whole


def test_what_the_recorded_one_says() -> None:
    shown, rest = sum_up(read(RECORDED["everything"]))
    assert shown == {
        (ReasoningDelta, 0): "I think, ä.",
        (TextDelta, 1): "Héllo wörld 😀",
        (CallDraft, 2): '{"file_path": "ä.py"}',
        (CallDraft, 3): '{"pattern":"x"}',
    }
    assert rest == [
        Started("resp_1", "served-model"),
        Usage(fresh=36, cache_read=64, out=20, reasoning=12),
        Done(
            Assistant(
                (
                    Reasoning("I think, ä.", opaque(thought("I think, ä."))),
                    Text("Héllo wörld 😀"),
                    ToolCall("", "call_2", "Read", '{"file_path": "ä.py"}', Opaque("bound", CALL, '{"id":"fc_2"}')),
                    ToolCall("", "call_3", "Grep", '{"pattern":"x"}', Opaque("bound", CALL, '{"id":"fc_3"}')),
                ),
                "calls",
                "served-model",
                "commentary",
                "bound",
            )
        ),
    ]


def test_one_delta_a_read() -> None:
    deltas = [e for e in read(lines(*response(message("one two")))) if isinstance(e, TextDelta)]
    assert deltas == [TextDelta(0, "one two")]


def test_reasoning_is_kept_as_the_server_wrote_it() -> None:
    raw = (
        '{"summary" : [ ], "encrypted_content":"a\\u002fb+c==","id":"rs_0","type":"reasoning","new_member":{"x":1.50}}'
    )
    stream = lines(*begun(), streamed(thought(), 0)[0])
    stream += b'data: {"type":"response.output_item.done","output_index":0,"item":' + raw.encode() + b"}\n\n"
    stream += lines({"type": "response.completed", "response": body(output=[thought(secret="another")])})
    for pieces in ([stream], [stream[i : i + 3] for i in range(0, len(stream), 3)]):
        last = decode(ResponsesDecoder(TARGET, "bound"), pieces)[-1]
        assert isinstance(last, Done) and last.assistant.blocks == (Reasoning("", Opaque("bound", ITEM, raw)),)


def test_paragraphs_of_a_summary() -> None:
    part = {"output_index": 0, "item_id": "rs_0"}
    events = [
        *begun(),
        streamed(thought(), 0)[0],
        {"type": "response.reasoning_summary_part.added", **part, "summary_index": 0},
        {"type": "response.reasoning_summary_text.delta", **part, "summary_index": 0, "delta": "One."},
        {"type": "response.reasoning_summary_part.added", **part, "summary_index": 1},
        {"type": "response.reasoning_summary_text.delta", **part, "summary_index": 1, "delta": "Two."},
        {"type": "response.completed", "response": body(output=[])},
    ]
    assert failure(events).kind == "protocol"  # what was streamed is missing
    events[-1] = {"type": "response.completed", "response": body(output=[thought("One.")])}
    (block,) = answer(events).blocks
    assert isinstance(block, Reasoning) and block.text == "One.\n\nTwo."


def test_phases() -> None:
    both = response(message("a", "commentary", 0), message("b", "final_answer", 1))
    assert (answer(both).phase, answer(both).text) == ("commentary,final_answer", "ab")
    assert answer(response(message("a", "final_answer"))).phase == "final_answer"
    assert answer(response(message("a"), message("b", place=1))).phase == ""


def test_the_response_is_done_at_its_last_event() -> None:
    decoder = ResponsesDecoder(TARGET)
    assert isinstance(decoder.feed(lines(*response(message("x"))))[-1], Done)
    assert decoder.feed(lines(*response(message("more")))) == [] and decoder.end() == []


# --- ends ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("reason", "stop"), [("max_output_tokens", "length"), ("content_filter", "filter")])
def test_an_incomplete_response_keeps_its_text_and_loses_a_call_that_is_not_whole(reason: str, stop: str) -> None:
    half = {**function_call("Read", '{"file_', 1), "status": "incomplete"}
    found = answer(response(message("so far"), half, status="incomplete", incomplete_details={"reason": reason}))
    assert (found.stop, found.blocks) == (stop, (Text("so far"),))


def test_an_incomplete_response_of_another_kind_is_cut() -> None:
    found = failure(response(message("x"), status="incomplete", incomplete_details={"reason": "steered"}))
    assert found.kind == "truncated" and "steered" in found.message


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ({"code": "server_error", "message": "boom"}, "server", True),
        ({"code": "rate_limit_exceeded", "message": "Rate limit reached"}, "busy", True),
        ({"code": "insufficient_quota", "message": "You exceeded your current quota"}, "quota", False),
        ({"code": "context_length_exceeded", "message": "Your input exceeds the context window"}, "overflow", False),
        (None, "server", True),
    ],
)
def test_errors(error: Any, kind: str, retryable: bool) -> None:
    failed = {"type": "response.failed", "response": body("failed", error=error)}
    for events in ([*begun(), failed], [failed]):
        assert (failure(events).kind, failure(events).retryable) == (kind, retryable)
    for wire in ({"type": "error", **(error or {})}, {"type": "error", "error": error or {}}, {"error": error or "x"}):
        data = b"data: " + json.dumps(wire).encode() + b"\n\n"
        assert failure(lines(*begun()) + data).kind == kind


@pytest.mark.parametrize("mark", [b"", b"data: [DONE]\n\n"])
def test_an_end_before_the_last_event_is_cut(mark: bytes) -> None:
    assert failure(lines(*FULL[:-1]) + mark).kind == "truncated"
    assert "before it began" in failure(mark).message


def test_a_refusal() -> None:
    item = {**message(""), "content": [{"type": "refusal", "refusal": "I won't."}]}
    delta = {"type": "response.refusal.delta", "output_index": 0, "content_index": 0, "delta": "I won't."}
    events = [*begun(), delta, {"type": "response.completed", "response": body(output=[item])}]
    assert (answer(events).stop, answer(events).text) == ("refusal", "I won't.")


# --- strict ----------------------------------------------------------------------------------------------------------

SAID = response(message("said"))
CALLED = response(function_call("Read", '{"a":1}'))


def but(events: Events, place: int, **changes: Any) -> Events:
    return [*events[:place], {**events[place], **changes}, *(events[place + 1 :] if place != -1 else [])]


def ended(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": body(output=list(items), **more)}


WRONG: dict[str, Events] = {
    "no beginning": SAID[1:],
    "no progress": [SAID[0], *SAID[2:]],
    "two beginnings": [SAID[0], *SAID],
    "progress twice": [*SAID[:2], SAID[1], *SAID[2:]],
    "begins as completed": but(SAID, 0, response=body("completed")),
    "no id": but(SAID, 0, response={**body("in_progress"), "id": None}),
    "another id": but(SAID, -1, response=body(output=[message("said")], id="resp_2")),
    "another status": but(SAID, -1, response=body("in_progress", [message("said")])),
    "other text": but(SAID, -1, response=body(output=[message("said!")])),
    "text that was not streamed": [*SAID[:2], ended(message("said"))],
    "text that is gone": [*SAID[:-1], ended()],
    "other arguments": [*CALLED[:-1], ended(function_call("Read", '{"a":2}'))],
    "another name": [*CALLED[:-1], ended(function_call("Write", '{"a":1}'))],
    "a call that is gone": [*CALLED[:-1], ended()],
    "a call that was not streamed": [*begun(), ended(function_call("Read", "{}"))],
    "a call without an id": [*begun(), streamed({**function_call("Read", "{}"), "call_id": ""}, 0)[0]],
    "other arguments than streamed": [*CALLED[:5], {**CALLED[5], "arguments": "{}"}],
    "arguments of no call": [*begun(), CALLED[3]],
    "arguments of a message": [*begun(), streamed(message("x"), 0)[0], CALLED[3]],
    "an item twice": [*SAID[:3], SAID[2]],
    "an item that never began": [*begun(), SAID[-2]],
    "an item that is none": [*begun(), {"type": "response.output_item.added", "output_index": 0, "item": 7}],
    "a delta that is no text": [*begun(), {"type": "response.output_text.delta", "output_index": 0, "delta": 7}],
    "no response in the end": [*SAID[:-1], {"type": "response.completed"}],
    "a document": [{"object": "response", **body(output=[message("x")])}],
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_contradicts_itself_is_a_protocol_failure(name: str) -> None:
    raw = b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in WRONG[name])
    found = failure(raw)
    assert found.kind == "protocol" and not found.retryable and found.fix


def test_limits() -> None:
    big = {**CALLED[3], "delta": "x" * 600_000}
    assert "larger" in failure([*CALLED[:3], big, big]).message
    many = [streamed(function_call("Read", "{}", i), i)[0] for i in range(300)]
    assert "256 calls" in failure([*begun(), *many]).message
    others = [
        {"type": "response.output_item.added", "output_index": i, "item": {"type": "web_search_call"}}
        for i in range(5000)
    ]
    assert "4096 items" in failure([*begun(), *others]).message


def test_an_endless_response_is_cut() -> None:
    decoder = ResponsesDecoder(TARGET)
    decoder.feed(lines(*begun()))
    piece = lines({"type": "response.output_text.delta", "output_index": 0, "delta": "x" * 1_000_000})
    found: list[ModelEvent] = []
    for _ in range(70):
        found = decoder.feed(piece)
        if isinstance(found[-1], Failure):
            break
    assert isinstance(found[-1], Failure) and found[-1].kind == "protocol"


# --- lenient ---------------------------------------------------------------------------------------------------------


def without(event: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in event.items() if name not in names}


BARE = ("output_index", "item_id", "content_index", "sequence_number")


@pytest.mark.parametrize(
    "events",
    [
        [FULL[0], *FULL[2:]],  # no response.in_progress
        FULL[2:],  # no beginning at all
        [without(event, "content_index") for event in FULL],
        [*FULL[:-1], ended()],  # nothing in the end
        [*begun(), FULL[-1]],  # everything in the end
        [event for event in FULL if not event["type"].endswith("delta")],
        [event for event in FULL if not event["type"].endswith((".done", ".added"))],
        [*FULL[:-1], {**FULL[-1], "response": {**FULL[-1]["response"], "id": "another", "status": None}}],
    ],
)
def test_patience(events: Events) -> None:
    found = answer(events, strict=False)
    kinds = [type(block) for block in found.blocks]
    assert found.text == "Héllo wörld 😀" and found.stop == "calls"
    assert sorted(kinds, key=str) == sorted([Reasoning, Text, ToolCall, ToolCall], key=str)
    assert [(call.name, call.args) for call in found.calls] == [
        ("Read", '{"file_path": "ä.py"}'),
        ("Grep", '{"pattern":"x"}'),
    ]
    assert [call.wire_id for call in found.calls] == ["call_2", "call_3"]


def test_patience_with_items_that_have_no_number() -> None:
    events = [without(event, *BARE) for event in response(message("a b"), function_call("Read", "{}", 1))]
    found = answer(events, strict=False)
    assert (found.text, [call.name for call in found.calls]) == ("a b", ["Read"])


def test_patience_with_calls_that_are_named_by_their_call_id_or_otherwise() -> None:
    for name in (lambda item: item["call_id"], lambda item: "other" + item["id"]):
        events: Events = []
        for place in (0, 1):
            item = function_call("Read", f'{{"a": {place}}}', place)
            for event in streamed(item, place):
                changed = without(event, "output_index")
                if "item" in event:
                    changed["item"] = without(event["item"], "id")
                if "item_id" in event:
                    changed["item_id"] = name(item)
                events.append(changed)
        found = answer([*begun(), *events, ended()], strict=False)
        assert [call.args for call in found.calls] == ['{"a": 0}', '{"a": 1}']


# --- usage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wire", "want"),
    [
        ({"input_tokens": 10, "output_tokens": 5}, Usage(fresh=10, out=5)),
        (COUNTS, Usage(36, 64, 0, 20, 12)),
        (
            {"input_tokens": 1000, "input_tokens_details": {"cached_tokens": 700, "cache_write_tokens": 200}},
            Usage(100, 700, 200),
        ),
        ({"input_tokens": 5, "output_tokens": -3, "input_tokens_details": {"cached_tokens": 9}}, Usage(0, 5)),
        ({"input_tokens": "12", "input_tokens_details": None}, Usage()),
        (None, None),
    ],
)
def test_usage_is_normalised(wire: Any, want: Usage | None) -> None:
    assert usage_of(wire) == want

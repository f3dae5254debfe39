"""Responses requests: the shape of the wire, reasoning back byte by byte, and the stable prefix."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from agenyx.core.messages import Assistant, Entry, Opaque, Reasoning, Step, Summary, Text, ToolCall, ToolResult
from agenyx.core.tools import ToolSpec
from agenyx.llm.dialects import RESPONSES_COMPATIBLE, RESPONSES_OPENAI, ResponsesDialect
from agenyx.llm.request import Options
from agenyx.llm.responses_encode import ResponsesEncoder
from agenyx.llm.responses_wire import CALL, ITEM
from support.wires import conversations, request, step, user

# As servers write them: odd spacing, escapes, member order.
RAW = '{"id":"rs_1", "type" : "reasoning","summary":[],"encrypted_content":"gAAAA\\u002bx/9=="}'


def encode(*entries: Entry, dialect: ResponsesDialect = RESPONSES_OPENAI, **changes: Any) -> bytes:
    return ResponsesEncoder(dialect, "me").encode(request(*entries, **changes))


def items(*entries: Entry, **changes: Any) -> list[dict[str, Any]]:
    return json.loads(encode(*entries, **changes))["input"]


def call(number: int = 1, binding: str = "me") -> ToolCall:
    return ToolCall(f"our{number}", f"call_{number}", "Read", '{"z": "x"}', Opaque(binding, CALL, '{"id":"fc_1"}'))


def test_the_order_on_the_wire() -> None:
    raw = encode(user("hi"), options=Options(0.5, 100, "low"))
    sent = json.loads(raw)
    assert list(sent) == [
        "model", "stream", "store", "include", "reasoning", "temperature", "max_output_tokens", "parallel_tool_calls",
        "tools", "instructions", "input",
    ]  # fmt: skip
    assert sent["instructions"] == "One.\n\nTwo." and sent["store"] is False and sent["stream"] is True
    assert sent["include"] == ["reasoning.encrypted_content"] and sent["reasoning"] == {"effort": "low"}
    assert raw.endswith(b'{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]}')
    assert "previous_response_id" not in sent


def test_options_only_when_set() -> None:
    assert list(json.loads(encode(user("hi"), tools=(), system=()))) == ["model", "stream", "store", "include", "input"]
    assert "include" not in json.loads(encode(options=Options(effort="none")))
    assert "include" not in json.loads(encode(model="gpt-4o"))


def test_tools_are_not_strict_and_have_no_empty_list_of_required_members() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "object", "required": []}}, "required": ["a"]}
    (tool,) = json.loads(encode(tools=(ToolSpec("T", "Does.", schema),)))["tools"]
    assert tool == {
        "type": "function",
        "name": "T",
        "description": "Does.",
        "parameters": {"type": "object", "properties": {"a": {"type": "object"}}, "required": ["a"]},
        "strict": False,
    }


def test_on_azure_the_deployment_stands_for_the_model() -> None:
    sent = ResponsesEncoder(RESPONSES_OPENAI, "me", "my-deployment").encode(request(user("hi")))
    assert json.loads(sent)["model"] == "my-deployment"


def test_a_whole_conversation() -> None:
    said = items(
        user("do"),
        step(Reasoning("", Opaque("me", ITEM, RAW)), Text("I read."), call(1), call(2), phase="commentary"),
        step(Text("Done."), phase="final_answer"),
        Summary("so far", "r1"),
    )
    assert said == [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "do"}]},
        json.loads(RAW),
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "I read."}],
            "phase": "commentary",
        },
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "Read", "arguments": '{"z": "x"}'},
        {"type": "function_call", "id": "fc_1", "call_id": "call_2", "name": "Read", "arguments": '{"z": "x"}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "result of our1"},
        {"type": "function_call_output", "call_id": "call_2", "output": "result of our2"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Done."}],
            "phase": "final_answer",
        },
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "so far"}]},
    ]


def test_reasoning_goes_back_byte_by_byte() -> None:
    assert RAW.encode() in encode(step(Reasoning("shown", Opaque("me", ITEM, RAW)), call()))


@pytest.mark.parametrize("binding", ["other", ""])
def test_another_profiles_reasoning_is_dropped_with_the_ids_that_point_to_it(binding: str) -> None:
    said = items(step(Reasoning("shown", Opaque(binding, ITEM, RAW)), call(binding=binding)))
    assert [item["type"] for item in said] == ["function_call", "function_call_output"] and "id" not in said[0]


def test_reasoning_is_kept_as_a_whole_or_dropped_as_a_whole() -> None:
    # The state of one of two was lost: the server would miss it.
    lost = step(Reasoning("a", None), Reasoning("b", Opaque("me", ITEM, RAW)), call())
    assert "id" not in items(lost)[0] and b"rs_1" not in encode(lost)
    # Nothing follows: a server refuses reasoning that belongs to nothing.
    assert items(step(Text("x"), Reasoning("b", Opaque("me", ITEM, RAW))))[-1]["type"] == "message"


def test_state_of_another_wire_does_not_go_back() -> None:
    assert b"rs_1" not in encode(step(Reasoning("a", Opaque("me", "anthropic", RAW)), call()))


def test_each_message_keeps_its_phase() -> None:
    said = items(step(Text("a"), Text("b"), phase="commentary,final_answer"))
    assert [item["phase"] for item in said] == ["commentary", "final_answer"]
    assert ["phase" in item for item in items(step(Text("a"), Text("b"), phase=",final_answer"))] == [False, True]
    assert [item.get("phase") for item in items(step(Text("a"), Text("b"), phase="x,y,z"))] == [None, None]


def test_a_refusal_goes_back_as_one() -> None:
    (said,) = items(Step(Assistant((Text("No."),), "refusal")))
    assert said["content"] == [{"type": "refusal", "refusal": "No."}]


def test_repeated_ids_become_unique_and_match_their_results() -> None:
    calls = [ToolCall(f"our{i}", wire, "Read", "{}") for i, wire in enumerate(["x", "x", "", "y" * 500])]
    said = items(step(*calls), step(ToolCall("our9", "x", "Read", "{}")))
    asked = [item["call_id"] for item in said if item["type"] == "function_call"]
    assert asked == [item["call_id"] for item in said if item["type"] == "function_call_output"]
    assert len(set(asked)) == 5 and asked[0] == "x" and max(map(len, asked)) <= 64


def test_broken_arguments_go_back_as_an_empty_object_and_the_result_stands() -> None:
    broken = Assistant((ToolCall("o", "w", "Re ad", "{broken"),), "calls")
    said = items(Step(broken, (ToolResult("o", "malformed", (Text("not JSON"),)),)))
    assert said[0]["arguments"] == "{}" and said[0]["name"] == "Re_ad" and said[1]["output"] == "not JSON"


def test_a_lone_surrogate_does_not_stop_a_request() -> None:
    assert items(user("a\ud800b"))[0]["content"][0]["text"] == "a\ufffdb"


@settings(max_examples=150, deadline=None)
@given(conversations(ITEM, CALL, [RAW, '{"type":"reasoning"}']))
def test_each_request_is_a_prefix_of_the_next_and_equals_one_made_from_scratch(history: list[Entry]) -> None:
    for dialect in (RESPONSES_OPENAI, RESPONSES_COMPATIBLE):
        encoder = ResponsesEncoder(dialect, "me")
        before = b""
        for count in range(len(history) + 1):
            asked = request(*history[:count])
            made = encoder.encode(asked)
            assert made.endswith(b"]}") and made.startswith(before)
            assert made == ResponsesEncoder(dialect, "me").encode(asked)
            said = json.loads(made)["input"]
            asks = [item["call_id"] for item in said if item["type"] == "function_call"]
            assert sorted(asks) == sorted(item["call_id"] for item in said if item["type"] == "function_call_output")
            before = made[:-2]

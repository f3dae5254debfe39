"""Messages requests: the shape of the wire, signed thinking back byte by byte, breakpoints, and the stable prefix."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from agenyx.core.messages import Entry, Opaque, Reasoning, Summary, Text, ToolCall
from agenyx.core.tools import ToolSpec
from agenyx.llm.anthropic_encode import AnthropicEncoder, strip_marks
from agenyx.llm.anthropic_wire import THINKING
from agenyx.llm.dialects import MESSAGES_ANTHROPIC
from agenyx.llm.request import Options
from support.wires import conversations, request, step, user

RAW = '{"type":"thinking","thinking":"hm \\"ä\\" ","signature":"EqQB+/=="}'
REDACTED = '{"type":"redacted_thinking","data":"abc=="}'
MARK = {"cache_control": {"type": "ephemeral"}}


def encode(*entries: Entry, **changes: Any) -> bytes:
    return AnthropicEncoder(MESSAGES_ANTHROPIC, "me").encode(request(*entries, **changes))


def body(*entries: Entry, **changes: Any) -> dict[str, Any]:
    return json.loads(encode(*entries, **changes))


def messages(*entries: Entry) -> list[dict[str, Any]]:
    return json.loads(strip_marks(encode(*entries)))["messages"]


def said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def test_the_order_on_the_wire() -> None:
    raw = encode(user("hi"), options=Options(0.5, 100))
    assert list(json.loads(raw)) == ["model", "max_tokens", "stream", "temperature", "tools", "system", "messages"]
    assert json.loads(raw)["max_tokens"] == 100 and body(user("hi"))["max_tokens"] == 32_000
    schema = {"type": "object", "properties": {"z": {"type": "string"}}, "required": []}
    assert json.loads(raw)["tools"] == [{"name": "Read", "description": "Read a file.", "input_schema": schema, **MARK}]


def test_breakpoints_stand_on_the_last_of_tools_system_and_user_messages() -> None:
    tools = tuple(ToolSpec(name, "", {}) for name in "AB")
    call = ToolCall("o", "w", "Read", "{}")
    sent = body(user("a"), step(call, ToolCall("p", "v", "Read", "{}")), tools=tools)
    assert ["cache_control" in tool for tool in sent["tools"]] == [False, True]
    assert [block.get("cache_control") for block in sent["system"]] == [None, MARK["cache_control"]]
    results = sent["messages"][-1]["content"]
    assert [block["type"] for block in results] == ["tool_result", "tool_result"]
    assert ["cache_control" in block for block in results] == [False, True]
    assert encode(user("a"), step(call)).count(b"cache_control") == 3
    # An answer behind it leaves the mark where it was.
    assert "cache_control" in body(user("a"), step(Text("b")))["messages"][0]["content"][0]
    assert b"cache_control" not in encode(tools=(), system=())


def test_effort() -> None:
    assert "thinking" not in body(user("x")) and "output_config" not in body(user("x"))
    sent = body(user("x"), options=Options(temperature=0.0, effort="high"))
    assert sent["thinking"] == {"type": "adaptive"} and sent["output_config"] == {"effort": "high"}
    assert "temperature" not in sent
    assert body(user("x"), options=Options(effort="none"))["thinking"] == {"type": "disabled"}


def test_a_whole_conversation() -> None:
    a, b = ToolCall("1", "toolu_a", "Read", '{"z": "x"}'), ToolCall("2", "toolu_b", "Read", "{}")
    found = messages(
        user("do"),
        user("notice"),
        step(Reasoning("hm", Opaque("me", THINKING, RAW)), Text("I read."), a, b),
        user("steer"),
        step(Text("Done.")),
        Summary("so far", "r1"),
    )
    assert found == [
        said("do"),
        said("notice"),
        {
            "role": "assistant",
            "content": [
                json.loads(RAW),
                {"type": "text", "text": "I read."},
                {"type": "tool_use", "id": "toolu_a", "name": "Read", "input": {"z": "x"}},
                {"type": "tool_use", "id": "toolu_b", "name": "Read", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_a", "content": "result of 1"},
                {"type": "tool_result", "tool_use_id": "toolu_b", "content": "result of 2"},
            ],
        },
        said("steer"),
        {"role": "assistant", "content": [{"type": "text", "text": "Done."}]},
        said("so far"),
    ]


def test_a_result_that_is_no_success_says_so() -> None:
    assert messages(step(ToolCall("1", "a", "Read", "{}"), status="denied"))[1]["content"][0]["is_error"] is True


@pytest.mark.parametrize("raw", [RAW, REDACTED])
def test_thinking_goes_back_byte_by_byte_to_who_made_it(raw: str) -> None:
    call = ToolCall("1", "a", "Read", "{}")
    assert raw.encode() in encode(step(Reasoning("hm", Opaque("me", THINKING, raw)), call))
    for opaque in (Opaque("other", THINKING, raw), Opaque("me", "responses", raw), None):
        assert [b["type"] for b in messages(step(Reasoning("hm", opaque), call))[0]["content"]] == ["tool_use"]


def test_arguments_stay_as_the_model_wrote_them() -> None:
    assert b'"input":{ "a" : 1.50 }' in encode(step(ToolCall("1", "a", "Read", '{ "a" : 1.50 }')))
    assert messages(step(ToolCall("1", "a", "Read", "{broken")))[0]["content"][0]["input"] == {}


def test_what_is_blank_is_not_sent() -> None:
    assert messages(user("a"), step(), step(Text(" \n")), step(Reasoning("x", Opaque("me", THINKING, RAW)))) == [
        said("a")
    ]
    assert messages(user(" "))[0]["content"][0]["text"].strip()


def test_ids_of_other_wires_are_bent_into_shape_and_match_their_results() -> None:
    calls = [
        ToolCall(f"our{i}", wire, "Read", "{}") for i, wire in enumerate(["functions.Read:0", "x", "x", "", "y" * 99])
    ]
    one, two = messages(step(*calls))
    asked = [block["id"] for block in one["content"]]
    assert asked == [block["tool_use_id"] for block in two["content"]] and len(set(asked)) == 5
    assert all(len(name) <= 64 and name.replace("_", "").isalnum() for name in asked) and asked[1] == "x"


def test_text_that_looks_like_a_breakpoint_stays() -> None:
    text = ',"cache_control":{"type":"ephemeral"}'
    assert json.loads(strip_marks(encode(user(text))))["messages"] == [said(text)]


def test_a_lone_surrogate_does_not_stop_a_request() -> None:
    assert messages(user("a\ud800b")) == [said("a\ufffdb")]


@settings(max_examples=200, deadline=None)
@given(conversations(THINKING, "none", [RAW, REDACTED]))
def test_without_breakpoints_each_request_is_a_prefix_of_the_next(history: list[Entry]) -> None:
    encoder = AnthropicEncoder(MESSAGES_ANTHROPIC, "me")
    before = b""
    for count in range(len(history) + 1):
        asked = request(*history[:count])
        made = encoder.encode(asked)
        assert made == AnthropicEncoder(MESSAGES_ANTHROPIC, "me").encode(asked)
        plain = strip_marks(made)
        assert plain.endswith(b"]}") and plain.startswith(before)
        sent = json.loads(made)["messages"]
        users = [message for message in sent if message["role"] == "user"]
        marked = [block for message in users for block in message["content"] if "cache_control" in block]
        assert marked == ([users[-1]["content"][-1]] if users else [])
        asks = [b["id"] for m in sent for b in m["content"] if b["type"] == "tool_use"]
        assert asks == [b["tool_use_id"] for m in sent for b in m["content"] if b["type"] == "tool_result"]
        assert len(set(asks)) == len(asks)
        before = plain[:-2]

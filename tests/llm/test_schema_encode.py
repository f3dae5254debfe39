"""Requests of the JSON-schema protocol: their shape, and the stable prefix over any conversation that grows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agenyx.core.messages import Assistant, Entry, Media, Reasoning, Step, Summary, Text, ToolCall, ToolResult, User
from agenyx.core.tools import ToolSpec
from agenyx.llm.dialects import COMPATIBLE, LLAMA_CPP, OPENAI, Dialect
from agenyx.llm.request import Options, Request
from agenyx.llm.schema_encode import HINT, SMALL_STRING, SchemaEncoder, response_format
from agenyx.llm.schema_example import TOOLS

READ = ToolSpec(
    "Read",
    "Reads a file.",
    {
        "type": "object",
        "properties": {"file_path": {"type": "string"}, "offset": {"type": "integer"}},
        "required": ["file_path"],
        "additionalProperties": False,
    },
)
PING = ToolSpec("ping it", "Pings.", {})


def user(text: str) -> User:
    return User((Text(text),))


def step(*calls: ToolCall, text: str = "", reasoning: str = "", status: Any = "ok") -> Step:
    blocks = (*([Reasoning(reasoning)] if reasoning else []), *([Text(text)] if text else []), *calls)
    results = tuple(ToolResult(call.id, status, (Text(f"result of {call.id}"),)) for call in calls)
    return Step(Assistant(blocks, "calls" if calls else "end"), results)


def request(*entries: Entry, **changes: Any) -> Request:
    return replace(Request("m", Options(), (READ, PING), ("One.", "Two."), entries), **changes)


def body(*entries: Entry, cap: int = 0, **changes: Any) -> dict[str, Any]:
    return json.loads(SchemaEncoder(COMPATIBLE, cap=cap).encode(request(*entries, **changes)))


def said(*entries: Entry, **more: Any) -> list[tuple[str, str]]:
    """The messages after the system text."""
    return [(message["role"], message["content"]) for message in body(*entries, **more)["messages"][1:]]


def test_the_shape_of_a_request() -> None:
    made = body(user("hi"), options=Options(0.5, 100))
    assert "tools" not in made and made["stream"] is True and made["max_tokens"] == 100
    assert list(made)[-1] == "messages"
    wrapped = made["response_format"]
    assert (wrapped["type"], wrapped["json_schema"]["strict"]) == ("json_schema", True)
    assert wrapped["json_schema"]["schema"] == {
        "anyOf": [
            {
                "type": "object",
                "properties": {"tool": {"const": "Read"}, "arguments": READ.schema},
                "required": ["tool", "arguments"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {
                    "tool": {"const": "ping_it"},
                    "arguments": {"type": "object", "properties": {}, "required": [], "additionalProperties": False},
                },
                "required": ["tool", "arguments"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {"final_answer": {"type": "string"}},
                "required": ["final_answer"],
                "additionalProperties": False,
            },
        ]
    }


def test_the_system_text_names_the_tools_and_the_rules() -> None:
    text = body(user("hi"))["messages"][0]["content"]
    assert text.startswith("One.\n\nTwo.\n\nTools:\n- Read(file_path, offset?): Reads a file.\n- ping_it(): Pings.\n")
    assert '{"tool": "<tool name>"' in text and '{"final_answer"' in text
    alone = body(user("hi"), tools=())["messages"][0]["content"]
    assert "Tools:" not in alone and '"tool"' not in alone and '{"final_answer"' in alone


def test_a_conversation_is_said_in_json() -> None:
    call = ToolCall("ours1", "w", "Read", '{"file_path":  "ä.py"}')
    assert said(user("do"), step(call, reasoning="hmm"), step(text='Done: "ä".')) == [
        ("user", "do"),
        ("assistant", '{"tool": "Read", "arguments": {"file_path":  "ä.py"}}'),
        ("user", f"Result of Read:\nresult of ours1\n\n{HINT}"),
        ("assistant", '{"final_answer": "Done: \\"ä\\"."}'),
    ]


def test_what_was_no_success_says_so() -> None:
    call = ToolCall("o", "w", "Read", "{}")
    for status, words in (("denied", "denied"), ("timed_out", "timed out")):
        assert said(step(call, status=status))[1][1].startswith(f"Result ({words}) of Read:\n")


def test_steps_of_another_protocol_are_retold() -> None:
    """Several calls in one response, text beside them, arguments that are no JSON."""
    calls = [ToolCall("o1", "w", "Read", "{broken"), ToolCall("o2", "w", "odd name!", "{}")]
    assert said(step(*calls, text="I look."))[::2] == [
        ("assistant", 'I look.\n\n{"tool": "Read", "arguments": {}}'),
        ("assistant", '{"tool": "odd_name_", "arguments": {}}'),
    ]


def test_media_of_a_result_are_named_and_lone_surrogates_mended() -> None:
    call = ToolCall("o", "w", "Read", "{}")
    shot = Media("image", "image/png", "0" * 64, 12, "shot.png")
    seen = Step(Assistant((call,), "calls"), (ToolResult("o", "ok", (Text("a\ud800"), shot)),))
    text = said(seen, step(text="b\ud800"))
    assert "shot.png" in text[1][1] and "a\ufffd" in text[1][1]
    assert json.loads(text[2][1]) == {"final_answer": "b\ufffd"}


def test_a_cap_limits_free_strings_and_nothing_else() -> None:
    schema = {
        "type": "object",
        "properties": {
            "type": {"type": "string"},
            "short": {"type": "string", "maxLength": 5},
            "long": {"type": ["string", "null"], "maxLength": 9000},
            "choice": {"type": "string", "enum": ["a", "b"]},
            "pattern": {"type": "string", "pattern": "^a$"},
            "list": {"type": "array", "items": {"type": "string"}},
            "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
            "open": {"type": "object", "additionalProperties": {"type": "string"}},
        },
    }
    made = json.loads(response_format((ToolSpec("T", "t", schema),), 50))["json_schema"]["schema"]["anyOf"]
    properties = made[0]["properties"]["arguments"]["properties"]
    assert properties == {
        "type": {"type": "string", "maxLength": 50},
        "short": {"type": "string", "maxLength": 5},
        "long": {"type": ["string", "null"], "maxLength": 50},
        "choice": {"type": "string", "enum": ["a", "b"]},
        "pattern": {"type": "string", "pattern": "^a$"},
        "list": {"type": "array", "items": {"type": "string", "maxLength": 50}},
        "either": {"anyOf": [{"type": "string", "maxLength": 50}, {"type": "integer"}]},
        "open": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 50}},
    }
    assert made[0]["properties"]["tool"] == {"const": "T"}
    assert made[-1]["properties"]["final_answer"]["maxLength"] == 50
    assert "maxLength" not in schema["properties"]["type"], "the tool's own schema stays as it is"


def test_a_small_model_is_shown_an_example_when_its_tools_are_there() -> None:
    tools = tuple(ToolSpec(name, name, READ.schema) for name in sorted(TOOLS))
    shown = said(user("hi"), cap=SMALL_STRING, tools=tools)
    assert len(shown) > 10 and shown[-1] == ("user", "hi")
    answers = [json.loads(text) for role, text in shown if role == "assistant"]
    assert {answer.get("tool", "final_answer") for answer in answers} == {*TOOLS, "final_answer"}
    assert HINT not in "".join(text for _, text in shown)
    assert said(user("hi"), cap=SMALL_STRING) == [("user", "hi")], "not without them"
    assert said(user("hi"), tools=tools) == [("user", "hi")], "not for a large model"


# --- the stable prefix -----------------------------------------------------------------------------------------------

texts = st.text(max_size=20)
arguments = st.one_of(st.just('{"a": 1}'), st.just("{broken"), texts)


@st.composite
def steps(draw: st.DrawFn) -> Step:
    calls = [
        ToolCall(f"id{draw(st.integers(0, 10**9))}-{i}", "w", draw(texts), draw(arguments))
        for i in range(draw(st.integers(0, 3)))
    ]
    return step(*calls, text=draw(texts), reasoning=draw(texts), status=draw(st.sampled_from(["ok", "error"])))


entries = st.one_of(texts.map(user), steps(), st.builds(Summary, texts, st.just("r")))


@settings(max_examples=150, deadline=None)
@given(
    st.lists(entries, max_size=10),
    st.sampled_from([COMPATIBLE, OPENAI, LLAMA_CPP]),
    st.sampled_from(["", "head"]),
    st.sampled_from([0, 100]),
)
def test_each_request_is_a_prefix_of_the_next_and_equals_one_made_from_scratch(
    history: list[Entry], dialect: Dialect, prefix_id: str, cap: int
) -> None:
    encoder = SchemaEncoder(dialect, "me", cap)
    before = b""
    for count in range(len(history) + 1):
        asked = request(*history[:count], prefix_id=prefix_id)
        made = encoder.encode(asked)
        assert made.endswith(b"]}") and made.startswith(before)
        assert made == SchemaEncoder(dialect, "me", cap).encode(asked)
        json.loads(made)
        before = made[:-2]


def test_conversations_do_not_mix() -> None:
    encoder = SchemaEncoder(COMPATIBLE)
    one, two = [user("one")], [user("two")]
    for turn in range(20):
        for mine in (one, two, [user(f"subagent {turn}")]):
            mine.append(step(text=str(turn)))
            asked = request(*mine)
            assert encoder.encode(asked) == SchemaEncoder(COMPATIBLE).encode(asked)


@pytest.mark.parametrize("changes", [{"model": "n"}, {"options": Options(0.1)}, {"tools": ()}, {"system": ("X",)}])
def test_another_head_is_encoded_anew(changes: dict[str, Any]) -> None:
    encoder = SchemaEncoder(COMPATIBLE)
    encoder.encode(request(user("hi")))
    asked = request(user("hi"), **changes)
    assert encoder.encode(asked) == SchemaEncoder(COMPATIBLE).encode(asked)


def test_only_new_entries_are_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    from agenyx.core import json as real

    encoder = SchemaEncoder(COMPATIBLE)
    history: list[Entry] = [user("x"), *(step(text=str(i)) for i in range(500))]
    encoder.encode(request(*history))
    written: list[object] = []
    encode = real.encode
    monkeypatch.setattr(real, "encode", lambda value: (written.append(value), encode(value))[1])
    encoder.encode(request(*history, step(text="new")))
    assert 1 <= len(written) <= 3

"""Chat-completions requests: the shape of the wire, and the stable prefix over any conversation that grows."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agenyx.core.messages import (
    Assistant,
    Entry,
    Media,
    Opaque,
    Reasoning,
    Step,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    User,
)
from agenyx.core.tools import ToolSpec
from agenyx.llm.chat_encode import ChatEncoder
from agenyx.llm.dialects import COMPATIBLE, DETAILS, EXTRA, LLAMA_CPP, OLLAMA, OPENAI, OPENROUTER, THINKING, Dialect
from agenyx.llm.encode import wire_args, wire_name
from agenyx.llm.request import Options, Request

TOOL = ToolSpec("Read", "Read a file.", {"type": "object", "properties": {"z": {"type": "string"}, "a": {}}})


def user(text: str) -> User:
    return User((Text(text),))


def step(*calls: ToolCall, text: str = "", reasoning: str = "", binding: str = "") -> Step:
    blocks = (*([Reasoning(reasoning)] if reasoning else []), *([Text(text)] if text else []), *calls)
    results = tuple(ToolResult(call.id, "ok", (Text(f"result of {call.id}"),)) for call in calls)
    return Step(Assistant(blocks, "calls" if calls else "end", binding=binding), results)


def request(*entries: Entry, **changes: Any) -> Request:
    return replace(Request("m", Options(), (TOOL,), ("One.", "", "Two."), entries), **changes)


def body(*entries: Entry, dialect: Dialect = COMPATIBLE, binding: str = "", **changes: Any) -> dict[str, Any]:
    return json.loads(ChatEncoder(dialect, binding).encode(request(*entries, **changes)))


def test_the_order_on_the_wire() -> None:
    raw = ChatEncoder(OPENAI).encode(request(user("hi"), options=Options(0.5, 100, "low")))
    options = ["temperature", "max_completion_tokens", "reasoning_effort"]
    assert list(json.loads(raw)) == ["model", "stream", "stream_options", *options, "tools", "messages"]
    assert raw.endswith(b'{"role":"user","content":"hi"}]}')
    assert json.loads(raw)["messages"][0] == {"role": "system", "content": "One.\n\nTwo."}
    assert list(json.loads(raw)["tools"][0]["function"]["parameters"]["properties"]) == ["z", "a"]


def test_options_only_when_set_and_by_dialect() -> None:
    assert list(body(user("hi"), tools=(), system=())) == ["model", "stream", "stream_options", "messages"]
    assert body(options=Options(max_output=9))["max_tokens"] == 9
    assert "reasoning_effort" not in body(options=Options(effort="high"), dialect=LLAMA_CPP)
    assert "stream_options" not in body(dialect=replace(COMPATIBLE, usage=False))


def test_a_whole_conversation() -> None:
    a, b = ToolCall("ours1", "call_a", "Read", '{"z": "x"}'), ToolCall("ours2", "call_b", "Read", "{}")
    messages = body(
        user("do"), user("notice"), step(a, b, text="I read."), step(text="Done."), Summary("so far", "r1")
    )["messages"]
    assert messages[1:] == [
        {"role": "user", "content": "do"},
        {"role": "user", "content": "notice"},
        {
            "role": "assistant",
            "content": "I read.",
            "tool_calls": [
                {"id": "call_a", "type": "function", "function": {"name": "Read", "arguments": '{"z": "x"}'}},
                {"id": "call_b", "type": "function", "function": {"name": "Read", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_a", "content": "result of ours1"},
        {"role": "tool", "tool_call_id": "call_b", "content": "result of ours2"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "so far"},
    ]


def test_repeated_missing_and_huge_ids_become_unique_and_match_their_results() -> None:
    calls = [ToolCall(f"our{i}", wire, "Read", "{}") for i, wire in enumerate(["x", "x", "", "", "y" * 500])]
    for dialect in (OPENAI, COMPATIBLE):
        history = (user("do"), step(*calls), step(ToolCall("our9", "x", "Read", "{}")))
        messages = body(*history, dialect=dialect)["messages"]
        asked = [c["id"] for m in messages for c in m.get("tool_calls", [])]
        answered = [m["tool_call_id"] for m in messages if m["role"] == "tool"]
        assert asked == answered
        assert len(set(asked)) == 6 and asked[0] == "x" and all(asked)
        assert max(map(len, asked)) <= 40 if dialect is OPENAI else asked[4] == "y" * 500


def test_what_a_server_attached_to_a_call_goes_back_to_that_server_only() -> None:
    call = ToolCall("o", "w", "Read", "{}", Opaque("me", EXTRA, '{"google":{"thought_signature":"abc"}}'))
    sent = body(step(call), binding="me")["messages"][1]["tool_calls"][0]
    assert sent["extra_content"] == {"google": {"thought_signature": "abc"}}
    assert "extra_content" not in body(step(call), binding="other")["messages"][1]["tool_calls"][0]


@pytest.mark.parametrize(
    ("args", "sent"),
    [
        ('{ "a" : 1 }', '{ "a" : 1 }'),
        ("", "{}"),
        ("{broken", "{}"),
        ("[1]", "{}"),
        ('"text"', "{}"),
        ("NaN", "{}"),
        ('{"a": "\\ud800"}', '{"a":"\ufffd"}'),
        ('{"a": "\\\\ud800"}', '{"a":"\\\\ud800"}'),
    ],
)
def test_arguments_go_back_as_the_model_wrote_them_or_as_an_empty_object(args: str, sent: str) -> None:
    assert wire_args(args) == sent


@given(st.text())
def test_names_go_back_in_a_form_that_servers_accept(name: str) -> None:
    sent = wire_name(name)
    assert 1 <= len(sent) <= 64 and all(c.isascii() and (c.isalnum() or c in "_-") for c in sent)
    if name and sent == name:
        assert wire_name(sent) == sent


def test_reasoning_goes_back_only_where_the_server_wants_it() -> None:
    call = ToolCall("o", "w", "Read", "{}")
    mine = step(call, reasoning="hmm", binding="me")
    assert "reasoning_content" not in body(mine)["messages"][1]
    assert body(mine, dialect=THINKING, binding="me")["messages"][1]["reasoning_content"] == "hmm"
    assert body(mine, dialect=THINKING, binding="other")["messages"][1]["reasoning_content"] == ""
    assert body(step(call, binding="me"), dialect=THINKING, binding="me")["messages"][1]["reasoning_content"] == ""
    assert (
        "reasoning_content"
        not in body(step(text="t", reasoning="hmm", binding="me"), dialect=THINKING, binding="me")["messages"][1]
    )


def test_some_servers_take_reasoning_back_but_no_empty_one() -> None:
    call = ToolCall("o", "w", "Read", "{}")
    for dialect, field in ((OLLAMA, "reasoning"), (LLAMA_CPP, "reasoning_content")):
        mine = body(step(call, reasoning="hmm", binding="me"), dialect=dialect, binding="me")["messages"][1]
        assert mine[field] == "hmm"
        assert field not in body(step(call, binding="me"), dialect=dialect, binding="me")["messages"][1]


def test_details_of_reasoning_go_back_byte_by_byte_to_who_made_them() -> None:
    raw = '[{"type" : "reasoning.encrypted","data":"a\\u002b=="}]'
    call = ToolCall("o", "w", "Read", "{}")
    for calls in ((call,), ()):
        results = tuple(ToolResult(call.id, "ok", ()) for call in calls)
        mine = Step(Assistant((Reasoning("", Opaque("me", DETAILS, raw)), Text("t"), *calls), "calls"), results)
        assert raw.encode() in ChatEncoder(OPENROUTER, "me").encode(request(mine))
        assert "reasoning_details" not in body(mine, dialect=OPENROUTER, binding="other")["messages"][1]
        assert "reasoning_details" not in body(mine, binding="me")["messages"][1]


def test_effort_in_the_form_of_the_server() -> None:
    assert body(options=Options(effort="high"), dialect=OPENROUTER)["reasoning"] == {"effort": "high"}
    assert body(options=Options(effort="high"), dialect=OPENAI)["reasoning_effort"] == "high"


def test_media_are_named_in_words() -> None:
    media = Media("image", "image/png", "0" * 64, 1234, "shot.png")
    text = body(User((Text("look:"), media)))["messages"][1]["content"]
    assert "look:" in text and "shot.png" in text and "image/png" in text


def test_an_empty_answer_and_calls_without_text() -> None:
    assert body(step())["messages"][1] == {"role": "assistant", "content": ""}
    assert body(step(ToolCall("o", "w", "Read", "{}")))["messages"][1]["content"] is None


def test_a_lone_surrogate_does_not_stop_a_request() -> None:
    assert body(user("a\ud800b"))["messages"][1]["content"] == "a\ufffdb"


# --- the stable prefix -----------------------------------------------------------------------------------------------

texts = st.text(max_size=30)
wire_ids = st.sampled_from(["", "a", "b", "call_1", "x" * 100])
argument_texts = st.one_of(st.just('{"a": 1}'), st.just("{broken"), texts)


@st.composite
def steps(draw: st.DrawFn) -> Step:
    count = draw(st.integers(0, 3))
    calls = [
        ToolCall(f"id{draw(st.integers(0, 10**9))}-{i}", draw(wire_ids), draw(texts), draw(argument_texts))
        for i in range(count)
    ]
    return step(*calls, text=draw(texts), reasoning=draw(texts), binding=draw(st.sampled_from(["", "me"])))


entries = st.one_of(
    texts.map(user),
    steps(),
    st.builds(Summary, texts, st.just("r")),
    st.builds(
        User, st.tuples(st.builds(Text, texts), st.just(Media("image", "image/png", "0", 1, "n"))), st.just("notice")
    ),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(entries, max_size=12),
    st.sampled_from([COMPATIBLE, OPENAI, LLAMA_CPP, THINKING]),
    st.sampled_from(["", "head"]),
)
def test_each_request_is_a_prefix_of_the_next_and_equals_one_made_from_scratch(
    history: list[Entry], dialect: Dialect, prefix_id: str
) -> None:
    encoder = ChatEncoder(dialect, "me")
    before = b""
    for count in range(len(history) + 1):
        asked = request(*history[:count], prefix_id=prefix_id)
        made = encoder.encode(asked)
        assert made.endswith(b"]}") and made.startswith(before)
        assert made == ChatEncoder(dialect, "me").encode(asked)
        assert json.loads(made)["stream"] is True
        before = made[:-2]


def test_conversations_do_not_mix() -> None:
    encoder = ChatEncoder(COMPATIBLE)
    one, two = [user("one")], [user("two")]
    for turn in range(20):
        for mine in (one, two, [user(f"subagent {turn}")]):
            mine.append(step(text=str(turn)))
            asked = request(*mine)
            assert encoder.encode(asked) == ChatEncoder(COMPATIBLE).encode(asked)


@pytest.mark.parametrize(
    "changes",
    [
        {"model": "n"},
        {"options": Options(0.1)},
        {"tools": ()},
        {"system": ("Other.",)},
        {"prefix_id": "p", "system": ("X",)},
    ],
)
def test_another_head_is_encoded_anew(changes: dict[str, Any]) -> None:
    encoder = ChatEncoder(COMPATIBLE)
    encoder.encode(request(user("hi")))
    asked = request(user("hi"), **changes)
    assert encoder.encode(asked) == ChatEncoder(COMPATIBLE).encode(asked)


def test_a_history_that_was_rewound_is_encoded_anew() -> None:
    encoder = ChatEncoder(COMPATIBLE)
    encoder.encode(request(user("a"), step(text="b"), user("c")))
    asked = request(user("a"), step(text="other"))
    assert encoder.encode(asked) == ChatEncoder(COMPATIBLE).encode(asked)


def test_only_new_entries_are_encoded(monkeypatch: pytest.MonkeyPatch) -> None:
    from agenyx.llm import chat_encode

    count = 0
    real = chat_encode.json.encode

    def counting(value: object) -> bytes:
        nonlocal count
        count += 1
        return real(value)

    encoder = ChatEncoder(COMPATIBLE)
    history: list[Entry] = [user("x"), *(step(text=str(i)) for i in range(500))]
    encoder.encode(request(*history))
    monkeypatch.setattr(chat_encode.json, "encode", counting)
    encoder.encode(request(*history, user("new")))
    assert count == 1

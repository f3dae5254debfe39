"""Calls printed as text: the known shapes, nothing else, and only where the whole answer is one."""

from __future__ import annotations

import json

import pytest

from agenyx.core.events import CallDraft, Done, Failure, ModelEvent, TextDelta
from agenyx.core.messages import Text
from agenyx.llm.chat_decode import ChatDecoder
from agenyx.llm.failures import Target
from agenyx.llm.text_calls import HELD, TextCalls, calls_in, may_begin
from support.raw_server import call, content, event, finish

NAMES = {"Read", "LS"}
BARE = '{"name": "Read", "arguments": {"file_path": "a.py"}}'
TARGET = Target("http://127.0.0.1/v1/chat/completions", "127.0.0.1", "m", False)

SHAPES = {
    "qwen": f"<tool_call>\n{BARE}\n</tool_call>",
    "qwen without its end": f"<tool_call>\n{BARE}",
    "json fence": f"```json\n{BARE}\n```",
    "fence": f"```\n{BARE}\n```",
    "bare": f"  {BARE}\n",
    "llama": '<|python_tag|>{"name": "Read", "parameters": {"file_path": "a.py"}}<|eom_id|>',
    "mistral": f"[TOOL_CALLS] [{BARE}]",
    "arguments as text": '{"name": "Read", "arguments": "{\\"file_path\\": \\"a.py\\"}"}',
}


@pytest.mark.parametrize("shape", SHAPES)
def test_known_shapes(shape: str) -> None:
    (found,) = calls_in(SHAPES[shape], NAMES)
    assert (found.name, json.loads(found.args)) == ("Read", {"file_path": "a.py"})


def test_several_calls() -> None:
    two = '{"name": "LS", "arguments": {}}'
    for text in (f"<tool_call>{BARE}</tool_call>\n<tool_call>{two}</tool_call>", f"[TOOL_CALLS][{BARE},{two}]"):
        assert [found.name for found in calls_in(text, NAMES)] == ["Read", "LS"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sure: " + BARE,
        BARE + " I will read it.",
        f"```json\n{BARE}\n```\nThis reads it.",
        f"<tool_call>{BARE}</tool_call> done",
        f"<tool_call>{BARE}</tool_call><tool_call>{{broken</tool_call>",
        BARE.replace("Read", "Unknown"),
        '{"name": "Read"}',
        '{"name": "Read", "arguments": [1]}',
        '{"name": "Read", "arguments": {}, "why": "x"}',
        '{"name": 7, "arguments": {}}',
        "[TOOL_CALLS] []",
        "[1]",
        "{",
    ],
)
def test_everything_else_is_text(text: str) -> None:
    assert calls_in(text, NAMES) == ()


def test_what_may_begin_one() -> None:
    assert all(map(may_begin, ["", " ", "<", "<tool", "```", "```js", "```json\n{", "{", "[TOOL", "<|python_tag|>{"]))
    assert not any(map(may_begin, ["Hello", "[1]", "<b>", "```python\n", "<tool_box>"]))


def run(*pieces: str, names: set[str] = NAMES, last: bytes = event(finish()) + b"data: [DONE]\n\n") -> list[ModelEvent]:
    decoder = TextCalls(ChatDecoder(TARGET, "me"), names)
    raw = [event(content(piece)) for piece in pieces] + [last]
    return [found for part in raw for found in decoder.feed(part)] + decoder.end()


def shown(events: list[ModelEvent]) -> list[str]:
    return [e.text for e in events if isinstance(e, TextDelta)]


@pytest.mark.parametrize("shape", SHAPES)
def test_nobody_reads_the_text_of_a_call(shape: str) -> None:
    events = run(*SHAPES[shape])
    done = events[-1]
    assert isinstance(done, Done) and shown(events) == []
    assert done.assistant.stop == "calls" and done.assistant.text == "" and len(done.assistant.calls) == 1
    assert [e.name for e in events if isinstance(e, CallDraft)] == ["Read"]


def test_plain_text_is_shown_at_once_and_json_in_the_end() -> None:
    assert shown(run("Hel", "lo", " you")) == ["Hel", "lo", " you"]
    events = run("{", '"a": 1}')
    assert shown(events) == ["{", '"a": 1}'] and isinstance(events[-1], Done)
    assert events[-1].assistant.blocks == (Text('{"a": 1}'),)


def test_a_real_call_leaves_the_text_alone() -> None:
    last = event(call("LS", "{}")) + event(finish("tool_calls")) + b"data: [DONE]\n\n"
    events = run(BARE, last=last)
    done = events[-1]
    assert isinstance(done, Done) and [c.name for c in done.assistant.calls] == ["LS"]
    assert shown(events) == [BARE] and done.assistant.text == BARE


def test_text_that_breaks_off_is_shown() -> None:
    events = run("<tool_call>{", last=b"")
    assert shown(events) == ["<tool_call>{"] and isinstance(events[-1], Failure)
    assert not [e for e in run(BARE, last=event(finish("length")) + b"data: [DONE]\n\n") if isinstance(e, CallDraft)]


def test_not_everything_is_held_back() -> None:
    assert sum(map(len, shown(run("{" + "x" * HELD, "y", last=b"")))) > HELD
    assert shown(run(BARE, names=set())) == [BARE]

"""Answers of the JSON-schema protocol: every split of the bytes, calls and answers, what is cut and what is broken."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agenyx.core.events import CallDraft, Done, Failure, ModelEvent, ReasoningDelta, Started, TextDelta, Usage
from agenyx.core.messages import Assistant, Reasoning, Text, ToolCall
from agenyx.llm.failures import Target
from agenyx.llm.schema_decode import SchemaDecoder
from support.raw_server import call, content, delta, event, finish, reasoning, usage

TARGET = Target("http://127.0.0.1/v1/chat/completions", "127.0.0.1", "asked-model", True)
DONE = b"data: [DONE]\n\n"


def lines(*payloads: dict[str, Any], done: bool = True) -> bytes:
    return b"".join(event(payload) for payload in payloads) + (DONE if done else b"")


def decode(parts: list[bytes], cap: int = 0) -> list[ModelEvent]:
    decoder = SchemaDecoder(TARGET, "bound", cap)
    events = [found for part in parts for found in decoder.feed(part)]
    return events + decoder.end()


def spoken(text: str, stop: str = "stop", size: int = 3) -> list[dict[str, Any]]:
    return [*(content(text[i : i + size]) for i in range(0, len(text), size)), finish(stop)]


def answer(text: str, stop: str = "stop", cap: int = 0) -> Assistant:
    last = decode([lines(*spoken(text, stop))], cap)[-1]
    assert isinstance(last, Done), last
    return last.assistant


def sum_up(events: list[ModelEvent]) -> tuple[Any, ...]:
    text = "".join(e.text for e in events if isinstance(e, TextDelta))
    thought = "".join(e.text for e in events if isinstance(e, ReasoningDelta))
    draft = "".join(e.text for e in events if isinstance(e, CallDraft))
    rest = [e for e in events if isinstance(e, Started | Usage | Done | Failure)]
    return text, thought, draft, rest


RECORDED = {
    "a call": lines(
        reasoning("Look first."),
        *spoken('{"tool": "Read", "arguments": {"file_path": "ä \\"q\\" 😀.py"}}'),
        usage(100, 20, prompt_tokens_details={"cached_tokens": 64}),
    ),
    "an answer": lines(*spoken(r'{"final_answer": "It is d\u00f6ne \ud83d\ude00.\n\"ä\""}', size=5), usage(9, 2)),
    "prose": lines(*spoken("I will not answer in JSON.")),
    "cut": lines(*spoken('{"tool": "Write", "arguments": {"content": "half', "length")),
    "error": lines(
        *spoken('{"final_answer": "par')[:-1], {"error": {"message": "Overloaded", "code": 529}}, done=False
    ),
    "truncated": lines(*spoken('{"final_answer": "par')[:-1], done=False),
}


@pytest.mark.parametrize("name", RECORDED)
def test_every_split_gives_the_same_response(name: str) -> None:
    raw = RECORDED[name]
    whole = sum_up(decode([raw]))
    for cut in range(len(raw) + 1):
        assert sum_up(decode([raw[:cut], raw[cut:]])) == whole, cut
    assert sum_up(decode([raw[i : i + 1] for i in range(len(raw))])) == whole


def test_a_call() -> None:
    exact = '{"file_path": "ä \\"q\\" 😀.py"}'
    text, thought, draft, rest = sum_up(decode([RECORDED["a call"]]))
    assert (text, thought, draft) == ("", "Look first.", exact)
    made = Assistant(
        (Reasoning("Look first."), ToolCall("", "", "Read", exact)), "calls", "served-model", binding="bound"
    )
    assert rest == [Started("chatcmpl-1", "served-model"), Usage(36, 64, 0, 20), Done(made)]


def test_an_answer_is_shown_as_it_arrives() -> None:
    decoder = SchemaDecoder(TARGET)
    shown: list[str] = []
    for piece in ('{"final', '_answer": "It is ', "done", " \\ud83d", '\\ude00."', "}"):
        events = decoder.feed(lines(content(piece), done=False))
        shown.append("".join(found.text for found in events if isinstance(found, TextDelta)))
    assert shown == ["", "It is ", "done", " ", "😀.", ""]
    last = decoder.feed(lines(finish()))[-1]
    assert isinstance(last, Done)
    assert last.assistant.blocks == (Text("It is done 😀."),) and last.assistant.stop == "end"


def test_a_draft_names_its_tool() -> None:
    drafts = [
        e for e in decode([lines(*spoken('{"tool": "Read", "arguments": {"a": 1}}'))]) if isinstance(e, CallDraft)
    ]
    assert {draft.name for draft in drafts} == {"Read"}


def test_what_is_shown_is_what_is_stored() -> None:
    for raw in RECORDED.values():
        events = decode([raw[i : i + 7] for i in range(0, len(raw), 7)])
        if isinstance(events[-1], Done):
            text = "".join(e.text for e in events if isinstance(e, TextDelta))
            assert events[-1].assistant.text == text


@pytest.mark.parametrize("stop", ["length", "content_filter"])
def test_a_call_that_was_cut_off_is_dropped(stop: str) -> None:
    made = answer('{"tool": "Write", "arguments": {"content": "half', stop)
    assert made.calls == () and made.stop == ("length" if stop == "length" else "filter")
    whole = answer('{"tool": "Write", "arguments": {"content": "all"}}', stop)
    assert [c.args for c in whole.calls] == ['{"content": "all"}'], "one that is whole is not"


def test_an_answer_that_was_cut_off_is_kept_as_far_as_it_came() -> None:
    made = answer('{"final_answer": "half a sen', "length")
    assert (made.text, made.stop) == ("half a sen", "length")


def test_a_broken_call_reaches_the_model_as_malformed() -> None:
    made = answer('{"tool": "Read", "arguments": {"file_path": ')
    assert [(c.name, c.args) for c in made.calls] == [("Read", '{"file_path": ')] and made.stop == "calls"


def test_a_string_that_fills_the_cap_was_cut_by_the_grammar() -> None:
    for text in ('{"tool": "Write", "arguments": {"a": ["x", "%s"]}}', '{"final_answer": "%s"}'):
        whole, cut = answer(text % ("x" * 19), cap=20), answer(text % ("x" * 20), cap=20)
        assert whole.stop in ("end", "calls") and whole.blocks
        assert cut.stop == "length" and cut.calls == ()
    assert answer('{"final_answer": "%s"}' % ("x" * 20), cap=20).text == "x" * 20


@pytest.mark.parametrize("text", ["Just prose.", '{"name": "Read"}', "[1]", '{"final_answer": 42}', "```json\n{}\n```"])
def test_what_is_not_of_the_protocol_is_shown(text: str) -> None:
    made = answer(text)
    assert made.stop == "end" and made.calls == ()
    assert made.text == ("42" if "final_answer" in text else text)


def test_an_empty_answer_and_no_content() -> None:
    assert answer('{"final_answer": ""}').blocks == ()
    assert answer("", "length").blocks == ()
    failure = decode([lines(done=True)])[-1]
    assert isinstance(failure, Failure) and failure.kind == "truncated"


def test_a_refusal_and_calls_that_the_server_made_itself() -> None:
    refused = decode([lines(delta({"refusal": "I cannot."}), finish())])[-1]
    assert isinstance(refused, Done) and (refused.assistant.text, refused.assistant.stop) == ("I cannot.", "refusal")
    native = decode([lines(call("Read", '{"a": 1}'), finish("tool_calls"))])[-1]
    assert isinstance(native, Done) and [c.name for c in native.assistant.calls] == ["Read"]


def test_failures_are_those_of_the_chat_wire() -> None:
    for name, kind in (("error", "busy"), ("truncated", "truncated")):
        events = decode([RECORDED[name]])
        assert sum_up(events)[0] == "par"
        assert isinstance(events[-1], Failure) and events[-1].kind == kind
    broken = decode([b"data: {broken\n\n"])[-1]
    assert isinstance(broken, Failure) and broken.kind == "protocol"


def test_arguments_are_the_exact_text_of_the_model() -> None:
    exact = '{ "b":1,\n  "a" : [ {"x":"}"} ] }'
    made = answer(f'{{"arguments":{exact}, "tool":"T"}}')
    assert made.calls[0].args == exact and json.loads(exact)

"""Calls while they stream, as events of the Messages API: order, ids, and that they say what the record says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agenyx.core.events import Body, CallDraft, Done, ReasoningDelta, Started, StepStarted, TextDelta
from agenyx.core.messages import Assistant
from agenyx.ui.wire.partials import Partials
from support.raw_server import RawServer, call, content, finish, stream, usage
from support.wire_host import Host, says

PARTIAL = "--include-partial-messages"
DONE = Done(Assistant((), "calls", "m"))


def events(*bodies: Body) -> list[dict[str, Any]]:
    partials = Partials()
    return [event for body in (StepStarted(), Started("r", "m"), *bodies) for event in partials.events(body, "r", "m")]


def blocks(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The content that a client puts together; fails where the order is none of the Messages API."""
    made: list[dict[str, Any]] = []
    open_: int | None = None
    for event in found:
        match event["type"]:
            case "content_block_start":
                assert open_ is None and event["index"] == len(made)
                open_ = event["index"]
                made.append({**event["content_block"], "json": ""})
            case "content_block_delta":
                assert event["index"] == open_
                for member in ("text", "thinking"):
                    if member in event["delta"]:
                        made[-1][member] += event["delta"][member]
                made[-1]["json"] += event["delta"].get("partial_json", "")
            case "content_block_stop":
                assert event["index"] == open_
                open_ = None
            case _:
                pass
    assert open_ is None
    return made


def test_a_call_is_told_as_it_comes() -> None:
    found = events(
        TextDelta(0, "Let me"), CallDraft(1, "Read", '{"file', "c1"), CallDraft(1, "Read", '_path": "a"}'), DONE
    )
    assert [event["type"] for event in found] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]
    said, called = blocks(found)
    assert said["text"] == "Let me"
    assert (called["type"], called["id"], called["name"], called["input"]) == ("tool_use", "c1", "Read", {})
    assert called["json"] == '{"file_path": "a"}'


def test_calls_that_come_mixed_up_are_told_one_after_the_other() -> None:
    found = events(
        CallDraft(0, "Read", '{"a": ', "c1"),
        CallDraft(1, "Grep", '{"b": ', "c2"),
        ReasoningDelta(2, "hm"),
        CallDraft(0, "Read", "1}"),
        CallDraft(1, "Grep", "2}"),
        DONE,
    )
    assert [(one["type"], one.get("id"), one["json"]) for one in blocks(found)] == [
        ("tool_use", "c1", '{"a": 1}'),
        ("tool_use", "c2", '{"b": 2}'),
        ("thinking", None, ""),
    ]


def test_a_call_waits_for_its_name() -> None:
    found = events(CallDraft(0, "", '{"a"', "c1"), CallDraft(0, "Read", ": 1}"), DONE)
    assert [(one["name"], one["json"]) for one in blocks(found)] == [("Read", '{"a": 1}')]


def test_a_call_without_arguments_has_a_block() -> None:
    assert [one["name"] for one in blocks(events(CallDraft(0, "Now", "", "c1"), DONE))] == ["Now"]


def test_text_between_calls_keeps_its_place() -> None:
    found = events(
        TextDelta(0, "a"), CallDraft(1, "X", "{}", "c1"), TextDelta(0, "b"), CallDraft(2, "Y", "{}", "c2"), DONE
    )
    assert [one.get("text") or one.get("id") for one in blocks(found)] == ["a", "c1", "b", "c2"]


def test_the_streamed_calls_are_those_of_the_records(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "a").write_text("x", "utf-8")
    args = json.dumps({"file_path": "a"})
    reply = stream(
        content("Two files. "),
        call("Read", args[:6], "w1", 0),
        call("", args[6:], None, 0),
        call("LS", '{"path": "."}', "w2", 1),
        finish("tool_calls"),
        usage(10, 2),
    )
    with RawServer([[reply], says()]) as server, Host(tmp_path, server, PARTIAL) as host:
        host.prompt("go")
        host.result()
    found = [one["event"] for one in host.seen if one["type"] == "stream_event"]
    first = found[: [event["type"] for event in found].index("message_stop") + 1]
    streamed = [(one["id"], one["name"], json.loads(one["json"])) for one in blocks(first) if one["type"] == "tool_use"]
    told = [one["message"] for one in host.seen if one["type"] == "assistant"]
    called = [block for message in told for block in message["content"] if block["type"] == "tool_use"]
    assert streamed == [(block["id"], block["name"], block["input"]) for block in called]
    assert [name for _, name, _ in streamed] == ["Read", "LS"]
    assert {message["id"] for message in told[:3]} == {first[0]["message"]["id"]}
    results = [one["message"]["content"][0]["tool_use_id"] for one in host.seen if one["type"] == "user"]
    assert sorted(results) == sorted(ident for ident, _, _ in streamed)

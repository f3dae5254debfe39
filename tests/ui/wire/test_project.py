"""The golden events as records, in both dialects; and what hosts reject when it is missing (protocols.md §1.8).

AGENYX_WRITE_RECORDS=1 writes the golden records anew.
"""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path
from typing import Any, get_args

import pytest

from agenyx.core.events import AgentEvent, CallAccepted, CallFinished, Done, StepStarted, TurnFinished
from agenyx.core.json import decode, encode
from agenyx.core.messages import Assistant, Text, ToolCall, ToolResult
from agenyx.core.tools import Effects
from agenyx.ui.wire.dialect import Dialect
from agenyx.ui.wire.project import INTERRUPTED, Projection
from support.golden import SESSION, load

GOLDEN = Path(__file__).parent / "golden"
DIALECTS: tuple[Dialect, ...] = get_args(Dialect)


def told(dialect: Dialect, events: list[AgentEvent], *, partial: bool = True, forward: bool = False) -> list[Any]:
    numbers = count(1)
    projection = Projection(dialect, lambda: f"uuid-{next(numbers)}", partial=partial)
    projection.forward = forward
    found: list[Any] = []
    for at, event in enumerate(events):
        found += projection.records(event, at / 4)
        if isinstance(event.body, TurnFinished) and not event.agent:
            found.append(projection.result(event.body, f"prompt-{event.turn}"))
    return [decode(encode(record)) for record in found]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_golden_events_give_the_golden_records(dialect: Dialect) -> None:
    records = told(dialect, load())
    file = GOLDEN / f"{dialect}.jsonl"
    if os.environ.get("AGENYX_WRITE_RECORDS"):
        file.write_bytes(b"".join(encode(record) + b"\n" for record in records))
    assert records == [decode(row) for row in file.read_bytes().splitlines()]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("turn", ["work", "failed", "busy", "limit", "stopped", "cancelled"])
def test_what_hosts_reject_is_always_there(dialect: Dialect, turn: str) -> None:
    for record in told(dialect, load(turn)):
        assert record["uuid"] and record["session_id"] == SESSION
        match record["type"]:
            case "assistant":
                assert record["message"]["model"]
                assert record["parent_tool_use_id"] is None
                for block in record["message"]["content"]:
                    if block["type"] == "thinking":
                        assert isinstance(block["signature"], str)
                    elif block["type"] == "tool_use":
                        assert block["id"] and block["name"] and isinstance(block["input"], dict)
                    else:
                        assert isinstance(block["text"], str)
            case "user":
                for block in record["message"]["content"]:
                    assert block["type"] == "text" or block["tool_use_id"]
            case "stream_event":
                assert record["event"]["type"]
            case "result":
                required = {"subtype", "duration_ms", "duration_api_ms", "is_error", "num_turns", "session_id"}
                assert required <= set(record)
                assert ("result" in record) != ("errors" in record)
            case "system":
                assert record["subtype"]
            case other:
                assert other == "tool_progress"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_each_call_is_told_once_and_before_its_result(dialect: Dialect) -> None:
    used, ended = list[str](), list[str]()
    for record in told(dialect, load("work")):
        for block in record.get("message", {}).get("content", []):
            if block["type"] == "tool_use":
                used.append(block["id"])
            elif block["type"] == "tool_result":
                assert block["tool_use_id"] in used
                ended.append(block["tool_use_id"])
    assert sorted(used) == sorted(set(used)) == sorted(ended)


def test_partial_messages_are_whole_sequences_of_the_messages_api() -> None:
    open_block: int | None = None
    inside = False
    for record in told("sdk", load("work")):
        if record["type"] != "stream_event":
            continue
        event = record["event"]
        match event["type"]:
            case "message_start":
                assert not inside
                inside = True
            case "content_block_start":
                assert inside and open_block is None
                open_block = event["index"]
            case "content_block_delta":
                assert event["index"] == open_block
            case "content_block_stop":
                assert event["index"] == open_block
                open_block = None
            case "message_stop":
                assert inside and open_block is None
                inside = False
            case other:
                assert other == "message_delta"
    assert not inside


def test_without_partials_nothing_is_streamed() -> None:
    kinds = {record["type"] for record in told("sdk", load(), partial=False)}
    assert kinds == {"assistant", "user", "system", "result"}


# --- where the dialects differ ---------------------------------------------------------------------------------------


def test_sdk_partials_are_raw_events() -> None:
    events = [record["event"]["type"] for record in told("sdk", load("work")) if record["type"] == "stream_event"]
    assert "message_start" in events


def test_agentx_partials_are_text_deltas() -> None:
    events = [record["event"] for record in told("agentx", load("work")) if record["type"] == "stream_event"]
    assert events[0] == {"type": "response.output_text.delta", "delta": "Let me "}
    assert {event["type"] for event in events} == {"response.output_text.delta"}


def test_sdk_results_of_calls_carry_what_the_tool_said() -> None:
    results = [record for record in told("sdk", load("work")) if record["type"] == "user"]
    assert results[0]["tool_use_result"] == {"tool": "Grep", "status": "ok"}
    assert "isSynthetic" not in results[0]


def test_agentx_results_of_calls_are_synthetic() -> None:
    results = [record for record in told("agentx", load("work")) if record["type"] == "user"]
    assert all(record["isSynthetic"] for record in results)


def test_sdk_shows_reasoning() -> None:
    first = next(record for record in told("sdk", load("work")) if record["type"] == "assistant")
    assert [block["type"] for block in first["message"]["content"]] == ["thinking", "text"]


def test_agentx_shows_no_reasoning() -> None:
    assert "thinking" not in encode(told("agentx", load("work"))).decode()


def test_sdk_a_providers_failure_is_a_success_that_is_an_error() -> None:
    ended = told("sdk", load("failed"))[-1]
    assert (ended["subtype"], ended["is_error"], ended["result"]) == ("success", True, "the key was refused")
    assert ended["terminal_reason"] == "api_error"


def test_agentx_a_providers_failure_is_an_error() -> None:
    ended = told("agentx", load("failed"))[-1]
    assert (ended["subtype"], ended["stop_reason"]) == ("error_during_execution", "provider_error")
    assert ended["errors"] == ["the key was refused", "Set OPENAI_API_KEY again."]


def test_sdk_stop_reason_is_the_models_and_usage_that_of_the_turn() -> None:
    ended = told("sdk", load("work"))[-1]
    assert (ended["stop_reason"], ended["terminal_reason"]) == ("end_turn", "completed")
    assert ended["usage"]["output_tokens"] == 62
    assert ended["user_message_uuid"] == "prompt-work"


def test_sdk_a_cost_is_always_a_number() -> None:
    ended = told("sdk", load("work"))[-1]
    assert (ended["total_cost_usd"], ended["cost_known"]) == (0, False)


def test_agentx_a_cost_that_is_not_known_is_null() -> None:
    ended = told("agentx", load("work"))[-1]
    assert ended["total_cost_usd"] is None and "cost_known" not in ended


def test_agentx_stop_reason_is_how_it_ended_and_usage_that_of_the_session() -> None:
    records = [record for record in told("agentx", load("work") + load("work")) if record["type"] == "result"]
    assert [record["stop_reason"] for record in records] == ["completed", "completed"]
    assert [record["usage"]["output_tokens"] for record in records] == [62, 124]
    assert records[0]["prompt_uuid"] == "prompt-work"
    assert records[0]["total_cost_usd"] is None


def test_sdk_an_interrupt_is_told_as_a_message() -> None:
    *_, said, ended = told("sdk", load("cancelled"))
    assert said["message"]["content"] == [{"type": "text", "text": INTERRUPTED}]
    assert ended["subtype"] == "error_during_execution"


def test_agentx_an_interrupt_is_only_the_result() -> None:
    records = told("agentx", load("cancelled"))
    assert [record["type"] for record in records] == ["result"]
    assert records[0]["stop_reason"] == "cancelled"


def test_what_broke_off_is_told_before_the_result() -> None:
    *_, said, _ = told("sdk", load("limit"))
    assert said["message"]["content"] == [{"type": "text", "text": "so far"}]


# --- subagents -------------------------------------------------------------------------------------------------------

TASK = ToolCall("call_0123456789abcdef01234567", "w1", "Task", '{"prompt":"look"}')


def child() -> list[AgentEvent]:
    from agenyx.core.ids import child_id

    path, inner = f"explore/{child_id(TASK.id)}", ToolCall("call_2", "w2", "Read", "{}")
    bodies = [
        ("", StepStarted()),
        ("", CallAccepted(TASK, Effects())),
        (path, StepStarted()),
        (path, Done(Assistant((Text("I look."), inner), "calls", "m"))),
        (path, CallAccepted(inner, Effects())),
        (path, CallFinished(ToolResult("call_2", "ok", (Text("found"),)), "Read")),
    ]
    return [AgentEvent(at, SESSION, "t", 1, body, agent) for at, (agent, body) in enumerate(bodies)]


def test_sdk_calls_of_a_subagent_name_the_call_that_it_does() -> None:
    records = told("sdk", child())
    assert [record["parent_tool_use_id"] for record in records] == [None, TASK.id, TASK.id]
    assert "I look." not in encode(records).decode()


def test_sdk_what_a_subagent_says_is_told_where_the_host_wants_it() -> None:
    records = told("sdk", child(), forward=True)
    assert "I look." in encode(records).decode()


def test_agentx_hears_nothing_of_subagents() -> None:
    assert len(told("agentx", child())) == 1

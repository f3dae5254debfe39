"""The golden events as spans and measures: exact names, what stands below what, and content only where it is wanted."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from agenyx.app.telemetry.operations import Facts
from agenyx.app.telemetry.otel import Otel, Tally
from agenyx.app.telemetry.project import Projection
from agenyx.core.events import AgentEvent, CallAccepted, CallFinished, Outcome, StepStarted, TurnFinished, TurnStarted
from agenyx.core.ids import child_id
from agenyx.core.messages import Text, ToolCall, ToolResult
from agenyx.core.tools import Effects
from support.golden import MODEL, SECRETS, SESSION, load

FACTS = Facts("openai", "api.openai.com", 443, "1.2.3")


class Collected:
    """An in-memory exporter behind the projection; one second passes with each event."""

    def __init__(self, events: Iterable[AgentEvent], *, capture: bool = False, parent: dict[str, str] | None = None):
        self._spans, self._reader = InMemorySpanExporter(), InMemoryMetricReader()
        traces = TracerProvider()
        traces.add_span_processor(SimpleSpanProcessor(self._spans))
        sink = Otel(traces, MeterProvider([self._reader]), parent or {}, Tally())
        projection, second = Projection(FACTS, capture=capture), 0
        for second, event in enumerate(events):
            for operation in projection.take(event, float(second)):
                sink.apply("s", operation, second * 10**9)
        for operation in projection.abandon(float(second)):
            sink.apply("s", operation, second * 10**9)

    @property
    def spans(self) -> list[ReadableSpan]:
        return sorted(self._spans.get_finished_spans(), key=lambda span: span.start_time or 0)

    def span(self, name: str) -> ReadableSpan:
        (found,) = (span for span in self.spans if span.name == name)
        return found

    def points(self, name: str) -> list[Any]:
        data = self._reader.get_metrics_data()
        assert data is not None
        metrics = [m for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics if m.name == name]
        return [point for metric in metrics for point in metric.data.data_points]


def given(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def seconds(span: ReadableSpan) -> float:
    return ((span.end_time or 0) - (span.start_time or 0)) / 1e9


def test_a_turn_its_responses_and_its_calls_are_spans_with_the_names_of_the_conventions() -> None:
    seen = Collected(load("work"))
    assert [span.name for span in seen.spans] == [
        "invoke_agent agenyx",
        f"chat {MODEL}",
        "execute_tool Read",
        "execute_tool Grep",
        f"chat {MODEL}",
        "execute_tool Read",
        "execute_tool Bash",
        "execute_tool Edit",
        f"chat {MODEL}",
    ]
    turn, chat = seen.spans[0], seen.spans[1]
    assert turn.context is not None
    assert all(span.parent is not None and span.parent.span_id == turn.context.span_id for span in seen.spans[1:])
    assert given(turn) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": MODEL,
        "gen_ai.agent.name": "agenyx",
        "gen_ai.agent.version": "1.2.3",
        "gen_ai.conversation.id": SESSION,
        "server.address": "api.openai.com",
        "server.port": 443,
        "agenyx.turn": "work",
        "agenyx.mode": "default",
        "agenyx.outcome": "done",
        "agenyx.steps": 3,
        "gen_ai.usage.input_tokens": 370,
        "gen_ai.usage.output_tokens": 62,
        "gen_ai.usage.cache_read.input_tokens": 210,
        "gen_ai.usage.cache_creation.input_tokens": 10,
        "gen_ai.usage.reasoning.output_tokens": 5,
    }
    assert chat.kind is SpanKind.CLIENT and turn.kind is SpanKind.INTERNAL
    assert given(chat) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": MODEL,
        "gen_ai.request.stream": True,
        "gen_ai.output.type": "text",
        "gen_ai.response.id": "resp_1",
        "gen_ai.response.model": MODEL,
        "gen_ai.response.finish_reasons": ("tool_call",),
        "gen_ai.response.time_to_first_chunk": 2.0,
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 0,
        "gen_ai.usage.cache_creation.input_tokens": 0,
        "gen_ai.usage.reasoning.output_tokens": 5,
        "server.address": "api.openai.com",
        "server.port": 443,
        "agenyx.step": 1,
    }
    assert seconds(chat) == 7.0
    assert given(seen.span("execute_tool Grep")) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "Grep",
        "gen_ai.tool.call.id": "call_2",
        "gen_ai.tool.type": "function",
        "agenyx.status": "ok",
        "agenyx.run.seconds": 0.02,
    }


def test_what_went_wrong_is_on_the_span_and_what_happened_on_the_way() -> None:
    seen = Collected(load("work"))
    bash, edit = seen.span("execute_tool Bash"), seen.span("execute_tool Edit")
    assert bash.status.status_code is StatusCode.ERROR
    assert given(bash)["error.type"] == "denied"
    assert [event.name for event in edit.events] == [
        "agenyx.approval.asked",
        "agenyx.approval.settled",
        "agenyx.effect.started",
    ]
    again = seen.spans[4]
    assert [(event.name, dict(event.attributes or {})) for event in again.events] == [
        ("agenyx.retry", {"agenyx.attempt": 1, "agenyx.limit": 5, "agenyx.delay": 1.5})
    ]
    assert {event.name for event in seen.spans[0].events} == {
        "agenyx.compacted",
        "agenyx.cache.broke",
        "agenyx.mode.changed",
    }
    failed = Collected(load("failed"))
    assert [given(span).get("error.type") for span in failed.spans] == ["auth", "auth"]
    cancelled = Collected(load("cancelled"))
    assert [given(span).get("error.type") for span in cancelled.spans] == ["cancelled", "cancelled"]
    broken_off = Collected(load("work")[:12])
    assert {given(span).get("error.type") for span in broken_off.spans} == {"incomplete", None}


def test_metrics_have_the_names_units_and_buckets_of_the_conventions() -> None:
    seen = Collected(load("work"))
    durations = seen.points("gen_ai.client.operation.duration")
    of = {
        point.attributes["gen_ai.operation.name"]: point for point in durations if "error.type" not in point.attributes
    }
    assert (of["chat"].count, of["chat"].sum) == (3, 16.0)
    assert of["invoke_agent"].count == 1
    assert of["chat"].explicit_bounds[:3] == (0.01, 0.02, 0.04)
    assert of["chat"].attributes["gen_ai.response.model"] == MODEL
    tools = [point for point in durations if point.attributes["gen_ai.operation.name"] == "execute_tool"]
    assert {(point.attributes["gen_ai.tool.name"], point.attributes.get("error.type")) for point in tools} == {
        ("Read", None),
        ("Read", "denied"),
        ("Grep", None),
        ("Bash", "denied"),
        ("Edit", None),
    }
    tokens = {point.attributes["gen_ai.token.type"]: point for point in seen.points("gen_ai.client.token.usage")}
    assert (tokens["input"].sum, tokens["output"].sum) == (370, 62)
    first = seen.points("gen_ai.client.operation.time_to_first_chunk")
    assert [(point.count, point.sum) for point in first] == [(2, 4.0)]
    rest = seen.points("gen_ai.client.operation.time_per_output_chunk")
    assert [(point.count, point.sum) for point in rest] == [(4, 4.0)]


def test_content_is_there_only_for_who_asked_for_it() -> None:
    plain = repr([(span.name, given(span), span.events) for span in Collected(load()).spans])
    assert not [secret for secret in SECRETS if secret in plain]
    for words in ("Let me", "rm -rf", "Denied", "a is", "not that"):
        assert words not in plain
    seen = Collected(load("work"), capture=True)
    turn, first, second = seen.spans[0], seen.spans[1], seen.spans[4]
    assert json.loads(given(turn)["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "PROMPT-WORDS: tidy up"}]}
    ]
    assert json.loads(given(turn)["gen_ai.output.messages"])[0]["parts"][0]["content"].startswith("Done: a is")
    (answer,) = json.loads(given(first)["gen_ai.output.messages"])
    assert answer["finish_reason"] == "tool_call"
    assert [part["type"] for part in answer["parts"]] == ["reasoning", "text", "tool_call", "tool_call"]
    told = json.loads(given(second)["gen_ai.input.messages"])
    assert [(one["role"], one["parts"][0]["id"]) for one in told] == [("tool", "call_2"), ("tool", "call_1")]
    edit = given(seen.span("execute_tool Edit"))
    assert edit["gen_ai.tool.call.arguments"] == '{"file_path":"a.py","old_string":"1","new_string":"2"}'
    assert edit["gen_ai.tool.call.result"] == "Changed a.py"


def story(name: str, call: str, path: str) -> list[AgentEvent]:
    """A turn with one call, during which a subagent has a turn of its own if there is a path."""
    made = ToolCall(call, "w", name, "{}")
    bodies: list[tuple[str, Any]] = [("", TurnStarted("p", "m", "default")), ("", StepStarted())]
    bodies.append(("", CallAccepted(made, Effects())))
    if path:
        bodies += [(path, TurnStarted("q", "m2", "default")), (path, StepStarted())]
        bodies.append((path, TurnFinished(Outcome("done"), "", 1, 1.0)))
    bodies.append(("", CallFinished(ToolResult(call, "ok", (Text("x"),)), name)))
    bodies.append(("", TurnFinished(Outcome("done"), "", 1, 1.0)))
    return [AgentEvent(n, "s", "t", 1, body, agent) for n, (agent, body) in enumerate(bodies)]


def test_a_subagent_stands_below_the_call_that_it_does() -> None:
    call = "call_0192f3a4b5c6d7e8f9a0b1c2"
    seen = Collected(story("Task", call, f"explore/{child_id(call)}"))
    child, task, chat = seen.span("invoke_agent explore"), seen.span("execute_tool Task"), seen.span("chat m2")
    assert child.parent is not None and task.context is not None and child.context is not None
    assert child.parent.span_id == task.context.span_id
    assert chat.parent is not None and chat.parent.span_id == child.context.span_id
    assert given(child)["gen_ai.agent.id"] == child_id(call)
    assert len({span.context.trace_id for span in seen.spans if span.context}) == 1


def test_a_call_of_an_mcp_server_says_so() -> None:
    seen = Collected(story("mcp__github__create_issue", "call_1", ""))
    attributes = given(seen.span("execute_tool mcp__github__create_issue"))
    assert attributes["mcp.method.name"] == "tools/call"
    assert (attributes["gen_ai.tool.type"], attributes["agenyx.mcp.server"]) == ("extension", "github")


@pytest.mark.parametrize("name", ["rm -rf /home/x", "a\nb", "", "\u202ename"])
def test_what_is_no_name_of_a_tool_is_not_shown_as_one(name: str) -> None:
    seen = Collected(story(name, "call_1", ""))
    assert "execute_tool (no tool name)" in [span.name for span in seen.spans]


def test_the_trace_of_the_caller_goes_on() -> None:
    above = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    seen = Collected(load("work"), parent={"traceparent": above, "tracestate": "vendor=1"})
    turn = seen.spans[0]
    assert turn.context is not None and turn.parent is not None
    assert f"{turn.context.trace_id:032x}" == "0af7651916cd43dd8448eb211c80319c"
    assert f"{turn.parent.span_id:016x}" == "b7ad6b7169203331"
    assert turn.context.trace_state.get("vendor") == "1"
    damaged = Collected(load("work"), parent={"traceparent": "nonsense"})
    assert damaged.spans[0].parent is None

"""Telemetry of real runs: off unless a person switched it on, in nobody's way, and whole at the end."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agenyx.app.settings import Settings
from agenyx.app.start import open_conversation
from agenyx.app.telemetry.observed import Observed, observed
from agenyx.app.telemetry.operations import Operation
from agenyx.app.telemetry.otel import Otel, Tally
from agenyx.core.errors import ConfigError
from agenyx.core.events import AgentEvent, Notice
from support.collector import Collector, attributes
from support.golden import load
from support.mock import agenyx, command_env
from support.parts import Answers
from support.raw_server import CLIENT_GONE, RawServer, begin, call, content, finish, stream, usage

SCRIPT: list[Any] = [
    [stream(content("Let me see."), call("LS", '{"path":"."}'), finish("tool_calls"), usage(100, 20))],
    [stream(content("Nothing there."), finish(), usage(150, 7))],
]
NAMES = ["invoke_agent agenyx", "chat served-model", "execute_tool LS", "chat served-model"]
SECRET = "tok-3f9a7c51d2e8b604"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def environment(server: RawServer, home: Path, **more: str) -> dict[str, str]:
    given = {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{server.url}/v1", "AGENYX_MODEL": "served-model"}
    return command_env(home, **given, **more)


def on(collector: Collector, **more: str) -> dict[str, str]:
    return {"AGENYX_OTEL": "1", "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, **more}


# --- a real collector ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [(), ("--output-format", "stream-json", "--verbose")])
def test_a_run_arrives_at_a_collector(work: Path, tmp_path: Path, flags: tuple[str, ...]) -> None:
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    with RawServer(SCRIPT) as server, Collector() as collector:
        headers = f"authorization=Bearer%20{SECRET}"
        env = environment(server, tmp_path, **on(collector, TRACEPARENT=parent, OTEL_EXPORTER_OTLP_HEADERS=headers))
        done = agenyx("-p", *flags, f"What is here? {SECRET}", cwd=work, env=env)
    assert done.returncode == 0, done.stderr
    assert "elemetry" not in done.stderr
    assert [span.name for span in collector.spans] == NAMES
    turn, *below = collector.spans
    assert turn.trace_id.hex() == "0af7651916cd43dd8448eb211c80319c"
    assert turn.parent_span_id.hex() == "b7ad6b7169203331"
    assert all(span.parent_span_id == turn.span_id for span in below)
    assert attributes(turn)["gen_ai.usage.input_tokens"] == 250
    assert attributes(below[0])["gen_ai.provider.name"] == "openai"
    assert attributes(below[0])["server.address"] == "127.0.0.1"
    assert collector.resource["service.name"] == "agenyx"
    assert collector.headers[0]["authorization"] == f"Bearer {SECRET}"
    assert collector.metrics == {
        "gen_ai.client.operation.duration",
        "gen_ai.client.token.usage",
        "gen_ai.client.operation.time_to_first_chunk",
        "gen_ai.client.operation.time_per_output_chunk",
    }
    sent = b"".join(body for _, body in collector.bodies)
    for words in (b"What is here", b"Nothing there", b"Let me see", str(work).encode(), SECRET.encode(), b"kkkkkkkk"):
        assert words not in sent
    assert SECRET.encode() not in server.requests[0].body, "what collectors are paid by is a secret"


def test_content_that_was_asked_for_is_masked(work: Path, tmp_path: Path) -> None:
    script = [[stream(content(f"It is {'k' * 20}."), finish(), usage(10, 2))]]
    with RawServer(script) as server, Collector() as collector:
        capture = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true"}
        env = environment(server, tmp_path, **on(collector, **capture))
        done = agenyx("-p", "my key is " + "k" * 20, cwd=work, env=env)
    assert done.returncode == 0, done.stderr
    turn = attributes(collector.spans[0])
    asked, said = (json.loads(turn[f"gen_ai.{which}.messages"])[0] for which in ("input", "output"))
    assert asked["parts"][0]["content"].startswith("my key is ")
    assert said["parts"][0]["content"].startswith("It is ")
    assert b"k" * 20 not in b"".join(body for _, body in collector.bodies)


def test_a_run_that_is_ended_from_outside_tells_what_it_came_to(work: Path, tmp_path: Path) -> None:
    script: list[Any] = [[begin(content("Let me")), CLIENT_GONE]]
    with RawServer(script) as server, Collector() as collector:
        argv = [sys.executable, "-m", "agenyx", "-p", "--debug", "hello"]
        env = environment(server, tmp_path, **on(collector))
        pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(argv, cwd=work, env=env, **pipes) as running:
            assert running.stderr is not None
            while b"model stream event" not in (row := running.stderr.readline()):
                assert row, "it ended by itself"
            running.send_signal(signal.SIGTERM)
            _, told = running.communicate(timeout=60)
    assert running.returncode == 128 + signal.SIGTERM, told
    assert [(span.name, attributes(span).get("error.type")) for span in collector.spans] == [
        ("invoke_agent agenyx", "cancelled"),
        ("chat served-model", "cancelled"),
    ]


def test_a_collector_that_does_not_answer_holds_nobody_up(work: Path, tmp_path: Path) -> None:
    """The exporter alone would wait for longer than this test does."""
    with RawServer(SCRIPT) as server, Collector(deaf=True) as collector:
        env = environment(server, tmp_path, **on(collector, OTEL_EXPORTER_OTLP_TIMEOUT="300"))
        done = agenyx("-p", "What is here?", cwd=work, env=env, timeout=60)
        assert collector.asked.is_set()
    assert (done.returncode, done.stdout) == (0, "Nothing there.\n")
    assert "did not take it within 2 seconds" in done.stderr


def test_a_collector_that_is_not_there_or_refuses_is_told_of_in_one_sentence(work: Path, tmp_path: Path) -> None:
    with RawServer(SCRIPT) as server, Collector(status=401) as collector:
        done = agenyx("-p", "What is here?", cwd=work, env=environment(server, tmp_path, **on(collector)))
    assert (done.returncode, done.stdout) == (0, "Nothing there.\n")
    assert "Telemetry is not complete: the collector did not take traces and metrics." in done.stderr
    assert len(done.stderr.splitlines()) <= 4, "what the SDK logs stays off the terminal"


def test_every_conversation_of_a_surface_has_it(work: Path, tmp_path: Path) -> None:
    """Also the one that /clear begins: two sessions, one exporter."""
    script: list[Any] = [[stream(content("One."), finish(), usage(1, 1))], [stream(content("Two."), finish())]]
    with RawServer(script) as server, Collector() as collector:
        env = environment(server, tmp_path, **on(collector))

        async def scenario() -> None:
            first = await open_conversation(settings(work), env, lambda event: None, Answers(), nothing)
            await first.prompt("one")
            second = await first.clear()
            await second.prompt("two")
            await second.close()

        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
            asyncio.run(scenario())
    turns = [span for span in collector.spans if span.name == "invoke_agent agenyx"]
    assert len({attributes(span)["gen_ai.conversation.id"] for span in turns}) == 2


# --- an exporter in memory -------------------------------------------------------------------------------------------


async def nothing() -> None:
    pass


def settings(work: Path) -> Settings:
    return Settings(str(work), mode="bypassPermissions", unsafe=True)


def test_spans_of_a_real_conversation_arrive_at_an_exporter_of_the_host(work: Path, tmp_path: Path) -> None:
    spans, reader, events = InMemorySpanExporter(), InMemoryMetricReader(), list[AgentEvent]()

    def make() -> Otel:
        traces = TracerProvider()
        traces.add_span_processor(SimpleSpanProcessor(spans))
        return Otel(traces, MeterProvider([reader]), {}, Tally())

    with RawServer(SCRIPT) as server:
        env = environment(server, tmp_path, AGENYX_OTEL="1")

        async def scenario() -> None:
            watch = Observed(events.append, make)
            conversation = await open_conversation(settings(work), env, watch, Answers(), nothing)
            finished = await conversation.prompt("What is here?")
            assert finished.text == "Nothing there."
            await conversation.close()

        asyncio.run(scenario())
    found = sorted(spans.get_finished_spans(), key=lambda span: span.start_time or 0)
    assert [span.name for span in found] == NAMES
    assert dict(found[2].attributes or {})["gen_ai.tool.call.id"] in repr(events)
    assert all(type(event.body).__name__ != "Notice" for event in events)


class Broken:
    """A sink that fails at everything."""

    def apply(self, session: str, operation: Operation, at: int) -> None:
        raise RuntimeError("no")

    def flush(self, *, last: bool) -> str:
        raise RuntimeError("no flush")


def test_what_fails_in_telemetry_fails_nothing_else() -> None:
    events, told = list[AgentEvent](), list[Notice]()

    async def scenario(watch: Observed) -> None:
        for event in load():
            watch(event)
        await watch.end(told.append)

    asyncio.run(scenario(Observed(events.append, Broken)))

    def cannot() -> Broken:
        raise OSError("no SDK")

    asyncio.run(scenario(Observed(events.append, cannot)))
    assert events == load() * 2
    assert ["RuntimeError" in told[0].text, "OSError" in told[1].text] == [True, True]


# --- the switch ------------------------------------------------------------------------------------------------------


def wanted(tmp_path: Path, text: str = "", **env: str) -> bool:
    home = tmp_path / ".agenyx"
    if text:
        home.mkdir(mode=0o700, exist_ok=True)
        (home / "settings.toml").write_text(text)
    given = {"HOME": str(tmp_path), "AGENYX_HOME": str(home), **env}
    return observed(lambda event: None, Settings(str(tmp_path)), given) is not None


def test_it_is_off_unless_a_person_switched_it_on(tmp_path: Path) -> None:
    assert not wanted(tmp_path)
    assert not wanted(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:4318", OTEL_TRACES_EXPORTER="otlp")
    assert wanted(tmp_path, AGENYX_OTEL="1")
    assert not wanted(tmp_path, AGENYX_OTEL="1", OTEL_SDK_DISABLED="true")
    assert wanted(tmp_path, 'telemetry.otel = "on"\n')
    assert not wanted(tmp_path, 'telemetry.otel = "on"\n', AGENYX_OTEL="0")
    with pytest.raises(ConfigError, match="AGENYX_OTEL"):
        wanted(tmp_path, AGENYX_OTEL="perhaps")


def test_what_cannot_be_done_is_said_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="http/protobuf only"):
        wanted(tmp_path, AGENYX_OTEL="1", OTEL_EXPORTER_OTLP_PROTOCOL="grpc")
    assert wanted(
        tmp_path,
        AGENYX_OTEL="1",
        OTEL_EXPORTER_OTLP_PROTOCOL="grpc",
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL="http/protobuf",
        OTEL_METRICS_EXPORTER="none",
    )
    with pytest.raises(ConfigError, match="OTEL_TRACES_EXPORTER"):
        wanted(tmp_path, AGENYX_OTEL="1", OTEL_TRACES_EXPORTER="console")
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    with pytest.raises(ConfigError) as missing:
        wanted(tmp_path, AGENYX_OTEL="1")
    assert 'pip install "agenyx[otel]"' in missing.value.fix


def test_a_workspace_cannot_switch_it_on(work: Path, tmp_path: Path) -> None:
    inside = work / ".agenyx" / "settings.toml"
    inside.parent.mkdir()
    inside.write_text('telemetry.otel = "on"\n')
    with RawServer(SCRIPT) as server, Collector() as collector:
        env = environment(server, tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
        done = agenyx("-p", "--trust-workspace", "What is here?", cwd=work, env=env)
    assert "a workspace may not set telemetry.otel" in done.stderr
    assert not collector.bodies

"""The provider against an independent mock server with its own faults and its own verdict."""

from __future__ import annotations

from typing import Any

import pytest

from agenyx.core.events import Done, Failure


def ask(bench: Any, llmock: Any, **more: Any) -> list[Any]:
    return bench.ask(llmock.base_url("openai").removesuffix("/v1"), **more)


def test_a_reply(bench: Any, llmock: Any) -> None:
    llmock.reply("A short answer, in words.")
    events = ask(bench, llmock)
    assert bench.text(events) == "A short answer, in words."
    assert isinstance(events[-1], Done) and events[-1].assistant.stop == "end"


def test_a_call(bench: Any, llmock: Any) -> None:
    llmock.call_tool("Read", {"file_path": "ä.py"})
    events = ask(bench, llmock)
    (call,) = events[-1].assistant.calls
    assert (call.name, call.args, events[-1].assistant.stop) == ("Read", '{"file_path": "ä.py"}', "calls") or (
        call.name == "Read" and "file_path" in call.args
    )


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_faults_are_survived(bench: Any, llmock: Any, status: int) -> None:
    llmock.fail(status, times=2).reply("ok now")
    events = ask(bench, llmock)
    assert bench.text(events) == "ok now" and len(bench.retries(events)) == 2
    assert [record.status for record in llmock.requests] == [status, status, 200]
    assert len({record.fingerprint for record in llmock.requests}) == 1


def test_a_rate_limit_is_waited_for(bench: Any, llmock: Any) -> None:
    llmock.rate_limit(times=1, retry_after=5.0).reply("ok")
    assert bench.text(ask(bench, llmock)) == "ok"
    assert bench.slept == [5.0]


def test_an_outage_ends(bench: Any, llmock: Any) -> None:
    llmock.outage()
    events = ask(bench, llmock, limit=3)
    assert isinstance(events[-1], Failure) and events[-1].kind == "busy"
    assert len(llmock.requests) == 4


def test_an_overflow(bench: Any, llmock: Any) -> None:
    llmock.context_overflow()
    events = ask(bench, llmock)
    assert isinstance(events[-1], Failure) and events[-1].kind == "overflow" and len(llmock.requests) == 1


@pytest.mark.parametrize(
    ("fault", "kind"),
    [("disconnect", "truncated"), ("truncate", "truncated"), ("corrupt", "protocol"), ("stall", "idle")],
)
def test_faults_in_the_middle_keep_the_text(bench: Any, llmock: Any, fault: str, kind: str) -> None:
    llmock.reply("one two three four five six seven eight nine ten")
    getattr(llmock, fault)(after_chunks=4, **({"seconds": 3.0} if fault == "stall" else {}))
    events = ask(bench, llmock, idle=0.5 if fault == "stall" else 30.0)
    assert isinstance(events[-1], Failure) and events[-1].kind == kind
    assert bench.text(events) and "ten" not in bench.text(events)
    assert not bench.retries(events)


def test_slow_chunks_are_no_silence(bench: Any, llmock: Any) -> None:
    llmock.pace(50).reply("one two three four five")
    assert bench.text(ask(bench, llmock)) == "one two three four five"


def test_its_own_verdict(bench: Any, llmock: Any) -> None:
    llmock.fail(500, times=1).reply("fine")
    assert bench.text(ask(bench, llmock)) == "fine"
    llmock.fail(401)
    assert ask(bench, llmock)[-1].kind == "auth"
    llmock.assert_resilient()

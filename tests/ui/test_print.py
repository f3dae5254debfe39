"""The print surface over the golden events: answer, activity, record."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.errors import AgenyxError, ConfigError, UsageError
from agenyx.core.events import (
    AgentEvent,
    CallAccepted,
    CallFinished,
    Notice,
    Outcome,
    Retrying,
    StepStarted,
    TextDelta,
    TurnFinished,
    TurnStarted,
    Usage,
)
from agenyx.core.json import decode
from agenyx.core.messages import Text, ToolCall, ToolResult
from agenyx.core.tools import Effects
from agenyx.ui.activity import line, main_argument
from agenyx.ui.print import Printer
from agenyx.ui.streams import Stream, Writer
from support.golden import MODEL, SESSION, load

ANSWER = "Done: a is 2\x1b[31m now.\nBye."


class Screen:
    """A printer whose two streams are files; `tty` is what standard output claims to be."""

    def __init__(self, folder: Path, *, tty: bool = False, **kind: Any) -> None:
        self._files = [folder / "out", folder / "err"]
        fds = [os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) for path in self._files]
        self.writer = Writer()
        out = Stream(self.writer, fds[0], "utf-8", "replace", neutral=tty)
        err = Stream(self.writer, fds[1], "utf-8", "backslashreplace", neutral=True)
        out.tty = tty
        flags = {"json": False, "activity": False, "debug": None, **kind}
        self.printer = Printer(self.writer, out, err, clock=lambda: 0.0, new_id=lambda: "uuid-1", **flags)

    def play(self, events: list[AgentEvent]) -> None:
        for event in events:
            self.printer.emit(event)
        finished = events[-1].body
        assert isinstance(finished, TurnFinished)
        self.printer.finish(finished)

    def texts(self) -> tuple[str, str]:
        asyncio.run(self.writer.drain())
        out, err = (path.read_text("utf-8") for path in self._files)
        return out, err


def bodies(*bodies: Any) -> list[AgentEvent]:
    return [AgentEvent(n, SESSION, "t", 1, body) for n, body in enumerate(bodies)]


def test_a_pipe_gets_the_answer_once_and_nothing_else(tmp_path: Path) -> None:
    screen = Screen(tmp_path)
    screen.play(load("work"))
    out, err = screen.texts()
    assert out == ANSWER + "\n"
    assert err == "agenyx: This session is kept in memory only.\nFree space.\n"


def test_activity_tells_each_call_once(tmp_path: Path) -> None:
    screen = Screen(tmp_path, activity=True)
    screen.play(load("work"))
    _, err = screen.texts()
    assert err.splitlines() == [
        "! 12 files are ignored",
        "agenyx: This session is kept in memory only.",
        "Free space.",
        "* Read ARGUMENT-WORDS.py",
        "* Grep def main",
        "  Grep: ok, 1 line",
        "  Read: ok, 2 lines",
        "! the server is busy (429): attempt 1 of 5 in 1.5 s",
        "* Read /etc/shadow",
        "  Read: denied (it lies outside the workspace.)",
        "* Bash rm -rf build\\x1b[2J",
        "  Bash: denied (not that)",
        "* Edit a.py",
        "  Edit: ok, 1 line, 1.2 s",
        "! the conversation was summarised to make room",
        "! the prompt cache starts anew: compaction",
        "! permission mode: acceptEdits",
    ]


def test_a_terminal_sees_the_answer_while_it_comes_and_no_control_bytes(tmp_path: Path) -> None:
    screen = Screen(tmp_path, tty=True, activity=True)
    events = load("work")
    for event in events[:-1]:
        screen.printer.emit(event)
    assert screen.texts()[0] == "Let me look.\nDone: a is 2\\x1b[31m now.\nBye."
    screen.play(events[-1:])
    out, err = screen.texts()
    assert out == "Let me look.\nDone: a is 2\\x1b[31m now.\nBye.\n"
    assert "\x1b" not in err


@pytest.mark.parametrize(
    ("deltas", "text", "expected"),
    [
        (["a", "b\n"], "ab\n", "ab\n"),
        (["a", "b"], "ab", "ab\n"),
        (["half"], "whole", "half\nwhole\n"),
        ([], "never streamed", "never streamed\n"),
        ([], "", ""),
        (["cut"], "", "cut\n"),
    ],
)
def test_the_end_adds_only_what_is_missing(deltas: list[str], text: str, expected: str, tmp_path: Path) -> None:
    screen = Screen(tmp_path, tty=True)
    finished = TurnFinished(Outcome("done"), text, 1, 1.0)
    screen.play(bodies(StepStarted(), *(TextDelta(0, delta) for delta in deltas), finished))
    assert screen.texts()[0] == expected


def test_text_that_a_retry_repeats_is_not_glued_to_the_first_try(tmp_path: Path) -> None:
    screen = Screen(tmp_path, tty=True)
    events = bodies(
        StepStarted(),
        TextDelta(0, "Hel"),
        Retrying(1, 5, 0.5, "connection lost"),
        TextDelta(0, "Hello"),
        TurnFinished(Outcome("done"), "Hello", 1, 1.0),
    )
    screen.play(events)
    assert screen.texts()[0] == "Hel\nHello\n"


def test_a_subagent_does_not_write_into_the_answer(tmp_path: Path) -> None:
    screen = Screen(tmp_path, tty=True)
    inner = AgentEvent(1, SESSION, "t", 1, TextDelta(0, "inner"), "task-1")
    screen.play([inner, *bodies(TurnFinished(Outcome("done"), "outer", 1, 1.0))])
    assert screen.texts()[0] == "outer\n"


@pytest.mark.parametrize(
    ("turn", "out", "err"),
    [
        ("failed", "half an ans\n", "agenyx: the key was refused\nSet OPENAI_API_KEY again.\n"),
        ("busy", "", "agenyx: the server stayed busy\nTry again later.\n"),
        ("limit", "so far\n", "agenyx: Stopped after 7 steps.\n"),
        ("cancelled", "", "agenyx: Stopped by the user.\n"),
    ],
)
def test_why_it_did_not_end_well(turn: str, out: str, err: str, tmp_path: Path) -> None:
    screen = Screen(tmp_path)
    screen.play(load(turn))
    assert screen.texts() == (out, err)


def test_the_record(tmp_path: Path) -> None:
    screen = Screen(tmp_path, json=True)
    screen.play(load("work"))
    out, _ = screen.texts()
    assert out.count("\n") == 1
    record = decode(out)
    assert record == {
        "type": "result",
        "subtype": "success",
        "duration_ms": 4500,
        "duration_api_ms": 0,
        "is_error": False,
        "num_turns": 3,
        "stop_reason": "completed",
        "total_cost_usd": None,
        "usage": {
            "input_tokens": 370,
            "output_tokens": 62,
            "cache_creation_input_tokens": 10,
            "cache_read_input_tokens": 210,
            "reasoning_output_tokens": 5,
            "total_tokens": 432,
        },
        "cache_hit_rate": 0.5676,
        "prefix_breaks": ["compaction"],
        "modelUsage": {
            MODEL: {
                "inputTokens": 370,
                "outputTokens": 62,
                "cacheReadInputTokens": 210,
                "cacheCreationInputTokens": 10,
                "webSearchRequests": 0,
                "costUSD": None,
                "contextWindow": None,
                "maxOutputTokens": None,
            }
        },
        "num_subagents": 0,
        "permission_denials": [
            {"tool_name": "Read", "tool_use_id": "call_5", "tool_input": {"file_path": "/etc/shadow"}},
            {"tool_name": "Bash", "tool_use_id": "call_3", "tool_input": {"command": "rm -rf build\x1b[2J"}},
        ],
        "uuid": "uuid-1",
        "session_id": SESSION,
        "result": ANSWER,
    }


@pytest.mark.parametrize(
    ("turn", "subtype", "stop", "errors"),
    [
        ("failed", "error_during_execution", "provider_error", ["the key was refused", "Set OPENAI_API_KEY again."]),
        ("busy", "error_during_execution", "provider_error", ["the server stayed busy", "Try again later."]),
        ("limit", "error_max_turns", "max_turns", ["Stopped after 7 steps."]),
        ("stopped", "error_during_execution", "stopped", ["Stopped by the user."]),
        ("cancelled", "error_during_execution", "cancelled", ["Stopped by the user."]),
    ],
)
def test_the_record_of_an_error(turn: str, subtype: str, stop: str, errors: list[str], tmp_path: Path) -> None:
    screen = Screen(tmp_path, json=True)
    screen.play(load(turn))
    record = decode(screen.texts()[0])
    assert (record["subtype"], record["stop_reason"], record["errors"]) == (subtype, stop, errors)
    assert record["is_error"] is True
    assert "result" not in record
    assert set(record["usage"].values()) == {None}


@pytest.mark.parametrize(
    ("error", "stop"), [(ConfigError("no key", "Set it."), "error"), (UsageError("bad", "Mend it."), "input_error")]
)
def test_the_record_of_a_start_that_failed(error: AgenyxError, stop: str, tmp_path: Path) -> None:
    screen = Screen(tmp_path, json=True)
    screen.printer.finish(error)
    record = decode(screen.texts()[0])
    assert (record["is_error"], record["stop_reason"]) == (True, stop)
    assert record["errors"] == [error.message, error.fix]
    assert record["modelUsage"] == {}


def test_there_is_one_end(tmp_path: Path) -> None:
    screen = Screen(tmp_path, json=True)
    screen.play(load("work"))
    screen.printer.finish(AgenyxError("closing failed", "Look."))
    out, err = screen.texts()
    assert out.count('"type":"result"') == 1
    assert err.endswith("agenyx: closing failed\nLook.\n")


def test_a_broken_event_does_not_break_the_run(tmp_path: Path) -> None:
    screen = Screen(tmp_path, activity=True)
    broken: Any = Notice("info", None)  # type: ignore[arg-type]
    screen.play(bodies(TextDelta(0, None), broken, TurnFinished(Outcome("done"), "ok", 1, 1.0)))  # type: ignore[arg-type]
    out, err = screen.texts()
    assert out == "ok\n"
    assert "could not be shown" in err


def of_child(*what: Any, agent: str = "explore/a1") -> list[AgentEvent]:
    return [AgentEvent(n, SESSION, "t", 1, body, agent) for n, body in enumerate(what)]


def test_what_subagents_do_is_a_line_each_and_their_words_are_not_mixed_in(tmp_path: Path) -> None:
    call = ToolCall("call_9", "w", "Grep", '{"pattern":"def \\u001b[2J"}')
    screen = Screen(tmp_path, tty=True, activity=True)
    screen.play(
        [
            *bodies(TextDelta(0, "Half a ")),
            *of_child(
                TurnStarted("find it", "m", "default"),
                StepStarted(),
                TextDelta(0, "CHILD WORDS"),
                CallAccepted(call, Effects(parallel=True)),
                CallFinished(ToolResult("call_9", "ok", ()), "Grep"),
                CallFinished(ToolResult("call_8", "denied", (Text("Denied: no."),)), "WebFetch"),
                Notice("warning", "odd"),
                TurnFinished(Outcome("done"), "CHILD WORDS", 1, 1.0),
            ),
            *bodies(TextDelta(0, "word."), TurnFinished(Outcome("done"), "Half a word.", 1, 1.0)),
        ]
    )
    out, err = screen.texts()
    assert "CHILD" not in out + err
    assert out.replace("\n", "") == "Half a word."
    assert err == "  explore/a1: Grep def \\x1b[2J\n  explore/a1: WebFetch: denied (no.)\nagenyx: explore/a1: odd\n"
    assert screen.printer.view.agents == {"explore/a1"}
    assert screen.printer.view.model != "child", "the model is the main agent's"


def test_the_record_counts_subagents(tmp_path: Path) -> None:
    screen = Screen(tmp_path, json=True)
    end = TurnFinished(Outcome("done"), "ok", 1, 1.0)
    screen.play([*of_child(TurnStarted("x", "child", "plan")), *of_child(end, agent="plan/a2"), *bodies(end)])
    record = decode(screen.texts()[0])
    assert (record["num_subagents"], record["result"], record["modelUsage"]) == (2, "ok", {})


def test_a_gone_reader_stops_effects(tmp_path: Path) -> None:
    screen = Screen(tmp_path, tty=True)
    read, write = os.pipe()
    os.close(read)
    out = Stream(screen.writer, write, "utf-8", "replace", neutral=True)
    out.tty = True
    printer = Printer(screen.writer, out, out, json=False, activity=False, debug=None)
    printer.emit(bodies(TextDelta(0, "hello"))[0])
    with pytest.raises(AgenyxError, match="closed"):
        asyncio.run(printer.barrier())


@pytest.mark.parametrize(
    ("args", "shown"),
    [
        ('{"limit":5,"file_path":"a.py"}', "a.py"),
        ('{"command":"a\\nb   c"}', "a b c"),
        ('{"odd":"value"}', "value"),
        ('{"n":1}', ""),
        ("[1]", ""),
        ("not json", "not json"),
        ('{"command":"' + "x" * 500 + '"}', "x" * 107 + "..."),
    ],
)
def test_the_argument_that_tells_a_call(args: str, shown: str) -> None:
    assert main_argument(args) == shown


def test_usage_events_have_no_line() -> None:
    assert line(Usage(1)) == ""

"""Diagnostics over the golden events: complete, parseable, and without anything private."""

from __future__ import annotations

import re

from agenyx.core.events import AgentEvent, CallDraft, Notice, PrefixBroke
from agenyx.core.json import decode
from agenyx.ui.debug import Debug
from agenyx.ui.view import View
from support.golden import SECRETS, SESSION, load


def lines(events: list[AgentEvent]) -> list[bytes]:
    view, debug, out = View(), Debug(lambda: 1_750_000_000.25), list[bytes]()
    for second, event in enumerate(events):
        view.apply(event, float(second))
        out.append(debug.line(event, view))
    return out


def test_every_event_is_one_line_with_time_level_and_stage() -> None:
    events = load()
    rows = [decode(row) for row in lines(events)]
    assert len(rows) == len(events)
    for row, event in zip(rows, events, strict=True):
        assert row["time"] == "2025-06-15T15:06:40.250Z"
        assert row["level"] in ("debug", "info", "warn", "error")
        assert (row["session"], row["turn"], row["step"]) == (SESSION, event.turn, event.step)
    stages = [row["msg"] for row in rows]
    for stage in (
        "turn started",
        "model iteration started",
        "model stream opened",
        "model stream event",
        "model iteration completed",
        "model iteration failed",
        "model request retry",
        "capability batch accepted",
        "capability result",
        "turn completed",
        "turn failed",
    ):
        assert stage in stages


def test_nothing_private_is_in_it() -> None:
    text = b"".join(lines(load())).decode()
    for secret in SECRETS:
        assert secret not in text
    assert "rm -rf" not in text
    assert "Let me" not in text


def test_odd_names_are_told_by_their_size_only() -> None:
    events = [
        AgentEvent(1, "s", "t", 1, CallDraft(0, "/etc/passwd", "x")),
        AgentEvent(2, "s", "t", 1, PrefixBroke("the file /home/x changed")),
        AgentEvent(3, "s", "t", 1, Notice("error", "disk full at /home/x"), "task-1"),
    ]
    draft, broke, notice = (decode(row) for row in lines(events))
    assert draft["tool"] == "(11 characters)"
    assert "/home" not in broke["cause"]
    assert (notice["level"], notice["chars"], notice["agent"]) == ("error", 20, "task-1")


def test_durations_are_measured_from_the_request_to_its_end() -> None:
    rows = [decode(row) for row in lines(load("work"))]
    completed = [row for row in rows if row["msg"] == "model iteration completed"]
    assert [row["duration_ms"] for row in completed] == [7000, 4000, 5000]
    assert re.fullmatch(r"calls|end", completed[0]["stop"])

"""The golden events that every surface's tests replay: one JSON line an event, several turns in one file.

`python tests/support/golden.py` writes the file anew from the types.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agenyx.core.approval import Approval, Decision
from agenyx.core.events import (
    AgentEvent,
    ApprovalAsked,
    ApprovalSettled,
    Body,
    CallAccepted,
    CallDraft,
    CallFinished,
    Compacted,
    Done,
    EffectStarted,
    Failure,
    ModeChanged,
    Notice,
    Outcome,
    Output,
    PrefixBroke,
    ReasoningDelta,
    Retrying,
    Started,
    StepStarted,
    TextDelta,
    TurnFinished,
    TurnStarted,
    Usage,
)
from agenyx.core.json import Decoder, encode
from agenyx.core.messages import Assistant, Reasoning, Status, Text, ToolCall, ToolResult
from agenyx.core.tools import Command, Effects, PathRef
from agenyx.core.verdict import Reason, Verdict

GOLDEN = Path(__file__).parent.parent / "ui" / "golden" / "events.jsonl"
SESSION = "019a0000-0000-7000-8000-000000000001"
MODEL = "model-1"
SECRETS = ("PROMPT-WORDS", "/home/someone/private", "ARGUMENT-WORDS", "OUTPUT-WORDS")
"""What stands in prompts, paths, arguments and outputs, so that a test can look for it where it must not be."""


def load(turn: str = "") -> list[AgentEvent]:
    """The events of one turn (`work`, `failed`, `busy`, `limit`, `stopped`, `cancelled`), or of all."""
    decoder = Decoder(AgentEvent)
    events = [decoder.decode(row) for row in GOLDEN.read_bytes().splitlines()]
    return [event for event in events if turn in ("", event.turn)]


def _call(number: int, name: str, args: str) -> ToolCall:
    return ToolCall(f"call_{number}", f"wire_{number}", name, args)


def _path(shown: str) -> PathRef:
    return PathRef(shown, f"/home/someone/private/{shown}".encode(), "/home/someone/private")


def _result(call: ToolCall, text: str, status: Status = "ok") -> ToolResult:
    return ToolResult(call.id, status, (Text(text),))


READ = _call(1, "Read", '{"file_path":"ARGUMENT-WORDS.py"}')
GREP = _call(2, "Grep", '{"pattern":"def main","path":"src"}')
BASH = _call(3, "Bash", '{"command":"rm -rf build\\u001b[2J"}')
EDIT = _call(4, "Edit", '{"file_path":"a.py","old_string":"1","new_string":"2"}')
OUTSIDE = _call(5, "Read", '{"file_path":"/etc/shadow"}')
RUN = Effects(commands=(Command(("rm", "-rf", "build")),), preview="rm -rf build\x1b[2J")
CHANGE = Effects(writes=(_path("a.py"),), preview="--- a.py\n+++ a.py\n-1\n+2\n")
LOOK = Effects(reads=(_path("ARGUMENT-WORDS.py"),), parallel=True)


def _work() -> Iterator[tuple[int, Body]]:
    """Three steps: two calls that look; one refused and one approved, after a retry; the answer."""
    yield 0, Notice("info", "12 files are ignored")
    yield 0, Notice("warning", "This session is kept in memory only.", "Free space.")
    yield 0, TurnStarted("PROMPT-WORDS: tidy up", MODEL, "default")
    yield 1, StepStarted()
    yield 1, Started("resp_1", MODEL)
    yield 1, ReasoningDelta(0, "I should look first.")
    yield 1, TextDelta(1, "Let me ")
    yield 1, TextDelta(1, "look.")
    yield 1, CallDraft(2, "Read", '{"file_path":')
    yield 1, Usage(100, 0, 0, 20, 5)
    yield 1, Done(Assistant((Reasoning("I should look first."), Text("Let me look."), READ, GREP), "calls", MODEL))
    yield 1, CallAccepted(READ, LOOK)
    yield 1, CallAccepted(GREP, LOOK)
    yield 1, EffectStarted((READ.id, GREP.id))
    yield 1, CallFinished(_result(GREP, "src/x.py:1:def main"), "Grep", 0.02)
    yield 1, CallFinished(_result(READ, "OUTPUT-WORDS\nsecond line"), "Read", 0.01)
    yield 2, StepStarted()
    yield 2, Retrying(1, 5, 1.5, "the server is busy (429)")
    yield 2, Started("resp_2", MODEL)
    yield 2, Usage(30, 90, 10, 30, 0)
    yield 2, Done(Assistant((OUTSIDE, BASH, EDIT), "calls", MODEL))
    yield 2, CallFinished(_result(OUTSIDE, "Denied: it lies outside the workspace.", "denied"), "Read")
    yield 2, CallAccepted(BASH, RUN)
    yield 2, ApprovalAsked(Approval("apr_1", BASH, Verdict("ask", (Reason("default", "Bash acts"),)), RUN))
    yield 2, ApprovalSettled(Decision("apr_1", "deny", message="not that", by="terminal"))
    yield 2, CallFinished(_result(BASH, "Denied: not that", "denied"), "Bash")
    yield 2, CallAccepted(EDIT, CHANGE)
    yield 2, ApprovalAsked(Approval("apr_2", EDIT, Verdict("ask", (Reason("default", "Edit changes a.py"),)), CHANGE))
    yield 2, ApprovalSettled(Decision("apr_2", "allow", by="terminal"))
    yield 2, EffectStarted((EDIT.id,))
    yield 2, Output(EDIT.id, b"OUTPUT-WORDS")
    yield 2, CallFinished(_result(EDIT, "Changed a.py"), "Edit", 1.25)
    yield 2, Compacted("OUTPUT-WORDS in short")
    yield 2, PrefixBroke("compaction")
    yield 2, ModeChanged("acceptEdits")
    yield 3, StepStarted()
    yield 3, Started("resp_3", MODEL)
    yield 3, TextDelta(0, "Done: a is")
    yield 3, TextDelta(0, " 2\x1b[31m now.\nBye.")
    yield 3, Usage(20, 120, 0, 12, 0)
    yield 3, Done(Assistant((Text("Done: a is 2\x1b[31m now.\nBye."),), "end", MODEL))
    yield 3, TurnFinished(Outcome("done"), "Done: a is 2\x1b[31m now.\nBye.", 3, 4.5, Usage(150, 210, 10, 62, 5))


def _ended(outcome: Outcome, text: str = "", steps: int = 1) -> Iterator[tuple[int, Body]]:
    yield 0, TurnStarted("PROMPT-WORDS", MODEL, "default")
    yield 1, StepStarted()
    if text:
        yield 1, TextDelta(0, text)
    if outcome.failure:
        yield 1, outcome.failure
    yield 1, TurnFinished(outcome, text, steps, 1.0)


def _all() -> Iterator[AgentEvent]:
    bad_key = Failure("auth", "the key was refused", "Set OPENAI_API_KEY again.")
    busy = Failure("busy", "the server stayed busy", "Try again later.", True, 30.0)
    turns = {
        "work": _work(),
        "failed": _ended(Outcome("failed", bad_key.message, bad_key), "half an ans"),
        "busy": _ended(Outcome("failed", busy.message, busy)),
        "limit": _ended(Outcome("step_limit", "Stopped after 7 steps."), "so far", 7),
        "stopped": _ended(Outcome("stopped", "Stopped by the user.")),
        "cancelled": _ended(Outcome("cancelled", "Stopped by the user.")),
    }
    seq = 0
    for turn, bodies in turns.items():
        for step, body in bodies:
            seq += 1
            yield AgentEvent(seq, SESSION, turn, step, body)


if __name__ == "__main__":
    GOLDEN.write_bytes(b"".join(encode(event) + b"\n" for event in _all()))

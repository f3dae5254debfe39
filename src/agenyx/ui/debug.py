"""Diagnostics as JSON lines (reference: AgentX observability): stages with ids, sizes, counts and durations.

Never a prompt, an argument, an output, a path or a secret: only the fields named here leave.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Literal

from agenyx.core import json
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
    Output,
    PrefixBroke,
    QueueChanged,
    ReasoningDelta,
    Retrying,
    Started,
    StepStarted,
    TextDelta,
    TurnFinished,
    TurnStarted,
    Usage,
)
from agenyx.ui.view import View

Level = Literal["debug", "info", "warn", "error"]
Fields = dict[str, str | int | None]


class Debug:
    """Makes the lines. `clock` gives Unix seconds."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock

    def stage(self, message: str, level: Level = "debug", **fields: str | int | None) -> bytes:
        """One line for a stage of the program."""
        now = self._clock()
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now % 1 * 1000):03d}Z"
        return json.encode({"time": stamp, "level": level, "msg": message, **fields}) + b"\n"

    def told(self, message: str, view: View, fields: Mapping[str, str | int]) -> bytes:
        """The line for something that is no event; names in `fields` are told as far as they are plain names."""
        plain: Fields = {name: _word(value) if isinstance(value, str) else value for name, value in fields.items()}
        level: Level = "error" if message.endswith("failed") else "debug"
        return self.stage(message, level, session=view.session, **plain)

    def line(self, event: AgentEvent, view: View) -> bytes:
        """The line for one event that `view` has taken in already."""
        level, message, fields = describe(event.body, view)
        where: Fields = {"session": event.session, "turn": event.turn, "step": event.step}
        if event.agent:
            where["agent"] = event.agent
        return self.stage(message, level, **where, **fields)


def describe(body: Body, view: View) -> tuple[Level, str, Fields]:
    """Level, stage name and fields of an event."""
    match body:
        case TurnStarted(prompt, model, mode):
            return "debug", "turn started", {"model": _word(model), "mode": mode, "prompt_chars": len(prompt)}
        case StepStarted():
            return "debug", "model iteration started", {}
        case Started(response_id, model):
            return "debug", "model stream opened", {"response": _word(response_id), "model": _word(model)}
        case TextDelta(_, text) | ReasoningDelta(_, text):
            kind = "text" if isinstance(body, TextDelta) else "reasoning"
            return "debug", "model stream event", {"kind": kind, "chars": len(text)}
        case CallDraft(_, name, text):
            return "debug", "model stream event", {"kind": "call", "tool": _word(name), "chars": len(text)}
        case Usage():
            return "debug", "model stream event", {"kind": "usage", **_tokens(body)}
        case Done(assistant):
            took = _ms(view.step_seconds)
            counts: Fields = {"calls": len(assistant.calls), "chars": len(assistant.text), "duration_ms": took}
            return "debug", "model iteration completed", {"stop": assistant.stop, **counts}
        case Failure(kind):
            took = _ms(view.step_seconds)
            return "error", "model iteration failed", {"category": kind, "duration_ms": took}
        case Retrying(attempt, limit, delay):
            return "warn", "model request retry", {"attempt": attempt, "limit": limit, "delay_ms": _ms(delay)}
        case CallAccepted(call):
            given: Fields = {"call": call.id, "tool": _word(call.name), "args_chars": len(call.args)}
            return "debug", "capability batch accepted", given
        case EffectStarted(calls):
            return "debug", "capability batch started", {"calls": len(calls), "first": calls[0] if calls else ""}
        case Output(call, data):
            return "debug", "capability output", {"call": call, "bytes": len(data)}
        case CallFinished(result, name, seconds):
            size: Fields = {"chars": len(result.text), "duration_ms": _ms(seconds)}
            done: Fields = {"call": result.call, "tool": _word(name), "status": result.status, **size}
            return "debug", "capability result", done
        case ApprovalAsked(approval):
            return "debug", "approval asked", {"approval": approval.id, "call": approval.call.id}
        case ApprovalSettled(decision):
            settled: Fields = {"approval": decision.approval, "choice": decision.choice, "by": _word(decision.by)}
            return "debug", "approval settled", settled
        case Compacted(summary):
            return "debug", "context compacted", {"chars": len(summary)}
        case PrefixBroke(cause):
            return "debug", "prefix broke", {"cause": _word(cause)}
        case QueueChanged(waiting):
            return "debug", "queue changed", {"waiting": waiting}
        case ModeChanged(mode):
            return "debug", "mode changed", {"mode": mode}
        case Notice(level, text):
            levels: dict[str, Level] = {"info": "info", "warning": "warn", "error": "error"}
            return levels[level], "notice", {"chars": len(text)}
        case TurnFinished():
            return _finished(body)


def _finished(body: TurnFinished) -> tuple[Level, str, Fields]:
    fields: Fields = {"outcome": body.outcome.kind, "steps": body.steps, "duration_ms": _ms(body.seconds)}
    if body.outcome.failure:
        fields["category"] = body.outcome.failure.kind
    if body.usage:
        fields |= _tokens(body.usage)
    if body.outcome.kind == "done":
        return "debug", "turn completed", fields
    return "error", "turn failed", fields


def _tokens(usage: Usage) -> Fields:
    return {
        "fresh_tokens": usage.fresh,
        "cache_read_tokens": usage.cache_read,
        "cache_write_tokens": usage.cache_write,
        "output_tokens": usage.out,
        "reasoning_tokens": usage.reasoning,
    }


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _word(text: str) -> str:
    """A name as the model or the harness gave it; anything that is not a plain name is told by its size only."""
    plain = len(text) <= 64 and all(c.isalnum() or c in "_-:. " for c in text) and text.isascii()
    return text if plain else f"({len(text)} characters)"

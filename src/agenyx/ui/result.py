"""The one `result` record that a machine reads (reference: AgentX result record). Pure."""

from __future__ import annotations

from typing import Any, cast

from msgspec import UNSET

from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.core.events import OutcomeKind, TurnFinished, Usage
from agenyx.core.messages import ToolCall
from agenyx.ui.exits import explain
from agenyx.ui.view import View

_SUBTYPE = {
    "done": "success",
    "waiting": "approval_required",
    "step_limit": "error_max_turns",
    "budget": "error_max_budget_usd",
}
_STOP: dict[OutcomeKind, str] = {"done": "completed", "step_limit": "max_turns", "failed": "error"}


def record(
    view: View,
    ended: TurnFinished | BaseException,
    seconds: float,
    uuid: str,
    session: str = "",
    data: Any = UNSET,
) -> bytes:
    """One line of JSON. `seconds` is the whole time, used when the run ended before its turn did.

    `data` is what a slash command answered, in JSON values.
    """
    finished = ended if isinstance(ended, TurnFinished) else None
    kind: OutcomeKind = finished.outcome.kind if finished else "failed"
    usage = finished.usage if finished else None
    value: dict[str, object] = {
        "type": "result",
        "subtype": _SUBTYPE.get(kind, "error_during_execution"),
        "duration_ms": round((finished.seconds if finished else seconds) * 1000),
        "duration_api_ms": round(view.api_seconds * 1000),
        "is_error": kind not in ("done", "waiting"),
        "num_turns": finished.steps if finished else 0,
        "stop_reason": _stop_reason(ended, kind),
        "total_cost_usd": finished.cost if finished else None,
        "usage": _usage(usage),
        "cache_hit_rate": usage.hit_rate if usage else None,
        "prefix_breaks": view.breaks,
        "modelUsage": {view.model: _model_usage(usage, finished)} if view.model else {},
        "num_subagents": len(view.agents),
        "permission_denials": [_denial(call) for call in view.denied.values()],
        "uuid": uuid,
        "session_id": session or view.session,
    }
    if finished and kind in ("done", "waiting"):
        value["result"] = finished.text
        if data is not UNSET:
            value["data"] = data
        if finished.waiting:
            from agenyx.ui.defer import entry  # most runs leave nothing open

            value["approvals"] = [entry(approval) for approval in finished.waiting]
    else:
        value["errors"] = [json.scrub(text) for text in _errors(ended)]
    return json.encode(value) + b"\n"


def _stop_reason(ended: TurnFinished | BaseException, kind: OutcomeKind) -> str:
    if isinstance(ended, KeyboardInterrupt):
        return "cancelled"
    if not isinstance(ended, TurnFinished):
        return "input_error" if isinstance(ended, UsageError) else "error"
    failure = ended.outcome.failure
    if failure:
        return "context_limit" if failure.kind == "overflow" else "provider_error"
    return _STOP.get(kind, kind)


def _errors(ended: TurnFinished | BaseException) -> list[str]:
    message, fix = reason(ended)
    return [text for text in (message, fix) if text]


def reason(ended: TurnFinished | BaseException) -> tuple[str, str]:
    """Why a run did not end well: the message, and what to do next (it may be empty)."""
    if isinstance(ended, KeyboardInterrupt):
        return "interrupted", ""
    if isinstance(ended, BaseException):
        return explain(ended)
    outcome = ended.outcome
    if ended.waiting:
        from agenyx.ui.defer import message  # most runs leave nothing open

        return message(ended.waiting)
    if outcome.failure:
        return outcome.failure.message, outcome.failure.fix
    return outcome.message or f"the turn ended: {outcome.kind.replace('_', ' ')}", ""


def _usage(usage: Usage | None) -> dict[str, int | None]:
    if usage is None:
        names = (
            "input_tokens",
            "output_tokens",
            "cache_creation_input_tokens",
            "cache_read_input_tokens",
            "reasoning_output_tokens",
            "total_tokens",
        )
        return dict.fromkeys(names)
    return {
        "input_tokens": usage.given,
        "output_tokens": usage.out,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "reasoning_output_tokens": usage.reasoning,
        "total_tokens": usage.given + usage.out,
    }


def _model_usage(usage: Usage | None, finished: TurnFinished | None) -> dict[str, object]:
    totals = _usage(usage)
    return {
        "inputTokens": totals["input_tokens"],
        "outputTokens": totals["output_tokens"],
        "cacheReadInputTokens": totals["cache_read_input_tokens"],
        "cacheCreationInputTokens": totals["cache_creation_input_tokens"],
        "webSearchRequests": 0,
        "costUSD": finished.cost if finished else None,
        "contextWindow": None,
        "maxOutputTokens": None,
    }


def _denial(call: ToolCall) -> dict[str, object]:
    try:
        parsed: Any = json.decode(call.args)
    except json.JsonError:
        parsed = {}
    members = cast("dict[str, object]", parsed) if isinstance(parsed, dict) else {}
    return {"tool_name": call.name, "tool_use_id": call.id, "tool_input": members}

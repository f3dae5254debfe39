"""The record at the end of a turn, for both dialects. Pure."""

from __future__ import annotations

from typing import Any, cast

from msgspec import UNSET

from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.core.events import OutcomeKind, TurnFinished, Usage
from agenyx.core.messages import ToolCall
from agenyx.ui.result import reason
from agenyx.ui.view import View
from agenyx.ui.wire.dialect import Dialect
from agenyx.ui.wire.outbound import JsonObject, ResultRecord

_SUBTYPE: dict[OutcomeKind, Any] = {
    "done": "success",
    "waiting": "approval_required",
    "step_limit": "error_max_turns",
    "budget": "error_max_budget_usd",
}
_TERMINAL: dict[OutcomeKind, str] = {
    "done": "completed",
    "step_limit": "max_turns",
    "budget": "budget_exhausted",
    "cancelled": "aborted_streaming",
    "stopped": "stop_hook_prevented",
}
_STOP: dict[OutcomeKind, str] = {"done": "completed", "step_limit": "max_turns", "failed": "error"}


def result(
    dialect: Dialect,
    view: View,
    ended: TurnFinished | BaseException,
    *,
    uuid: str,
    session: str,
    stop: str | None = None,
    prompt: str = "",
    total: Usage | None = None,
    windows: tuple[int | None, int | None] = (None, None),
    seconds: float = 0.0,
    data: Any = UNSET,
    structured: Any = UNSET,
    subtype: Any = None,
) -> ResultRecord:
    """`stop` is what the model said last in words of the Messages API; `prompt` the id of the prompt; `total` the
    tokens of the whole session; `windows` the context window and the most output of the model, in tokens.

    To the Agent SDKs a cost is always a number, 0 with `cost_known` false where it is not known, and
    a provider's failure is a success with `is_error` to the Agent SDKs, which raise what it says.
    """
    finished = ended if isinstance(ended, TurnFinished) else None
    kind: OutcomeKind = finished.outcome.kind if finished else "failed"
    sdk = dialect == "sdk"
    failed = sdk and finished is not None and finished.outcome.failure is not None
    well = kind in ("done", "waiting") and subtype is None
    usage = finished.usage if finished and sdk else total
    cost = finished.cost if finished and sdk else None
    known: Any = UNSET if cost is not None or not sdk else False
    if sdk:
        cost = cost or 0.0
    text = finished.text if finished and well else reason(ended)[0] if failed else UNSET
    waiting: Any = UNSET
    if finished and finished.waiting:
        from agenyx.ui.defer import entry  # most runs leave nothing open

        waiting = tuple(entry(approval) for approval in finished.waiting)
    return ResultRecord(
        subtype=subtype or ("success" if failed else _SUBTYPE.get(kind, "error_during_execution")),
        duration_ms=round((finished.seconds if finished else seconds) * 1000),
        duration_api_ms=round(view.api_seconds * 1000),
        is_error=not well,
        num_turns=finished.steps if finished else 0,
        stop_reason=stop if sdk else stop_reason(ended, kind),
        total_cost_usd=cost,
        usage=tokens(usage),
        modelUsage={view.model: _model_usage(usage, cost, windows, sdk=sdk)} if view.model else {},
        permission_denials=tuple(map(_denial, view.denied.values())),
        session_id=session,
        uuid=uuid,
        result=text,
        errors=UNSET if well or failed else tuple(json.scrub(part) for part in reason(ended) if part),
        terminal_reason=_terminal(ended, kind) if sdk else UNSET,
        api_error_status=None if failed else UNSET,
        prompt_uuid=prompt if prompt and not sdk else UNSET,
        user_message_uuid=prompt if prompt and sdk else UNSET,
        data=data,
        structured_output=structured,
        approvals=waiting,
        cost_known=known,
    )


def _terminal(ended: TurnFinished | BaseException, kind: OutcomeKind) -> str:
    failure = ended.outcome.failure if isinstance(ended, TurnFinished) else None
    if failure is not None:
        return "prompt_too_long" if failure.kind == "overflow" else "api_error"
    return _TERMINAL.get(kind, "error")


def stop_reason(ended: TurnFinished | BaseException, kind: OutcomeKind) -> str:
    """Why it ended, in the words of AgentX."""
    if isinstance(ended, KeyboardInterrupt):
        return "cancelled"
    if not isinstance(ended, TurnFinished):
        return "input_error" if isinstance(ended, UsageError) else "error"
    if failure := ended.outcome.failure:
        return "context_limit" if failure.kind == "overflow" else "provider_error"
    return _STOP.get(kind, kind)


def tokens(usage: Usage | None) -> JsonObject:
    """Token counts under the names of both contracts; zeros where nothing is known."""
    usage = usage or Usage()
    return {
        "input_tokens": usage.given,
        "output_tokens": usage.out,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "reasoning_output_tokens": usage.reasoning,
        "total_tokens": usage.given + usage.out,
    }


def _model_usage(
    usage: Usage | None, cost: float | None, windows: tuple[int | None, int | None], *, sdk: bool
) -> JsonObject:
    counted = tokens(usage)
    usages: JsonObject = {
        "inputTokens": counted["input_tokens"],
        "outputTokens": counted["output_tokens"],
        "cacheReadInputTokens": counted["cache_read_input_tokens"],
        "cacheCreationInputTokens": counted["cache_creation_input_tokens"],
        "webSearchRequests": 0,
        "costUSD": cost,
        "contextWindow": windows[0],
        "maxOutputTokens": windows[1],
    }
    # The Agent SDKs take a member that is there for a number.
    return {name: value for name, value in usages.items() if value is not None} if sdk else usages


def _denial(call: ToolCall) -> JsonObject:
    return {"tool_name": call.name, "tool_use_id": call.id, "tool_input": arguments(call.args)}


def arguments(text: str) -> JsonObject:
    """The arguments of a call as an object; {} for what is none."""
    try:
        value: Any = json.decode(text)
    except json.JsonError:
        return {}
    return cast("JsonObject", value) if isinstance(value, dict) else {}

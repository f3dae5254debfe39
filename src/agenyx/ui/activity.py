"""One line of text for what happens, for a person who watches. Pure; the caller makes it safe for a terminal."""

from __future__ import annotations

from typing import Any, cast

from agenyx.core import json
from agenyx.core.events import (
    Body,
    CallAccepted,
    CallFinished,
    Compacted,
    ModeChanged,
    Notice,
    PrefixBroke,
    Retrying,
)
from agenyx.core.messages import ToolCall, ToolResult

_WIDTH = 110
_TELLING = ("TaskCreate", "TaskUpdate", "AskUserQuestion")  # their results are short and for people too
_MAIN = ("command", "pattern", "query", "url", "file_path", "path", "skill", "description", "prompt")


def line(body: Body) -> str:
    """The line for an event, ending with a line feed; "" where there is nothing to tell."""
    match body:
        case CallAccepted(call):
            return call_line(call)
        case CallFinished(result, name) if name in _TELLING and result.status == "ok":
            return f"  {name}: {clip(' '.join(result.text.split()))}\n"
        case CallFinished(result, name, seconds):
            return f"  {name}: {_status(result)}{f', {seconds:.1f} s' if seconds >= 0.1 else ''}\n"
        case Retrying(attempt, limit, delay, reason):
            return f"! {clip(reason)}: attempt {attempt} of {limit} in {delay:.1f} s\n"
        case Notice(_, text, fix):
            return f"! {text}\n" + (f"  {fix}\n" if fix else "")
        case Compacted():
            return "! the conversation was summarised to make room\n"
        case PrefixBroke(cause):
            return f"! the prompt cache starts anew: {clip(cause)}\n"
        case ModeChanged(mode):
            return f"! permission mode: {mode}\n"
        case _:
            return ""


def child_line(agent: str, body: Body) -> str:
    """The line for an event of a subagent: what it calls, what was refused it, what it waits for; else ""."""
    match body:
        case CallAccepted(call):
            text = call_line(call).removeprefix("* ")
        case CallFinished(result, name) if result.status != "ok":
            text = f"{name}: {_status(result)}\n"
        case Retrying() | Notice():
            text = line(body).removeprefix("! ")
        case _:
            return ""
    return f"  {agent}: {text}"


def call_line(call: ToolCall) -> str:
    """The line that announces a call."""
    return f"* {call.name} {main_argument(call.args)}".rstrip() + "\n"


def main_argument(args: str) -> str:
    """The argument that tells a call from others of the same tool, on one line; "" when there is none."""
    try:
        value: Any = json.decode(args)
    except json.JsonError:
        return clip(args)
    if not isinstance(value, dict):
        return ""
    members = cast("dict[str, Any]", value)
    texts = {name: text for name, text in members.items() if isinstance(text, str)}
    chosen = next((name for name in _MAIN if name in texts), next(iter(texts), ""))
    return clip(texts[chosen]) if chosen else _first_question(members)


def _first_question(members: dict[str, Any]) -> str:
    asked = members.get("questions")
    first: Any = cast("list[object]", asked)[0] if isinstance(asked, list) and asked else None
    text = cast("dict[str, Any]", first).get("question") if isinstance(first, dict) else None
    return clip(text) if isinstance(text, str) else ""


def clip(text: str, width: int = _WIDTH) -> str:
    """The text on one line, cut with a mark when it is longer."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 3] + "..."


def _status(result: ToolResult) -> str:
    text = result.text
    if result.status != "ok":
        why = clip(next((row for row in text.splitlines() if row.strip()), "")).removeprefix("Denied: ")
        return f"{result.status.replace('_', ' ')}{f' ({why})' if why else ''}"
    rows = len(text.splitlines())
    return f"ok, {rows} line{'' if rows == 1 else 's'}" if text.strip() else "ok"

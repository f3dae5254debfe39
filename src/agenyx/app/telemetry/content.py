"""What was said and done, as the conventions write messages: JSON in one attribute. Only for who asked for content.

Everything here was masked before it became an event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agenyx.core import json
from agenyx.core.messages import Assistant, Reasoning, Text, ToolCall, ToolResult

Message = dict[str, Any]
MOST = 32_000  # characters of one text


def user(text: str) -> Message:
    return {"role": "user", "parts": [_text(text)]}


def said(text: str) -> Message:
    return {"role": "assistant", "parts": [_text(text)], "finish_reason": "stop"}


def result(done: ToolResult) -> Message:
    part = {"type": "tool_call_response", "id": done.call, "response": cut(done.text)}
    return {"role": "tool", "parts": [part]}


def answered(assistant: Assistant, finish: str) -> Message:
    parts: list[dict[str, Any]] = []
    for block in assistant.blocks:
        match block:
            case Text(text):
                parts.append(_text(text))
            case Reasoning(text):
                parts.append({"type": "reasoning", "content": cut(text)})
            case ToolCall(id, _, name, args):
                parts.append({"type": "tool_call", "id": id, "name": name, "arguments": cut(args)})
    return {"role": "assistant", "parts": parts, "finish_reason": finish}


def messages(given: Sequence[Message]) -> str:
    """One attribute."""
    return json.encode(given).decode()


def cut(text: str) -> str:
    text = json.scrub(text)
    return text if len(text) <= MOST else f"{text[:MOST]} […{len(text) - MOST} more characters]"


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "content": cut(text)}

"""What a server of each wire takes for a whole conversation. Raises AssertionError with what is wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from agenyx.core.messages import Entry
from agenyx.llm.anthropic_encode import AnthropicEncoder
from agenyx.llm.chat_encode import ChatEncoder
from agenyx.llm.dialects import COMPATIBLE, MESSAGES_ANTHROPIC, OPENROUTER, RESPONSES_OPENAI
from agenyx.llm.responses_encode import ResponsesEncoder
from support.wires import request


def valid_everywhere(entries: Sequence[Entry], binding: str = "me") -> None:
    """Encode for chat, Responses and Messages, and look at what comes out as a strict server does."""
    asked = request(*entries)
    chat(json.loads(ChatEncoder(COMPATIBLE, binding).encode(asked))["messages"])
    chat(json.loads(ChatEncoder(OPENROUTER, binding).encode(asked))["messages"])
    responses(json.loads(ResponsesEncoder(RESPONSES_OPENAI, binding).encode(asked))["input"])
    anthropic(json.loads(AnthropicEncoder(MESSAGES_ANTHROPIC, binding).encode(asked))["messages"])


def chat(messages: list[dict[str, Any]]) -> None:
    """Each call has one result, right behind the message that made it."""
    owed: list[str] = []
    known = set[str]()
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in owed, "a result without its call"
            owed.remove(message["tool_call_id"])
            continue
        assert not owed, f"calls without results: {owed}"
        if message["role"] == "assistant":
            owed = [call["id"] for call in message.get("tool_calls", ())]
            assert len(owed) == len(set(owed)) and not known & set(owed), "ids repeat"
            known |= set(owed)
            assert owed or message["content"] is not None, "an empty message"
    assert not owed, f"calls without results: {owed}"


def responses(items: list[dict[str, Any]]) -> None:
    """Each call has one output, after it and before anyone speaks again; reasoning stands before what it led to."""
    owed, known, thought = set[str](), set[str](), False
    for item in items:
        kind = item.get("type", "message")
        if thought:
            assert kind in ("reasoning", "function_call") or item.get("role") == "assistant", "reasoning torn off"
        match kind:
            case "function_call":
                assert item["call_id"] not in known, "ids repeat"
                known.add(item["call_id"])
                owed.add(item["call_id"])
            case "function_call_output":
                assert item["call_id"] in owed, "a result without its call"
                owed.remove(item["call_id"])
            case "message":
                assert item["role"] == "assistant" or not owed, f"calls without results: {owed}"
            case _:
                pass
        thought = kind == "reasoning"
    assert not owed and not thought


def anthropic(messages: list[dict[str, Any]]) -> None:
    """Results stand first in the user message right behind the calls, and no text is blank."""
    owed: list[str] = []
    known = set[str]()
    assert not messages or messages[0]["role"] == "user"
    for message in messages:
        blocks = message["content"]
        assert blocks, "an empty message"
        assert all(block["text"].strip() for block in blocks if block["type"] == "text")
        assert "thinking" not in blocks[-1]["type"], "thoughts torn off from what they led to"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        assert sorted(results) == sorted(owed), f"calls {owed} have the results {results}"
        assert [block["type"] for block in blocks[: len(results)]] == ["tool_result"] * len(results)
        owed = [block["id"] for block in blocks if block["type"] == "tool_use"]
        assert message["role"] == "assistant" or not owed
        assert len(owed) == len(set(owed)) and not known & set(owed), "ids repeat"
        known |= set(owed)
    assert not owed, f"calls without results: {owed}"

"""Streams of the Responses and Messages wires, as their servers write them, and conversations to encode."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from agenyx.core.events import CallDraft, Done, Failure, ModelEvent, ReasoningDelta, Started, TextDelta, Usage
from agenyx.core.messages import (
    Assistant,
    Block,
    Entry,
    Media,
    Opaque,
    Reasoning,
    Step,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    User,
)
from agenyx.core.tools import ToolSpec
from agenyx.llm.request import Options, Request
from agenyx.llm.stream import Decoder

TOOL = ToolSpec("Read", "Read a file.", {"type": "object", "properties": {"z": {"type": "string"}}, "required": []})


def named(payload: dict[str, Any]) -> bytes:
    """One server-sent event whose name repeats its type."""
    return b"event: %b\ndata: %b\n\n" % (payload["type"].encode(), json.dumps(payload).encode())


def decode(decoder: Decoder, parts: list[bytes]) -> list[ModelEvent]:
    events = [found for part in parts for found in decoder.feed(part)]
    return events + decoder.end()


def sum_up(events: list[ModelEvent]) -> tuple[Any, ...]:
    """What a response came to, whatever pieces it came in."""
    blocks: dict[tuple[type, int], str] = {}
    for e in events:
        if isinstance(e, TextDelta | ReasoningDelta | CallDraft):
            blocks[type(e), e.block] = blocks.get((type(e), e.block), "") + e.text
    return blocks, [e for e in events if isinstance(e, Started | Usage | Done | Failure)]


# --- Responses -------------------------------------------------------------------------------------------------------


def body(status: str = "completed", output: list[dict[str, Any]] | None = None, **more: Any) -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "status": status,
        "model": "served-model",
        "output": output or [],
        **more,
    }


def thought(text: str = "", secret: str = "gAAA==", place: int = 0) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text}] if text else []
    return {"id": f"rs_{place}", "type": "reasoning", "summary": summary, "encrypted_content": secret}


def message(text: str, phase: str = "", place: int = 0) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"id": f"msg_{place}", "type": "message", "status": "completed", "role": "assistant", "content": [part]}
    return {**item, "phase": phase} if phase else item


def function_call(name: str, args: str, place: int = 0) -> dict[str, Any]:
    item = {"id": f"fc_{place}", "type": "function_call", "status": "completed"}
    return {**item, "call_id": f"call_{place}", "name": name, "arguments": args}


def begun() -> list[dict[str, Any]]:
    return [{"type": f"response.{name}", "response": body("in_progress")} for name in ("created", "in_progress")]


def streamed(item: dict[str, Any], place: int) -> list[dict[str, Any]]:
    """The events of one item, its text in two pieces."""
    where = {"output_index": place, "item_id": item["id"]}
    match item["type"]:
        case "message":
            empty, text = {**item, "status": "in_progress", "content": []}, item["content"][0]["text"]
            kind, where = "output_text", {**where, "content_index": 0}
        case "reasoning":
            empty, text = {**item, "summary": [], "encrypted_content": ""}, "".join(s["text"] for s in item["summary"])
            kind, where = "reasoning_summary_text", {**where, "summary_index": 0}
        case _:
            empty, text = {**item, "status": "in_progress", "arguments": ""}, item["arguments"]
            kind = "function_call_arguments"
    half = len(text) // 2
    deltas = [{"type": f"response.{kind}.delta", **where, "delta": part} for part in (text[:half], text[half:]) if part]
    done = {"text": text} if kind != "function_call_arguments" else {"arguments": text}
    return [
        {"type": "response.output_item.added", "output_index": place, "item": empty},
        *deltas,
        {"type": f"response.{kind}.done", **where, **done},
        {"type": "response.output_item.done", "output_index": place, "item": item},
    ]


def response(*items: dict[str, Any], status: str = "completed", **more: Any) -> list[dict[str, Any]]:
    """All events of a response that is these items."""
    events = [event for place, item in enumerate(items) for event in streamed(item, place)]
    return [*begun(), *events, {"type": f"response.{status}", "response": body(status, list(items), **more)}]


# --- Messages --------------------------------------------------------------------------------------------------------


def opened(**usage: int) -> dict[str, Any]:
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "served-model", "content": []}
    return {"type": "message_start", "message": {**head, "usage": {"input_tokens": 10, "output_tokens": 1, **usage}}}


def block(index: int, content: dict[str, Any], *deltas: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"type": "content_block_start", "index": index, "content_block": content},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def text_block(index: int, *texts: str) -> list[dict[str, Any]]:
    return block(index, {"type": "text", "text": ""}, *({"type": "text_delta", "text": text} for text in texts))


def call_block(index: int, name: str, *args: str) -> list[dict[str, Any]]:
    content = {"type": "tool_use", "id": f"toolu_{index}", "name": name, "input": {}}
    return block(index, content, *({"type": "input_json_delta", "partial_json": part} for part in args))


def thinking_block(index: int, signature: str, *texts: str) -> list[dict[str, Any]]:
    deltas = [{"type": "thinking_delta", "thinking": text} for text in texts]
    content = {"type": "thinking", "thinking": "", "signature": ""}
    return block(index, content, *deltas, {"type": "signature_delta", "signature": signature})


def closed(stop: str = "end_turn", **usage: int) -> list[dict[str, Any]]:
    delta = {"stop_reason": stop, "stop_sequence": None}
    return [{"type": "message_delta", "delta": delta, "usage": {"output_tokens": 7, **usage}}, {"type": "message_stop"}]


# --- conversations ---------------------------------------------------------------------------------------------------


def user(text: str) -> User:
    return User((Text(text),))


def step(*blocks: Block, binding: str = "me", phase: str = "", status: Any = "ok") -> Step:
    calls = [block for block in blocks if isinstance(block, ToolCall)]
    results = tuple(ToolResult(call.id, status, (Text(f"result of {call.id}"),)) for call in calls)
    return Step(Assistant(blocks, "calls" if calls else "end", phase=phase, binding=binding), results)


def request(*entries: Entry, **changes: Any) -> Request:
    fields: dict[str, Any] = {"options": Options(), "tools": (TOOL,), "system": ("One.", "", "Two."), **changes}
    return Request(fields.pop("model", "m"), entries=entries, **fields)


texts = st.text(max_size=30)


def conversations(wire: str, call_wire: str, states: list[str]) -> st.SearchStrategy[list[Entry]]:
    """Any history: odd ids, broken arguments, blank texts, reasoning of this and other profiles."""
    opaque = st.none() | st.builds(Opaque, st.sampled_from(["me", "other"]), st.just(wire), st.sampled_from(states))
    named = st.none() | st.builds(Opaque, st.just("me"), st.just(call_wire), st.just('{"id":"fc_1"}'))
    wire_ids = st.sampled_from(["", "a", "a", "call_1", "functions.Read:0", "x" * 100])
    args = st.one_of(st.just('{"a": 1}'), st.just("{broken"), texts)
    call = st.builds(ToolCall, st.just(""), wire_ids, texts, args, named)
    block = st.one_of(st.builds(Text, texts), st.builds(Reasoning, texts, opaque), call)

    def numbered(blocks: list[Block], number: int) -> Step:
        own = [ToolCall(f"id{number}-{i}", b.wire_id, b.name, b.args, b.opaque) if isinstance(b, ToolCall) else b
               for i, b in enumerate(blocks)]  # fmt: skip
        return step(*own, phase="commentary" if number % 2 else "")

    media = st.tuples(st.builds(Text, texts), st.just(Media("image", "image/png", "0", 1, "n")))
    entry = st.one_of(
        texts.map(user),
        st.builds(numbered, st.lists(block, max_size=5), st.integers(0, 10**9)),
        st.builds(Summary, texts, st.just("r")),
        st.builds(User, media, st.just("notice")),
    )
    return st.lists(entry, max_size=10)

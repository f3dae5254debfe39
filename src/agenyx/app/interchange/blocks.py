"""Messages as the Messages API writes them, to ours and back. Pure; everything that is read here may be anything.

Bytes of images go through functions that are handed in.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from typing import Any, cast, get_args

from agenyx.core import json
from agenyx.core.events import Usage
from agenyx.core.json import scrub
from agenyx.core.limits import ARGS_BYTES, TOOL_NAME_CHARS
from agenyx.core.messages import (
    Assistant,
    Block,
    Media,
    Reasoning,
    Status,
    Stop,
    Text,
    ToolCall,
    ToolResult,
    UserBlock,
)

Json = dict[str, Any]
Keep = Callable[[bytes, str], Media | str | None]
"""Takes the bytes and the name of an image: what stands for it, a sentence where it cannot be shown, None for none."""

STOPS: dict[Stop, str] = {
    "end": "end_turn",
    "calls": "tool_use",
    "length": "max_tokens",
    "refusal": "refusal",
    "filter": "refusal",
    "cut": "end_turn",
}
_STOPPED: dict[str, Stop] = {"max_tokens": "length", "refusal": "refusal"}
_STATUS = frozenset(get_args(Status))
_MOST_TOKENS = 1 << 40


# --- ours to theirs --------------------------------------------------------------------------------------------------


def assistant_blocks(assistant: Assistant) -> list[Json]:
    blocks: list[Json] = []
    for block in assistant.blocks:
        match block:
            case Text(text) if text:
                blocks.append({"type": "text", "text": text})
            case Reasoning(text) if text:
                blocks.append({"type": "thinking", "thinking": text, "signature": ""})
            case ToolCall():
                blocks.append({"type": "tool_use", "id": block.id, "name": block.name, "input": arguments(block.args)})
            case _:
                pass
    return blocks


def arguments(text: str) -> Json:
    """The arguments of a call as an object; what is none stands in it as it is."""
    try:
        value: Any = json.decode(text)
    except json.JsonError:
        return {"raw": text} if text.strip() else {}
    return cast("Json", value) if isinstance(value, dict) else {"raw": text}


def content(blocks: Sequence[UserBlock], bytes_of: Callable[[Media], bytes | None]) -> str | list[Json]:
    """One text, or a list of blocks."""
    if all(isinstance(block, Text) for block in blocks):
        return "".join(block.text for block in blocks if isinstance(block, Text))
    made: list[Json] = []
    for block in blocks:
        if isinstance(block, Text):
            made += [{"type": "text", "text": block.text}] if block.text else []
            continue
        data = bytes_of(block)
        if data is None:
            made.append({"type": "text", "text": f"[{block.kind} {block.name}, {block.size} bytes]"})
            continue
        source = {"type": "base64", "media_type": block.mime, "data": base64.b64encode(data).decode()}
        title = {"title": block.name} if block.kind == "document" else {}
        made.append({"type": block.kind, "source": source, **title})
    return made


def usage(counted: Usage | None) -> Json:
    counted = counted or Usage()
    return {
        "input_tokens": counted.fresh,
        "cache_creation_input_tokens": counted.cache_write,
        "cache_read_input_tokens": counted.cache_read,
        "output_tokens": counted.out,
    }


# --- theirs to ours --------------------------------------------------------------------------------------------------


def items(value: Any) -> list[Json]:
    """The content of a message as a list of objects."""
    if isinstance(value, str):
        return [{"type": "text", "text": value}]
    listed = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("Json", one) if isinstance(one, dict) else {"type": "text", "text": str(one)} for one in listed]


def spoken(given: Sequence[Json], keep: Keep) -> tuple[UserBlock, ...]:
    """Texts, images and documents of a message or a result. What is none of them is named in words."""
    blocks: list[UserBlock] = []
    for one in given:
        match one.get("type"):
            case "text":
                if text := words(one.get("text")):
                    blocks.append(Text(text))
            case "image" | "document" as kind:
                blocks.append(_media(kind, one, keep))
            case "tool_result":
                pass
            case other:
                blocks.append(Text(f"[{words(other)[:40] or 'something'} that was not taken over]"))
    return tuple(blocks)


def answered(given: Sequence[Json], name_call: Callable[[str], str]) -> tuple[Block, ...]:
    """What a model said. `name_call` gives the id that a call has here, by the one it has there."""
    blocks: list[Block] = []
    for one in given:
        match one.get("type"):
            case "text":
                if text := words(one.get("text")):
                    blocks.append(Text(text))
            case "thinking":
                if text := words(one.get("thinking")):
                    blocks.append(Reasoning(text))
            case "redacted_thinking":
                pass  # only the provider can read it
            case "tool_use":
                name = words(one.get("name"))[:TOOL_NAME_CHARS] or "unnamed"
                blocks.append(ToolCall(name_call(words(one.get("id"))), "", name, _args(one.get("input"))))
            case other:
                blocks.append(Text(f"[{words(other)[:40] or 'something'} that was not taken over]"))
    return tuple(blocks)


def result(call: str, one: Json, told: Any, keep: Keep) -> ToolResult:
    """What a call came to. `told` is what the line says about it beside the message."""
    blocks = spoken(items(one.get("content")), keep)
    failed = one.get("is_error") is True
    said = cast("Json", told).get("status") if isinstance(told, dict) else None
    status: Status = "error" if failed else "ok"
    if failed and isinstance(said, str) and said in _STATUS and said != "ok":
        status = cast("Status", said)
    return ToolResult(call, status, blocks or (Text(""),))


def stopped(reason: Any, calls: bool) -> Stop:
    return "calls" if calls else _STOPPED.get(reason, "end") if isinstance(reason, str) else "end"


def counted(value: Any) -> Usage | None:
    """Tokens, None where they are not said. Figures that cannot be are left out."""
    if not isinstance(value, dict):
        return None
    given = cast("Json", value)

    def of(name: str) -> int:
        number = given.get(name)
        return number if type(number) is int and 0 <= number <= _MOST_TOKENS else 0

    made = Usage(
        of("input_tokens"), of("cache_read_input_tokens"), of("cache_creation_input_tokens"), of("output_tokens")
    )
    return made if made != Usage() else None


def words(value: Any) -> str:
    return scrub(value) if isinstance(value, str) else ""


def _args(value: Any) -> str:
    given = cast("Json", value) if isinstance(value, dict) else {} if value is None else {"raw": value}
    text = json.encode(given).decode()
    return text if len(text) <= ARGS_BYTES else "{}"


def _media(kind: str, one: Json, keep: Keep) -> UserBlock:
    held: Any = one.get("source")
    source = cast("Json", held) if isinstance(held, dict) else {}
    if source.get("type") == "text" and (text := words(source.get("data"))):
        return Text(text)
    if source.get("type") != "base64":
        return Text(f"[{kind} that is not in the transcript]")
    try:
        data = base64.b64decode(words(source.get("data")), validate=True)
    except (binascii.Error, ValueError):
        return Text(f"[{kind} that is damaged]")
    found = keep(data, words(one.get("title")) or kind)
    return found if isinstance(found, Media) else Text(f"[{kind}: {found or 'it is none'}]")

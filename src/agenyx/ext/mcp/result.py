"""What a server answered as content for the model: text, and images where there is a place for their bytes. Pure.

Links are named and never followed. The cut to what the model may see is made elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from agenyx.core import json
from agenyx.core.messages import Media, Status, Text
from agenyx.ext.mcp import wire
from agenyx.ext.mcp.answers import content, decoded
from agenyx.ext.mcp.clean import one_line
from agenyx.ext.mcp.model import CallAnswer, Contents
from agenyx.ext.mcp.wire import Object

Keep = Callable[[bytes, str], Media | None]
"""Keeps the bytes of an image of that media type for the model; None where it cannot."""


def outcome(answer: CallAnswer, keep: Keep | None = None) -> tuple[Status, tuple[Text | Media, ...]]:
    """Status and content of a call's result."""
    parts, media = _parts(answer.blocks, keep)
    if answer.structured is not None and not _said(answer.structured, answer.blocks):
        parts.append(json.pretty(answer.structured))
    text = "\n".join(part for part in parts if part)
    shown: tuple[Text | Media, ...] = (Text(json.scrub(text)),) if text or not media else ()
    return ("error" if answer.is_error else "ok"), (*shown, *media)


def texts(blocks: Iterable[Object]) -> str:
    """The blocks as text alone, such as those of a prompt."""
    return json.scrub("\n".join(_parts(blocks, None)[0]))


def resource_text(found: Iterable[Contents]) -> str:
    """The contents of a resource as text; what is binary is named."""
    return json.scrub(
        "\n".join(one.text if one.data is None else _binary("content", one.mime, one.data) for one in found)
    )


def _parts(blocks: Iterable[Object], keep: Keep | None) -> tuple[list[str], list[Media]]:
    parts, media = list[str](), list[Media]()
    for block in blocks:
        kind = block.get("type")
        if kind == "text":
            parts.append(str(block.get("text", "")))
        elif kind in ("image", "audio"):
            mime, data = one_line(block.get("mimeType"), 100), decoded(block.get("data"))
            kept = keep(data, mime) if keep and data and kind == "image" else None
            if kept is not None:
                media.append(kept)
            else:
                parts.append(_binary(kind, mime, data))
        elif kind == "resource":
            parts.append(_embedded(content(block.get("resource"))))
        elif kind == "resource_link":
            parts.append(_link(block))
        else:
            parts.append(f"[content of a kind that Agenyx does not know: {one_line(kind, 100) or 'none'}]")
    return parts, media


def _binary(what: str, mime: str, data: bytes | None) -> str:
    if data is None:
        return f"[{what}, {mime or 'of no type'}: it could not be decoded]"
    return f"[{what}, {mime or 'of no type'}, {len(data):,} bytes: it cannot be shown here]"


def _embedded(found: Contents) -> str:
    head = f"[resource {found.uri}{f', {found.mime}' if found.mime else ''}]"
    return f"{head}\n{found.text}" if found.data is None else f"{head} {_binary('content', found.mime, found.data)}"


def _link(block: Object) -> str:
    name, uri = one_line(block.get("title") or block.get("name"), 200), one_line(block.get("uri"), 2048)
    told = one_line(block.get("description"), 500)
    return f"[link to {uri}{f' ({name})' if name else ''}{f': {told}' if told else ''}; it was not followed]"


def _said(structured: Any, blocks: Iterable[Object]) -> bool:
    """Whether a text says what the structured content says: servers send both for older clients."""
    inner = list(wire.members(structured).values())
    plain = inner[0] if len(inner) == 1 else None  # some servers wrap what is no object into one
    for block in blocks:
        text = block.get("text")
        if not isinstance(text, str):
            continue
        if plain is not None and text == plain:
            return True
        try:
            value = json.decode(text)
        except json.JsonError:
            continue
        if value == structured or (plain is not None and value == plain):
            return True
    return False

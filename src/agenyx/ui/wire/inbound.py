"""What a host writes, as types, and how a line becomes one of them. Pure.

Whatever is wrong has one of three ends: the stream is over (`Fatal`), a prompt is refused by its uuid (`Rejected`), or
a request is answered with an error (`Wrong`). Nothing is half taken.
"""

from __future__ import annotations

import binascii
from typing import Any, Literal, cast

from msgspec import Struct

from agenyx.core import json
from agenyx.core.messages import Media
from agenyx.ui.wire.dialect import Dialect

Priority = Literal["now", "next", "later", "steer"]
PRIORITIES = ("now", "next", "later", "steer")

_SAID = {
    "type",
    "uuid",
    "session_id",
    "message",
    "parent_tool_use_id",
    "isReplay",
    "isSynthetic",
    "tool_use_result",
    "priority",
    "timestamp",
}
_OWNED = {
    "user": _SAID,
    "assistant": _SAID,
    "system": _SAID | {"subtype"},
    "control_request": {"type", "request_id", "requestId", "request"},
    "control_response": {"type", "response"},
    "control_cancel_request": {"type", "request_id"},
    "keep_alive": {"type"},
}
"""The members of a record (reference: AgentX §7.2); any other one ends the stream of such a host."""


_REF = {"type", "attachment_id", "kind", "name", "mime_type", "size_bytes", "sha256", "storage_id"}


class Fatal(Exception):
    """The stream cannot go on. The text says why."""


class Said(Struct, frozen=True):
    """A prompt. `verbatim`: no slash command is looked for in it. `session` as the host wrote it, "" for none.
    `images` are the bytes of images and documents, `paths` files with such, `refs` name what was sent before, and
    `media` is what these stand for."""

    text: str
    uuid: str = ""
    session: str = ""
    priority: Priority = "next"
    verbatim: bool = False
    size: int = 0
    images: tuple[bytes, ...] = ()
    paths: tuple[str, ...] = ()
    refs: tuple[dict[str, Any], ...] = ()
    media: tuple[Media, ...] = ()


class Import(Struct, frozen=True):
    """Something about a file that an AgentX host sends; see `uploads`."""

    record: dict[str, Any]


class Asked(Struct, frozen=True):
    """A request of the host; `request` has all its fields, `subtype` among them."""

    request_id: str
    subtype: str
    request: dict[str, Any]


class Answered(Struct, frozen=True):
    """The host's answer to a request of ours; `error` where it has none."""

    request_id: str
    response: dict[str, Any] | None
    error: str = ""


class Withdrawn(Struct, frozen=True):
    """The host no longer wants that request of its own answered."""

    request_id: str


class Rejected(Struct, frozen=True):
    """A prompt that is not taken; `uuid` is its own, "" where it has none."""

    uuid: str
    why: str


class Wrong(Struct, frozen=True):
    """A request that cannot be read, but can be answered."""

    request_id: str
    why: str


class Passed(Struct, frozen=True):
    """Nothing to do; `note` is for standard error, "" where nothing is to be said."""

    note: str = ""


Inbound = Said | Import | Asked | Answered | Withdrawn | Rejected | Wrong | Passed


def read(line: bytes, dialect: Dialect) -> Inbound:
    """One record. Raises Fatal."""
    try:
        record = json.strict(line, dict[str, Any])
    except json.JsonError as error:
        raise Fatal(f"a line that is no JSON object: {error}") from None
    except ValueError:  # more digits than are turned into a number
        raise Fatal("a line with a number that is too long") from None
    record = cast("dict[str, Any]", _mended(record))
    kind = record.get("type")
    if not isinstance(kind, str):
        raise Fatal("a record without a type")
    if kind in _OWNED and dialect == "agentx" and (strange := sorted(set(record) - _OWNED[kind])):
        raise Fatal(f"a record {kind} with the unknown member {strange[0]!r}")
    match kind:
        case "user":
            return _said(record, dialect, len(line))
        case "control_request":
            return _asked(record)
        case "control_response":
            return _answered(record)
        case "control_cancel_request":
            return Withdrawn(_text(record, "request_id"))
        case "keep_alive":
            return Passed()
        case "attachment_import" if dialect == "agentx":
            return Import(record)
        case "assistant" | "system":
            return Passed(f"a record {kind} of an earlier conversation was passed over")
        case "update_environment_variables":
            return Passed("environment variables cannot be changed while Agenyx runs; the record was passed over")
        case _:
            return Passed(f"a record of the unknown type {kind[:80]!r} was passed over")


def _text(record: dict[str, Any], name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str) or not value:
        raise Fatal(f"a record {record['type']} without {name}")
    return value


def _asked(record: dict[str, Any]) -> Inbound:
    ident = record.get("request_id", record.get("requestId"))
    if not isinstance(ident, str) or not ident:
        raise Fatal("a control_request without request_id")
    request = record.get("request")
    if not isinstance(request, dict) or not isinstance(cast("dict[str, Any]", request).get("subtype"), str):
        return Wrong(ident, "the request is no object with a subtype")
    members = cast("dict[str, Any]", request)
    return Asked(ident, members["subtype"], members)


def _answered(record: dict[str, Any]) -> Inbound:
    given = record.get("response")
    if not isinstance(given, dict):
        raise Fatal("a control_response without response")
    response = cast("dict[str, Any]", given)
    ident = response.get("request_id")
    if not isinstance(ident, str) or not ident:
        raise Fatal("a control_response without request_id")
    if response.get("subtype") == "error":
        return Answered(ident, None, str(response.get("error") or "the host gave no reason"))
    inner = response.get("response")
    if response.get("subtype") != "success" or not isinstance(inner, dict | None):
        return Answered(ident, None, "the host's answer is neither success nor error")
    return Answered(ident, cast("dict[str, Any]", inner or {}))


def _said(record: dict[str, Any], dialect: Dialect, size: int) -> Inbound:
    uuid = record.get("uuid")
    uuid = uuid if isinstance(uuid, str) else ""
    session = record.get("session_id")
    session = session if isinstance(session, str) else ""
    priority = record.get("priority") or "next"
    if priority not in PRIORITIES:
        return Rejected(uuid, f"the priority {str(priority)[:40]!r} is none of {', '.join(PRIORITIES)}")
    if record.get("isReplay") and not (uuid and session):
        return Rejected(uuid, "a replayed prompt needs uuid and session_id")
    try:
        text, images, refs = _content(record.get("message"), dialect)
    except ValueError as error:
        return Rejected(uuid, str(error))
    if not text.strip() and not images and not refs:
        return Rejected(uuid, "the prompt is empty")
    if refs and text.lstrip().startswith("/"):
        return Rejected(uuid, "a slash command takes no attachments")
    verbatim = record.get("client_composed") is True
    return Said(text, uuid, session, priority, verbatim, max(size, len(text.encode())) + 256, images, refs=refs)


def _content(message: object, dialect: Dialect) -> tuple[str, tuple[bytes, ...], tuple[dict[str, Any], ...]]:
    """The text, the images and the references of a message. Raises ValueError."""
    if isinstance(message, str):
        return message, (), ()
    if not isinstance(message, dict):
        raise ValueError("the message is neither a text nor an object")
    members = cast("dict[str, Any]", message)
    if members.get("role", "user" if dialect == "sdk" else None) != "user":
        raise ValueError("the role of the message is not user")
    content = members.get("content")
    if isinstance(content, str):
        return content, (), ()
    if not isinstance(content, list):
        raise ValueError("the content of the message is neither a text nor a list of blocks")
    parts, images, refs = list[str](), list[bytes](), list[dict[str, Any]]()
    for one in cast("list[Any]", content):
        block = cast("dict[str, Any]", one) if isinstance(one, dict) else {}
        kind, text = block.get("type"), block.get("text")
        if kind in ("image", "document") and dialect == "sdk":
            images.append(_image(block.get("source")))
        elif kind == "attachment_ref" and dialect == "agentx" and members.get("content_version") == 1:
            if set(block) != _REF:
                raise ValueError("a block attachment_ref has not exactly the members of what was committed")
            refs.append(block)
        elif kind in ("text", "input_text") and isinstance(text, str):
            parts.append(text)
        else:
            raise ValueError(f"a block of the type {str(kind)[:40]!r} is not taken here")
    return "\n".join(parts), tuple(images), tuple(refs)


def _image(source: object) -> bytes:
    """The bytes of an image. Raises ValueError."""
    members = cast("dict[str, Any]", source) if isinstance(source, dict) else {}
    data = members.get("data")
    if members.get("type") != "base64" or not isinstance(data, str):
        raise ValueError("an image is taken as base64 only")
    try:
        return binascii.a2b_base64(data.encode(), strict_mode=True)
    except ValueError:
        raise ValueError("an image is no valid base64") from None


def _mended(node: Any) -> Any:
    """Lone surrogates become U+FFFD, in names and in texts."""
    if isinstance(node, str):
        return json.scrub(node)
    if isinstance(node, dict):
        return {json.scrub(key): _mended(value) for key, value in cast("dict[str, Any]", node).items()}
    return [_mended(item) for item in cast("list[Any]", node)] if isinstance(node, list) else node

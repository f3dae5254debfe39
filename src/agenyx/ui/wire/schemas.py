"""The JSON Schemas of all records, made from the types; `schema.json` beside this module is what hosts get.

The shapes of what a host writes stand here; `inbound` says what becomes of a record that differs from them.
"""

from __future__ import annotations

from typing import Any, Literal, get_args

from msgspec import UNSET, Struct, UnsetType

from agenyx.core import json
from agenyx.ui.wire.answers import Answer, Failed
from agenyx.ui.wire.inbound import Priority
from agenyx.ui.wire.outbound import JsonObject, Outbound


class TextOf(Struct, frozen=True, tag="text", tag_field="type"):
    text: str


class InputText(Struct, frozen=True, tag="input_text", tag_field="type"):
    text: str


class Bytes(Struct, frozen=True, tag="base64", tag_field="type"):
    data: str
    media_type: str | UnsetType = UNSET


class ImageOf(Struct, frozen=True, tag="image", tag_field="type"):
    """From the Agent SDKs. What it is its bytes say."""

    source: Bytes


class DocumentOf(Struct, frozen=True, tag="document", tag_field="type"):
    """From the Agent SDKs: a PDF document."""

    source: Bytes


class PromptMessage(Struct, frozen=True):
    content: str | tuple[TextOf | InputText | ImageOf | DocumentOf, ...]
    role: Literal["user"] = "user"


class Prompt(Struct, frozen=True, tag="user", tag_field="type"):
    """A prompt. `uuid` is the host's own: a prompt that is sent again is not run again."""

    message: str | PromptMessage
    uuid: str | UnsetType = UNSET
    session_id: str | UnsetType = UNSET
    parent_tool_use_id: str | UnsetType | None = UNSET
    priority: Priority | UnsetType = UNSET
    client_composed: bool | UnsetType = UNSET
    isReplay: bool | UnsetType = UNSET
    isSynthetic: bool | UnsetType = UNSET
    timestamp: str | UnsetType = UNSET


class HostRequest(Struct, frozen=True, tag="control_request", tag_field="type"):
    """`request` has a `subtype` and the fields of that request."""

    request_id: str
    request: JsonObject


class HostResponse(Struct, frozen=True, tag="control_response", tag_field="type"):
    """The answer to a `control_request` of ours."""

    response: Answer | Failed


class HostCancel(Struct, frozen=True, tag="control_cancel_request", tag_field="type"):
    """The host no longer wants that request of its own answered."""

    request_id: str


class KeepAlive(Struct, frozen=True, tag="keep_alive", tag_field="type"):
    """Nothing."""


Host = Prompt | HostRequest | HostResponse | HostCancel | KeepAlive


def document() -> dict[str, Any]:
    """One JSON Schema (2020-12) with `$defs`: each record by its name, `Inbound` and `Outbound` the two directions."""
    directions = {"Inbound": get_args(Host), "Outbound": get_args(Outbound)}
    types = [kind for kinds in directions.values() for kind in kinds]
    defs: dict[str, Any] = dict(sorted(json.schemas(types, "#/$defs/{name}").items()))
    for name, kinds in directions.items():
        defs[name] = {"anyOf": [{"$ref": f"#/$defs/{kind.__name__}"} for kind in kinds]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Agenyx: records of --output-format stream-json and --input-format stream-json",
        "anyOf": [{"$ref": f"#/$defs/{name}"} for name in directions],
        "$defs": defs,
    }

"""How a control request is answered, in either direction."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Answer(Struct, frozen=True, tag="success", tag_field="subtype"):
    request_id: str
    response: dict[str, Any] = {}


class Failed(Struct, frozen=True, tag="error", tag_field="subtype"):
    request_id: str
    error: str

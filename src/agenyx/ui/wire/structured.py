"""An answer that is one JSON value: what the model is told, and what is made of what it says. Pure."""

from __future__ import annotations

import re
from typing import Any, cast

from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.ext.mcp.validate import problem
from agenyx.ui.wire.outbound import JsonObject

MOST_REPAIRS = 2
_LONGEST = 100_000  # characters of a schema
_FENCE = re.compile(r"\A\s*```[a-zA-Z]*\n(.*)\n```\s*\Z", re.DOTALL)


class Unfit(Exception):
    """The answer does not fit; the text says why, for the model."""


def schema_of(text: str) -> JsonObject:
    """The schema that a host gave. Raises UsageError."""
    fix = 'For example: --json-schema \'{"type": "object", "properties": {"answer": {"type": "string"}}}\''
    if len(text) > _LONGEST:
        raise UsageError(f"--json-schema has more than {_LONGEST:,} characters", "Give a shorter one.")
    try:
        value: Any = json.decode(text)
    except json.JsonError as error:
        raise UsageError(f"--json-schema is no JSON: {error}", fix) from None
    if not isinstance(value, dict):
        raise UsageError("--json-schema is no object", fix)
    return cast("JsonObject", value)


def told(schema: JsonObject) -> str:
    """What the model is told behind the prompt."""
    return (
        "When you are done, your last answer must be one JSON value and nothing else: no words around it, no code "
        f"fence. It must fit this JSON Schema:\n{json.encode(schema).decode()}"
    )


def repair(why: str) -> str:
    """What the model is told when its answer does not fit."""
    return f"Your last answer does not fit: {why}. Answer again with the JSON value alone."


def value_of(answer: str, schema: JsonObject) -> Any:
    """The value that an answer is. Raises Unfit."""
    inner = _FENCE.match(answer)
    try:
        value: Any = json.decode(inner[1] if inner else answer)
    except json.JsonError as error:
        raise Unfit(f"it is no JSON ({error})") from None
    if wrong := problem(value, schema):
        raise Unfit(wrong)
    return value

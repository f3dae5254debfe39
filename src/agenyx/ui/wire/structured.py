"""The schema that a host gives for an answer. What becomes of it: `app.structured`."""

from __future__ import annotations

from typing import Any, cast

from agenyx.app.structured import MOST_REPAIRS as MOST_REPAIRS
from agenyx.app.structured import Unfit as Unfit
from agenyx.app.structured import repair as repair
from agenyx.app.structured import together as together
from agenyx.app.structured import told as told
from agenyx.app.structured import value_of as value_of
from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.ui.wire.outbound import JsonObject

_LONGEST = 100_000  # characters of a schema


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

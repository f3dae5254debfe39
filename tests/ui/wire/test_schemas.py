"""The schemas that are shipped are those of the types, and what is really written and read fits them.

AGENYX_WRITE_RECORDS=1 writes the file anew.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import agenyx.ui.wire.schemas as schemas
from agenyx.core.json import JsonError, convert, encode, pretty
from agenyx.ui.wire.dialect import Dialect
from agenyx.ui.wire.inbound import Passed, Rejected, Wrong, read
from agenyx.ui.wire.outbound import ControlCancel, ControlRequest

FILE = Path(schemas.__file__).with_name("schema.json")
GOLDEN = Path(__file__).parent / "golden"


def test_the_file_is_what_the_types_say() -> None:
    text = pretty(schemas.document()) + "\n"
    if os.environ.get("AGENYX_WRITE_RECORDS"):
        FILE.write_text(text, "utf-8")
    assert FILE.read_text("utf-8") == text


def fits(value: Any, schema: dict[str, Any], defs: dict[str, Any]) -> bool:
    """Whether a value fits, for the part of JSON Schema that the types use."""
    if "$ref" in schema:
        return fits(value, defs[schema["$ref"].rpartition("/")[2]], defs)
    if "anyOf" in schema:
        return any(fits(value, one, defs) for one in schema["anyOf"])
    if "enum" in schema:
        return value in schema["enum"]
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            if not isinstance(value, dict) or not set(schema.get("required", ())) <= set(value):
                return False
            return all(fits(one, properties[name], defs) for name, one in value.items() if name in properties)
        case "array":
            items = schema.get("items", {})
            return isinstance(value, list) and all(fits(one, items, defs) for one in value)
        case None:
            return True
        case kind:
            kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}
            return isinstance(value, kinds[kind])


@pytest.mark.parametrize("dialect", ["sdk", "agentx"])
def test_every_golden_record_fits(dialect: str) -> None:
    document = schemas.document()
    for row in (GOLDEN / f"{dialect}.jsonl").read_text().splitlines():
        record = json.loads(row)
        assert fits(record, document["$defs"]["Outbound"], document["$defs"]), record


def test_a_record_that_lacks_something_does_not_fit() -> None:
    document = schemas.document()
    assert not fits({"type": "result", "subtype": "success"}, document["$defs"]["Outbound"], document["$defs"])
    assert fits(json.loads(encode(ControlCancel("r"))), document["$defs"]["Outbound"], document["$defs"])
    asked = json.loads(encode(ControlRequest("r", {"subtype": "can_use_tool"})))
    assert fits(asked, document["$defs"]["Outbound"], document["$defs"])


INBOUND: list[tuple[dict[str, Any], bool]] = [
    ({"type": "user", "message": "hi"}, True),
    ({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "a"}]}, "uuid": "u"}, True),
    ({"type": "user", "message": {"role": "user", "content": "a"}, "priority": "steer"}, True),
    ({"type": "user", "message": {"role": "user", "content": "a"}, "priority": "soon"}, False),
    ({"type": "user", "message": 7}, False),
    ({"type": "control_request", "request_id": "r", "request": {"subtype": "x"}}, True),
    ({"type": "control_request", "request_id": "r", "request": 7}, False),
    ({"type": "control_response", "response": {"subtype": "success", "request_id": "r", "response": {}}}, True),
    ({"type": "control_response", "response": {"subtype": "error", "request_id": "r", "error": "e"}}, True),
    ({"type": "control_cancel_request", "request_id": "r"}, True),
    ({"type": "keep_alive"}, True),
    ({"type": "hologram"}, False),
]


@pytest.mark.parametrize(("record", "good"), INBOUND)
@pytest.mark.parametrize("dialect", ["sdk", "agentx"])
def test_what_fits_is_read_and_what_does_not_is_refused(record: dict[str, Any], good: bool, dialect: Dialect) -> None:
    taken = read(encode(record), dialect)
    refused = isinstance(taken, Rejected | Wrong) or (isinstance(taken, Passed) and bool(taken.note))
    assert refused is not good
    document = schemas.document()
    assert fits(record, document["$defs"]["Inbound"], document["$defs"]) is good
    if good:
        assert convert(record, schemas.Host)
    else:
        with pytest.raises(JsonError):
            convert(record, schemas.Host)

from __future__ import annotations

from typing import Any

import pytest

from agenyx.ext.mcp.elicit import fields, result
from agenyx.ext.mcp.model import Field, Reply


def form(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def only(**schema: Any) -> Field:
    found = fields(form(it=schema))
    assert found is not None
    return found[0]


def test_kinds_of_fields():
    assert only(type="string", title="Name", description="Your\x1b name").description == "Your\\x1b name"
    assert [only(type=kind).kind for kind in ("string", "number", "integer", "boolean")] == [
        "string",
        "number",
        "integer",
        "boolean",
    ]
    titled = only(type="string", oneOf=[{"const": "a", "title": "Alpha"}, {"const": "b"}])
    assert (titled.kind, titled.choices, titled.many) == ("choice", (("a", "Alpha"), ("b", "b")), False)
    several = only(type="array", items={"type": "string", "enum": ["x", "y"]}, default=["x"])
    assert (several.kind, several.choices, several.many, several.default) == (
        "choice",
        (("x", "x"), ("y", "y")),
        True,
        ["x"],
    )
    assert only(type="array", items={"anyOf": [{"const": "x", "title": "X"}]}).choices == (("x", "X"),)


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {"type": "array"},
        form(a={"type": "object"}),
        form(a={"type": "array", "items": {"type": "string"}}),
        form(a={}),
        form(**{"a\u202e": {"type": "string"}}),
        form(**{f"f{n}": {"type": "string"} for n in range(65)}),
    ],
)
def test_what_is_no_flat_form_is_none(schema):
    assert fields(schema) is None


def test_a_default_that_does_not_fit_is_none():
    assert only(type="integer", minimum=1, default=0).default is None
    assert only(type="boolean", default=False).default is False


def test_answers_hold_known_fields_that_fit():
    asked = fields(
        form(a={"type": "string", "maxLength": 3}, b={"type": "boolean", "default": True}, c={"enum": ["x"]})
    )
    assert asked is not None
    assert result(Reply("accept", {"a": "abc", "other": 1, "c": None}), asked) == {
        "action": "accept",
        "content": {"a": "abc", "b": True},
    }
    assert result(Reply("accept", {"b": False}), asked)["content"] == {"b": False}
    assert result(Reply("accept", {"a": "abcd"}), asked) == {"action": "cancel"}
    assert result(Reply("accept", {"c": "y"}), asked) == {"action": "cancel"}
    assert result(Reply("decline", {"a": "abc"}), asked) == {"action": "decline"}

from __future__ import annotations

import time
from typing import Any

import pytest

from agenyx.core.json import JsonError
from agenyx.ext.mcp.validate import arguments, problem

OBJECT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "minLength": 2, "maxLength": 4},
        "count": {"type": "integer", "minimum": 1, "exclusiveMaximum": 10, "multipleOf": 3},
        "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        "on": {"type": "boolean"},
        "mode": {"enum": ["a", 1, None]},
        "one": {"const": 1},
        "list": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3, "uniqueItems": True},
        "deep": {
            "type": "object",
            "required": ["x"],
            "properties": {"x": {"type": "array", "items": {"type": "null"}}},
        },
        "any": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "either": {"oneOf": [{"type": "integer"}, {"type": "number"}]},
        "all": {"allOf": [{"minimum": 2}, {"maximum": 4}]},
        "no": {"not": {"type": "string"}},
        "map": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1},
        "maybe": {"type": ["string", "null"]},
    },
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ({}, ""),
        ([], "the value must be an object"),
        (None, "the value must be an object"),
        ({"text": "a"}, "text must have at least 2 characters"),
        ({"text": "abcde"}, "text must have at most 4 characters"),
        ({"text": 5}, "text must be a text"),
        ({"count": 3}, ""),
        ({"count": 3.0}, ""),
        ({"count": 0}, "count must be at least 1"),
        ({"count": 12}, "count must be less than 10"),
        ({"count": 4}, "count must be a multiple of 3"),
        ({"count": 3.5}, "count must be a whole number"),
        ({"count": True}, "count must be a whole number"),
        ({"share": 0}, "share must be more than 0"),
        ({"share": 1}, ""),
        ({"share": 1.5}, "share must be at most 1"),
        ({"on": 1}, "on must be true or false"),
        ({"mode": "a"}, ""),
        ({"mode": None}, ""),
        ({"mode": True}, 'mode must be one of ["a",1,null]'),
        ({"one": True}, "one must be 1"),
        ({"one": 1.0}, ""),
        ({"list": []}, "list must have at least 1 items"),
        ({"list": [1, 2, 3, 4]}, "list must have at most 3 items"),
        ({"list": [1, "a"]}, "list[1] must be a whole number"),
        ({"list": [1, 1]}, "list must not hold an item twice"),
        ({"deep": {}}, "deep.x is missing"),
        ({"deep": {"x": [None, 1]}}, "deep.x[1] must be null"),
        ({"any": 1}, ""),
        ({"any": []}, "any fits none of the forms it may have (the first: any must be a text)"),
        ({"either": 1.5}, ""),
        ({"either": 1}, "either fits more than one of the forms it may have"),
        ({"all": 3}, ""),
        ({"all": 5}, "all must be at most 4"),
        ({"no": 1}, ""),
        ({"no": "x"}, "no has a form that is excluded"),
        ({"map": {"a": 1}}, ""),
        ({"map": {}}, "map must have at least 1 members"),
        ({"map": {"a": "x"}}, "map.a must be a whole number"),
        ({"maybe": 1}, "maybe must be a text or null"),
    ],
)
def test_each_keyword(value, wrong):
    assert problem(value, OBJECT) == wrong


def test_an_unknown_member_is_named_with_the_known_ones():
    assert problem({"txt": 1}, {"properties": {"text": {}}, "additionalProperties": False}) == (
        "txt is unknown; the members are: text"
    )


@pytest.mark.parametrize(
    ("value", "becomes"),
    [
        ({"count": "3"}, {"count": 3}),
        ({"share": "0.5"}, {"share": 0.5}),
        ({"on": "true"}, {"on": True}),
        ({"list": ["1", 2]}, {"list": [1, 2]}),
        ({"text": None, "count": 3}, {"count": 3}),
        ({"maybe": None}, {"maybe": None}),
        ({"deep": {"x": []}, "on": "false"}, {"deep": {"x": []}, "on": False}),
    ],
)
def test_scalars_are_mended(value, becomes):
    assert arguments(value, OBJECT) == becomes


@pytest.mark.parametrize("value", [{"on": "yes"}, {"count": "1e1"}, {"count": "+3"}, {"count": "9" * 100}, {"text": 3}])
def test_nothing_else_is_bent(value):
    with pytest.raises(JsonError):
        arguments(value, OBJECT)


def test_a_pattern_is_left_to_the_server():
    begun = time.monotonic()
    assert problem("a" * 5000 + "!", {"type": "string", "pattern": "^(a+)+$"}) == ""
    assert time.monotonic() - begun < 1


def test_checking_ends_whatever_the_schema():
    wide = {"anyOf": [{"type": "object", "properties": {"a": {"type": "integer"}}} for _ in range(500)]}
    begun = time.monotonic()
    problem([{"a": "x"}] * 50_000, {"type": "array", "items": wide})
    assert time.monotonic() - begun < 20

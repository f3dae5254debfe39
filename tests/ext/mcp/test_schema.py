from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.core import json
from agenyx.ext.mcp.schema import Unfit, prepare
from agenyx.ext.mcp.validate import problem

WORDS = st.sampled_from(
    (
        *("type", "properties", "items", "anyOf", "oneOf", "allOf", "not", "enum", "required", "$ref", "$defs"),
        *("additionalProperties", "minimum", "maxLength", "pattern", "description", "x-other", "uniqueItems"),
        *("const", "default"),
    )
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-9, 9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["object", "string", "array", "#/$defs/a", "#", "#/properties/a", "a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.sampled_from(["a", "b"]), inner, max_size=4),
    max_leaves=25,
)


def props(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_what_is_known_stays_as_it_is():
    schema = props(
        path={"type": "string", "description": "Where.", "minLength": 1, "pattern": "^/", "format": "uri"},
        mode={"enum": ["a", "b"], "default": "a"},
        sizes={"type": "array", "items": {"type": ["integer", "null"]}, "minItems": 1, "uniqueItems": True},
        more={"anyOf": [{"type": "string"}, {"type": "number", "exclusiveMinimum": 0.5}]},
    ) | {"required": ["path"], "additionalProperties": False}
    assert prepare(schema) == (schema, False)


def test_titles_and_the_like_go_without_a_word():
    schema = props(a={"type": "string", "title": "A"}) | {"$schema": "http://json-schema.org/draft-07/schema#"}
    assert prepare(schema) == (props(a={"type": "string"}), False)


def test_references_are_put_in():
    schema = props(
        a={"$ref": "#/$defs/point", "description": "Here."},
        b={"$ref": "#/$defs/odd~1name~0x"},
        c={"$ref": "#/$defs/list/0"},
    ) | {
        "$defs": {
            "point": props(x={"type": "number"}) | {"description": "A point."},
            "odd/name~x": {"type": "string"},
            "list": [{"type": "null"}],
        }
    }
    found, relaxed = prepare(schema)
    assert not relaxed
    assert found["properties"]["a"] == props(x={"type": "number"}) | {"description": "Here."}
    assert found["properties"]["b"] == {"type": "string"} and found["properties"]["c"] == {"type": "null"}


@pytest.mark.parametrize("ref", ["#/$defs/none", "other.json", "https://x/y", 7, "#/$defs/a/b/c"])
def test_references_that_lead_nowhere_are_relaxed(ref):
    assert prepare(props(a={"$ref": ref, "description": "kept"})) == (props(a={"description": "kept"}), True)


def test_a_schema_that_holds_itself_ends():
    tree = {"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}
    found, relaxed = prepare(tree)
    assert relaxed and found["properties"]["left"]["properties"]["left"] == {}
    bomb = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 9} for n in range(20)} | {"d20": {"type": "string"}}
    found, relaxed = prepare(props(a={"$ref": "#/$defs/d0"}) | {"$defs": bomb})
    assert relaxed and len(json.encode(found)) < 1 << 20


def test_forms_at_the_root_are_left_to_the_server():
    schema = props(a={}, b={}) | {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert prepare(schema) == (props(a={}, b={}), True)


def test_hidden_characters_are_shown_in_descriptions_and_refused_in_names():
    schema = props(a={"description": "x\u202ey" + "z" * 5000}, **{"b\u200b": {}}) | {"additionalProperties": False}
    found, relaxed = prepare(schema)
    assert relaxed and set(found["properties"]) == {"a"} and "additionalProperties" not in found
    text = found["properties"]["a"]["description"]
    assert text.startswith("x\\u202ey") and len(text.encode()) <= 2048


@pytest.mark.parametrize("raw", [None, [], "x", {"type": "string"}, {"type": ["string"]}, {"type": 7}])
def test_what_is_no_schema_of_an_object_is_unfit(raw):
    with pytest.raises(Unfit):
        prepare(raw)


@pytest.mark.parametrize("raw", [{}, {"type": "object"}, {"type": ["object", "null"]}, {"properties": None}])
def test_what_says_nothing_takes_anything(raw):
    found, _ = prepare(raw)
    assert found == {"type": "object", "properties": {}}
    assert problem({"any": 1}, found) == ""


def test_a_huge_one_is_unfit():
    with pytest.raises(Unfit, match="larger than 1 MiB"):
        prepare({"description": "x" * (1 << 20)})


@given(st.dictionaries(WORDS, JSON, max_size=6), JSON)
def test_whatever_a_server_sends_gives_a_schema_or_unfit_and_checking_never_fails(raw, value):
    try:
        found, _ = prepare(raw)
    except Unfit:
        return
    assert found["type"] == "object" and b"$ref" not in json.encode(sorted(found))
    assert prepare(found)[0] == found  # nothing is lost the second time
    assert isinstance(problem(value, found), str)

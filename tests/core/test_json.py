"""Decoding, scrubbing, strictness, schemas."""

from __future__ import annotations

import json as reference
from typing import Annotated, Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.core import json

ANY_TEXT = st.text(st.characters(), max_size=30)
WITH_SURROGATES = st.lists(
    st.sampled_from(["a", "é", "\\", '"', "\ud800", "\udc00", "\udbff", "\udfff", "😀", "\n", "\\ud800"]), max_size=12
).map("".join)


@given(st.one_of(ANY_TEXT, WITH_SURROGATES))
def test_scrubbed_text_can_always_be_encoded_and_good_text_is_untouched(text: str) -> None:
    clean = json.scrub(text)
    assert json.decode(json.encode(clean)) == clean
    assert json.scrub(clean) == clean
    if not any(0xD800 <= ord(c) <= 0xDFFF for c in text):
        assert clean == text


@given(WITH_SURROGATES)
def test_streamed_surrogates_are_replaced_and_pairs_are_kept(text: str) -> None:
    streamed = reference.dumps({"t": text})
    assert json.decode(streamed) == {"t": json.scrub(text)}


def test_invalid_utf8_is_replaced() -> None:
    assert json.decode(b'"a\xffb"') == "a\ufffdb"


@pytest.mark.parametrize("bad", ["", "{", "[1,]", "nul", '{"a":1}x', "[" * 100_000])
def test_what_is_no_json_is_an_error(bad: str) -> None:
    with pytest.raises(json.JsonError):
        json.decode(bad)


class Document(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    inner: dict[str, Any] = {}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('{"name":"a","name":"b"}', "twice"),
        ('{"name":"a","inner":{"x":1,"x":1}}', "twice"),
        ('{"name":"a"} {}', "Extra data"),
        ('{"name":"a","other":1}', "other"),
        ('{"name":1}', "str"),
        ('{"name":"a","inner":{"x":NaN}}', "NaN"),
    ],
)
def test_strict_documents(text: str, word: str) -> None:
    with pytest.raises(json.JsonError, match=word):
        json.strict(text, Document)


def test_a_good_strict_document() -> None:
    assert json.strict(b'{"name":"a","inner":{"x":[1]}}', Document).inner == {"x": [1]}


class Leaf(msgspec.Struct):
    x: int


class Args(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: Annotated[str, msgspec.Meta(description="where")]
    leaves: list[Leaf]
    how: Literal["a", "b"] = "a"


def test_schemas_have_no_references_and_no_titles() -> None:
    schema = json.schema(Args)
    text = reference.dumps(schema)
    assert "$ref" not in text
    assert "title" not in text
    assert schema["additionalProperties"] is False
    assert schema["required"] == ["path", "leaves"]
    assert schema["properties"]["leaves"]["items"]["properties"]["x"] == {"type": "integer"}


def test_canonical_ignores_the_order_of_members() -> None:
    assert json.canonical({"b": 1, "a": 2}) == json.canonical({"a": 2, "b": 1})


class Inner(msgspec.Struct):
    n: int


class Named(msgspec.Struct):
    title: str
    default: Inner
    enum: int = 1


def test_a_parameter_may_be_called_as_a_word_of_schemas() -> None:
    found = json.schema(Named)
    assert found["properties"]["title"] == {"type": "string"}
    assert found["properties"]["default"]["properties"] == {"n": {"type": "integer"}}
    assert "title" not in found and "title" not in found["properties"]["default"]

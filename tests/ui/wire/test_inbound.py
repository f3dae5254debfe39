"""What a host writes: each record, and each way in which one can be wrong."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.core.json import encode
from agenyx.ui.wire.dialect import Dialect
from agenyx.ui.wire.inbound import Answered, Asked, Fatal, Passed, Rejected, Said, Withdrawn, Wrong, read


def taken(record: Any, dialect: Dialect = "sdk") -> Any:
    return read(encode(record), dialect)


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("hi", "hi"),
        ({"role": "user", "content": "hi"}, "hi"),
        ({"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "input_text", "text": "b"}]}, "a\nb"),
    ],
)
def test_prompts(message: Any, text: str) -> None:
    said = taken({"type": "user", "message": message, "uuid": "u", "session_id": "s", "priority": "later"})
    assert isinstance(said, Said)
    assert (said.text, said.uuid, said.session, said.priority) == (text, "u", "s", "later")


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"message": {"role": "user", "content": " "}}, "empty"),
        ({"message": {"role": "system", "content": "x"}}, "role"),
        ({"message": {"role": "user", "content": [{"type": "video"}]}}, "'video'"),
        ({"message": {"role": "user", "content": [7]}}, "None"),
        ({"message": {"role": "user", "content": 7}}, "content"),
        ({"message": 7}, "message"),
        ({}, "message"),
        ({"message": "x", "priority": "soon"}, "priority 'soon'"),
        ({"message": "x", "isReplay": True}, "replayed"),
    ],
)
def test_a_wrong_prompt_is_refused_by_its_uuid(fields: dict[str, Any], why: str) -> None:
    refused = taken({"type": "user", "uuid": "u", **fields})
    assert isinstance(refused, Rejected)
    assert why in refused.why
    assert refused.uuid == ("u")


IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}}


def test_sdk_images_come_as_bytes() -> None:
    said = taken({"type": "user", "message": {"role": "user", "content": [IMAGE]}})
    assert isinstance(said, Said) and said.images == (b"hi",)


@pytest.mark.parametrize("source", [None, {"type": "url", "url": "x"}, {"type": "base64", "data": "a"}])
def test_an_image_that_cannot_be_read_is_refused(source: Any) -> None:
    block = {"type": "image", "source": source}
    assert isinstance(taken({"type": "user", "message": {"role": "user", "content": [block]}}), Rejected)


def test_agentx_images_in_a_prompt_are_refused() -> None:
    assert isinstance(taken({"type": "user", "message": {"role": "user", "content": [IMAGE]}}, "agentx"), Rejected)


def test_requests_and_answers() -> None:
    request = {"type": "control_request", "request_id": "r", "request": {"subtype": "x", "a": 1}}
    assert taken(request) == Asked("r", "x", {"subtype": "x", "a": 1})
    assert taken({"type": "control_request", "requestId": "r", "request": {"subtype": "x"}}).request_id == "r"
    response = {"subtype": "success", "request_id": "r", "response": {"a": 1}}
    assert taken({"type": "control_response", "response": response}) == Answered("r", {"a": 1})
    response = {"subtype": "error", "request_id": "r", "error": "no"}
    assert taken({"type": "control_response", "response": response}) == Answered("r", None, "no")
    assert taken({"type": "control_cancel_request", "request_id": "r"}) == Withdrawn("r")
    assert taken({"type": "keep_alive"}) == Passed()


def test_a_request_that_can_be_answered_is() -> None:
    assert isinstance(taken({"type": "control_request", "request_id": "r", "request": 7}), Wrong)
    assert isinstance(taken({"type": "control_request", "request_id": "r"}), Wrong)


@pytest.mark.parametrize("kind", ["assistant", "system", "update_environment_variables", "hologram"])
def test_what_is_not_for_us_is_passed_over_and_told(kind: str) -> None:
    passed = taken({"type": kind, "message": "x"})
    assert isinstance(passed, Passed) and passed.note


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b"{",
        b"[]",
        b"7",
        b'{"type":7}',
        b"{}",
        b'{"type":"user","message":"a","message":"b"}',
        b'{"type":"user","message":{"role":"user","content":"a","content":"b"}}',
        b'{"type":"control_request","request":{"subtype":"x"}}',
        b'{"type":"control_response"}',
        b'{"type":"control_response","response":{"subtype":"success"}}',
        b'{"type":"control_cancel_request"}',
        b'{"type":"user","message":NaN}',
        b'{"a":' + b"[" * 100_000,
        b"\xff\xfe",
        b'{"type":"user","n":' + b"9" * 5000 + b"}",
    ],
)
@pytest.mark.parametrize("dialect", ["sdk", "agentx"])
def test_what_cannot_be_read_ends_the_stream(line: bytes, dialect: Dialect) -> None:
    with pytest.raises(Fatal):
        read(line, dialect)


def test_lone_surrogates_become_replacement_characters() -> None:
    said = read(b'{"type":"user","message":"a\\ud800b"}', "sdk")
    assert isinstance(said, Said) and said.text == "a\ufffdb"


def test_sdk_unknown_members_are_passed_over() -> None:
    assert isinstance(taken({"type": "user", "message": "x", "origin": "y", "shouldQuery": True}), Said)


def test_agentx_unknown_members_end_the_stream() -> None:
    with pytest.raises(Fatal, match="'origin'"):
        taken({"type": "user", "message": "x", "origin": "y"}, "agentx")


def test_sdk_a_role_may_be_missing() -> None:
    assert isinstance(taken({"type": "user", "message": {"content": "x"}}), Said)


def test_agentx_a_role_must_be_there() -> None:
    assert isinstance(taken({"type": "user", "message": {"content": "x"}}, "agentx"), Rejected)


@given(st.binary(max_size=300), st.sampled_from(["sdk", "agentx"]))
def test_any_bytes_have_one_of_the_defined_ends(line: bytes, dialect: Dialect) -> None:
    with contextlib.suppress(Fatal):
        read(line, dialect)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_members = ("message", "uuid", "session_id", "priority", "request_id", "request", "response", "isReplay")
_kinds = ("user", "control_request", "control_response", "control_cancel_request", "keep_alive", "x")


@given(st.sampled_from(_kinds), st.dictionaries(st.sampled_from(_members), _json), st.sampled_from(["sdk", "agentx"]))
def test_any_record_has_one_of_the_defined_ends(kind: str, members: dict[str, Any], dialect: Dialect) -> None:
    with contextlib.suppress(Fatal):
        read(encode({"type": kind, **members}), dialect)

"""An answer that is one JSON value."""

from __future__ import annotations

from typing import Any

import pytest

from agenyx.core.errors import UsageError
from agenyx.ui.wire.structured import Unfit, schema_of, value_of

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@pytest.mark.parametrize(
    ("answer", "value"),
    [
        ('{"n": 3}', {"n": 3}),
        (' \n{"n":3}\n', {"n": 3}),
        ('```json\n{"n": 3}\n```', {"n": 3}),
        ('```\n{"n":3}\n```\n', {"n": 3}),
    ],
)
def test_what_fits(answer: str, value: Any) -> None:
    assert value_of(answer, SCHEMA) == value


@pytest.mark.parametrize(
    "answer", ["", "three", '{"n": "x"}', "{}", "[3]", 'The answer is {"n": 3}', '{"n": 3} {"n": 4}']
)
def test_what_does_not_fit_says_why(answer: str) -> None:
    with pytest.raises(Unfit) as error:
        value_of(answer, SCHEMA)
    assert str(error.value)


@pytest.mark.parametrize("text", ["", "{", "7", '"x"', "[]", "{" + " " * 200_000 + "}"])
def test_what_is_no_schema(text: str) -> None:
    with pytest.raises(UsageError) as error:
        schema_of(text)
    assert error.value.fix

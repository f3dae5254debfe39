"""Answers of a type: the JSON schema that the model is told, and the value that its answer becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, cast

from msgspec import Struct

from agenyx.app.structured import Schema, Unfit, value_of
from agenyx.core import json
from agenyx.core.errors import UsageError

T = TypeVar("T")


class Form(Struct, Generic[T], frozen=True):
    """`make` gives the value of what fits the schema. Raises JsonError."""

    schema: Schema
    make: Callable[[Any], T]

    def read(self, answer: str) -> T:
        """The value that an answer is. Raises Unfit, with words for the model."""
        found = value_of(answer, self.schema)
        try:
            return self.make(found)
        except ValueError as error:
            raise Unfit(str(error)) from None


def form_of(output: Any) -> Form[Any]:
    """Of a JSON schema, a pydantic model, or a type that JSON can say. Raises UsageError."""
    if isinstance(output, Mapping):
        given = cast("Mapping[str, Any]", output)
        return Form(dict(given), lambda value: value)
    dump, check = getattr(output, "model_json_schema", None), getattr(output, "model_validate", None)
    if callable(dump) and callable(check):
        return Form(cast("Schema", dump()), cast("Callable[[Any], Any]", check))
    try:
        schema = json.schema(output)
    except RecursionError:
        raise UsageError(f"the type {_named(output)} contains itself", "Give a JSON schema instead.") from None
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"{_named(output)} is no type of an answer: {error}",
            "Use a dataclass, TypedDict, Struct, list or dict, or a JSON schema as a mapping.",
        ) from None
    return Form(schema, lambda value: json.convert(value, output))


def _named(output: object) -> str:
    return getattr(output, "__name__", repr(output))[:80]

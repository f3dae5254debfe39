"""Checks a model's arguments by a schema of `schema.prepare`, and mends scalars that models often spell as texts. Pure.

Keywords that are not known here are passed over, patterns too: a server's expression could take for ever, and the
server checks its arguments itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, cast

from agenyx.core import json

Object = dict[str, Any]
_STEPS = 1_000_000  # comparisons, after which the rest is left to the server
_NUMBER = re.compile(r"-?\d+(\.\d+)?", re.ASCII)
_WORDS = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "null": "null",
}


def arguments(value: object, schema: Object) -> Object:
    """The arguments as the server gets them. Raises JsonError with a sentence that says what is wrong."""
    wrong = problem(value, schema)
    if wrong:
        value = _mended(value, schema)
        if problem(value, schema):
            raise json.JsonError(wrong)
    return cast("Object", value)


def problem(value: object, schema: Object) -> str:
    """The first thing that is wrong with the value, "" if nothing is."""
    checker = _Checker()
    return next(checker.check(value, schema, ""), "")


class _Checker:
    def __init__(self) -> None:
        self._left = _STEPS

    def check(self, value: Any, schema: Object, at: str) -> Iterator[str]:
        self._left -= 1
        if self._left < 0:
            return
        kinds = _kinds(schema)
        if kinds and not any(_is(value, kind) for kind in kinds):
            yield f"{_at(at)} must be {' or '.join(_WORDS[kind] for kind in kinds)}"
            return
        if "enum" in schema and not any(_same(value, item) for item in schema["enum"]):
            yield f"{_at(at)} must be one of {_shown(schema['enum'])}"
        if "const" in schema and not _same(value, schema["const"]):
            yield f"{_at(at)} must be {_shown(schema['const'])}"
        yield from self._inside(value, schema, at)
        yield from self._combined(value, schema, at)

    def _inside(self, value: object, schema: Object, at: str) -> Iterator[str]:
        match value:
            case bool() | None:
                pass
            case str():
                yield from _bounds(len(value), schema, "Length", f"{_at(at)} must have", "characters")
            case int() | float():
                yield from _numeric(value, schema, at)
            case list():
                yield from self._list(cast("list[Any]", value), schema, at)
            case dict():
                yield from self._object(cast("Object", value), schema, at)
            case _:
                pass

    def _list(self, value: list[Any], schema: Object, at: str) -> Iterator[str]:
        yield from _bounds(len(value), schema, "Items", f"{_at(at)} must have", "items")
        if schema.get("uniqueItems") and len({json.canonical(item) for item in value}) < len(value):
            yield f"{_at(at)} must not hold an item twice"
        if isinstance(items := schema.get("items"), dict):
            for number, item in enumerate(value):
                yield from self.check(item, cast("Object", items), f"{at}[{number}]")

    def _object(self, value: Object, schema: Object, at: str) -> Iterator[str]:
        yield from _bounds(len(value), schema, "Properties", f"{_at(at)} must have", "members")
        for name in schema.get("required", ()):
            if name not in value:
                yield f"{_path(at, name)} is missing"
        properties: Object = schema.get("properties", {})
        more = schema.get("additionalProperties", True)
        for name, item in value.items():
            if name in properties:
                yield from self.check(item, properties[name], _path(at, name))
            elif more is False:
                known = ", ".join(list(properties)[:20]) or "none"
                yield f"{_path(at, name)} is unknown; the members are: {known}"
            elif isinstance(more, dict):
                yield from self.check(item, cast("Object", more), _path(at, name))

    def _combined(self, value: object, schema: Object, at: str) -> Iterator[str]:
        def fits(item: Object) -> bool:
            return not next(self.check(value, item, at), "")

        for item in schema.get("allOf", ()):
            yield from self.check(value, item, at)
        if (some := schema.get("anyOf")) and not any(map(fits, some)):
            yield self._none(value, some, at)
        if one := schema.get("oneOf"):
            count = sum(map(fits, one))
            if count == 0:
                yield self._none(value, one, at)
            elif count > 1 and self._left > 0:
                yield f"{_at(at)} fits more than one of the forms it may have"
        if isinstance(refused := schema.get("not"), dict) and fits(cast("Object", refused)) and self._left > 0:
            yield f"{_at(at)} has a form that is excluded"

    def _none(self, value: object, forms: list[Object], at: str) -> str:
        first = next(self.check(value, forms[0], at), "")
        return first if len(forms) == 1 else f"{_at(at)} fits none of the forms it may have (the first: {first})"


def _numeric(value: float, schema: Object, at: str) -> Iterator[str]:
    tests: tuple[tuple[str, str, Callable[[float, float], bool]], ...] = (
        ("minimum", "at least", lambda a, b: a >= b),
        ("maximum", "at most", lambda a, b: a <= b),
        ("exclusiveMinimum", "more than", lambda a, b: a > b),
        ("exclusiveMaximum", "less than", lambda a, b: a < b),
    )
    for word, text, holds in tests:
        if word in schema and not holds(value, schema[word]):
            yield f"{_at(at)} must be {text} {schema[word]}"
    step = schema.get("multipleOf")
    if isinstance(step, int) and isinstance(value, int) and step > 0 and value % step:
        yield f"{_at(at)} must be a multiple of {step}"


def _bounds(size: int, schema: Object, what: str, head: str, unit: str) -> Iterator[str]:
    if size < schema.get(f"min{what}", 0):
        yield f"{head} at least {schema[f'min{what}']} {unit}"
    if size > schema.get(f"max{what}", size):
        yield f"{head} at most {schema[f'max{what}']} {unit}"


def _kinds(schema: Object) -> list[str]:
    kinds = schema.get("type", [])
    return cast("list[str]", kinds) if isinstance(kinds, list) else [kinds]


def _is(value: object, kind: str) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            whole = isinstance(value, float) and value.is_integer()
            return (isinstance(value, int) and not isinstance(value, bool)) or whole
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "object":
            return isinstance(value, dict)
        case "array":
            return isinstance(value, list)
        case _:
            return value is None


def _same(one: object, other: object) -> bool:
    """Equal as JSON: true is not 1, but 1 is 1.0."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _mended(value: Any, schema: Object) -> Any:
    """The value with texts as the scalars that the schema wants, and without null where a member may be missing."""
    kinds = schema.get("type")
    if isinstance(value, dict) and kinds == "object":
        properties: Object = schema.get("properties", {})
        needed: list[str] = schema.get("required", [])
        return {
            name: _mended(item, properties[name]) if name in properties else item
            for name, item in cast("Object", value).items()
            if item is not None or name in needed or not problem(None, properties.get(name, {}))
        }
    if isinstance(value, list) and isinstance(items := schema.get("items"), dict):
        return [_mended(item, cast("Object", items)) for item in cast("list[Any]", value)]
    return _scalar(cast("object", value), kinds)


def _scalar(value: Any, kind: object) -> Any:
    if isinstance(value, str):
        if kind == "boolean" and value in ("true", "false"):
            return value == "true"
        if kind in ("number", "integer") and len(value) <= 64 and _NUMBER.fullmatch(value):
            return float(value) if "." in value else int(value)
    return value


def _at(path: str) -> str:
    return path or "the value"


def _path(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _shown(value: object) -> str:
    text = json.encode(value).decode()
    return text if len(text) <= 300 else f"{text[:299]}…"

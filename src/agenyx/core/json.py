"""All JSON of Agenyx passes here: fast and strict decoding, scrubbing of strings, inlined schemas.

msgspec does the work. Three of its habits are corrected: it accepts duplicate members, it fails on a lone surrogate
(models stream them, file names hold them), and it puts `$ref` at the root of a schema.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Generic, TypeVar, cast

import msgspec

T = TypeVar("T")

_encoder = msgspec.json.Encoder()
# One escape sequence at a time, so that an escaped backslash is never taken for the start of another.
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)


_DATA = frozenset({"default", "enum", "const"})  # members of a schema that hold values, not schemas


class JsonError(ValueError):
    """The text is not JSON of the expected shape; the message says where."""


def scrub(text: str) -> str:
    """Replace each lone surrogate by U+FFFD, so that the text can be encoded. Other text is returned as it is."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _mend(data: bytes) -> bytes:
    """Replace escaped lone surrogates and invalid UTF-8 in JSON text by U+FFFD."""

    def fix(match: re.Match[bytes]) -> bytes:
        return b"\\ufffd" if match["lone"] else match[0]

    return _ESCAPE.sub(fix, data.decode("utf-8", "replace").encode())


class Decoder(Generic[T]):
    """Decodes JSON into one type; lone surrogates become U+FFFD. Build it once and keep it."""

    def __init__(self, type_: type[T]) -> None:
        self._decoder: msgspec.json.Decoder[T] = msgspec.json.Decoder(type_)

    def decode(self, data: bytes) -> T:
        """Raises JsonError when the data is not JSON or not of this type."""
        try:
            return self._decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError) as first:
            try:
                return self._decoder.decode(_mend(data))
            except (msgspec.DecodeError, UnicodeError, RecursionError):
                raise JsonError(str(first)) from None
        except RecursionError:
            raise JsonError("nested too deeply") from None


_any: Decoder[Any] = Decoder(cast("type[Any]", Any))


def decode(data: bytes | str) -> Any:
    """Decode any JSON value. Raises JsonError."""
    return _any.decode(data.encode("utf-8", "replace") if isinstance(data, str) else data)


def encode(value: object) -> bytes:
    """Compact JSON. Strings must have been scrubbed: a lone surrogate raises UnicodeEncodeError."""
    return _encoder.encode(value)


def pretty(value: object) -> str:
    """Indented JSON for people."""
    return msgspec.json.format(_encoder.encode(value), indent=2).decode()


def convert(value: object, type_: type[T], *, lax: bool = False) -> T:
    """Turn decoded JSON into a type; `lax` also takes "5" for 5 and "true" for true. Raises JsonError."""
    try:
        return msgspec.convert(value, type_, strict=not lax)
    except msgspec.ValidationError as error:
        raise JsonError(str(error)) from None


def lenient(value: object, type_: type[T]) -> T:
    """As `convert`, and where that fails lax. Raises JsonError of the first."""
    try:
        return convert(value, type_)
    except JsonError as first:
        try:
            return convert(value, type_, lax=True)
        except JsonError:
            raise first from None


def strict(data: bytes | str, type_: type[T]) -> T:
    """Decode what a person or host wrote: duplicate members and trailing data are errors. Raises JsonError."""
    import json  # slow to import and rarely needed: configuration and hosts only

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        seen = dict(pairs)
        if len(seen) != len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise JsonError(f"member {twice!r} stands twice")
        return seen

    def no_constant(name: str) -> Any:
        raise JsonError(f"{name} is not JSON")

    try:
        value = json.loads(data, object_pairs_hook=members, parse_constant=no_constant)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise JsonError(str(error)) from None
    return convert(value, type_)


def canonical(value: object) -> bytes:
    """JSON with sorted members: equal values have equal bytes."""
    return msgspec.json.encode(value, order="deterministic")


def schema(type_: type[Any]) -> dict[str, Any]:
    """The JSON schema of an argument struct, with references inlined and no titles."""
    (root,), components = msgspec.json.schema_components([type_], ref_template="{name}")

    def inline(node: Any, named: bool = False) -> Any:
        """`named`: the members are properties, whatever they are called."""
        if isinstance(node, list):
            return [inline(item) for item in cast("list[Any]", node)]
        if not isinstance(node, dict):
            return node
        mapping = cast("dict[str, Any]", node)
        if named:
            return {key: inline(value) for key, value in mapping.items()}
        if "$ref" in mapping:
            return inline(components[mapping["$ref"]])
        members = {key: value for key, value in mapping.items() if key != "title"}
        return {key: value if key in _DATA else inline(value, key == "properties") for key, value in members.items()}

    return inline(root)


def schemas(types: Sequence[type[Any]], template: str) -> dict[str, Any]:
    """The JSON schemas of structs and of what they hold, by name; `template` is how they refer to each other."""
    return msgspec.json.schema_components(types, ref_template=template)[1]

"""Makes the JSON schema of a server's tool one that a model gets and arguments are checked by. Pure.

Known keywords stay, references within the schema are put in, the rest is left out: what is not understood is relaxed,
never a reason to lose the tool. The server checks its arguments itself all the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

from agenyx.core import json
from agenyx.ext.mcp.clean import clean, is_name
from agenyx.ext.mcp.wire import members

SCHEMA_BYTES = 1 << 20
DEPTH = 32
_NODES = 10_000  # after references were put in
_PATTERN = 4096
_MEMBERS = 2000
TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
_SILENT = frozenset(
    ("$schema", "$id", "$defs", "definitions", "$comment", "$anchor", "title", "examples", "deprecated", "readOnly")
)
_MANY = ("anyOf", "oneOf", "allOf")

Object = dict[str, Any]


class Unfit(Exception):
    """The tool cannot be offered with this schema; the message says why, without a full stop."""


def prepare(raw: object) -> tuple[Object, bool]:
    """The schema of a tool's arguments, and whether anything of the server's own was left out. Raises Unfit."""
    if not isinstance(raw, dict):
        raise Unfit("its schema is no object")
    root = cast("Object", raw)
    kind = root.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise Unfit("its arguments are no object")
    if len(json.encode(root)) > SCHEMA_BYTES:
        raise Unfit(f"its schema is larger than {SCHEMA_BYTES >> 20} MiB")
    work = _Work(root)
    schema = work.node(root, 0, ())
    for word in (*_MANY, "not", "enum", "const"):  # providers refuse these at the root
        if schema.pop(word, None) is not None:
            work.relaxed = True
    empty: Object = {"type": "object", "properties": {}}
    schema = empty | schema | {"type": "object"}
    if len(json.encode(schema)) > SCHEMA_BYTES:
        return empty, True
    return schema, work.relaxed


class _Work:
    def __init__(self, root: Object) -> None:
        self._root, self._nodes, self.relaxed = root, 0, False

    def node(self, raw: object, depth: int, trail: tuple[str, ...]) -> Object:
        self._nodes += 1
        if raw is True:
            return {}
        if raw is False:
            return {"not": {}}
        if not isinstance(raw, dict) or depth > DEPTH or self._nodes > _NODES:
            self.relaxed = True
            return {}
        node = cast("Object", raw)
        if "$ref" in node:
            return self._referred(node, depth, trail)
        found: Object = {}
        for word, value in node.items():
            read = _WORDS.get(word)
            kept = read(self, value, depth, trail) if read else None
            if kept is None:
                self.relaxed = self.relaxed or word not in _SILENT
            else:
                found[word] = kept
        if len(found.get("properties", {})) < len(members(node.get("properties"))):
            found.pop("additionalProperties", None)  # what was left out may be sent all the same
        return found

    def _referred(self, node: Object, depth: int, trail: tuple[str, ...]) -> Object:
        ref = node["$ref"]
        target = self._target(ref) if isinstance(ref, str) and ref not in trail else None
        beside = {word: value for word, value in node.items() if word != "$ref"}
        if target is None:
            self.relaxed = True
            return self.node(beside, depth, trail)
        inner = self.node(target, depth + 1, (*trail, ref))
        return inner | self.node(beside, depth, trail)

    def _target(self, ref: str) -> Any:
        """What `#/a/b` points at (RFC 6901), None where it leads nowhere or out of the schema."""
        if ref == "#":
            return self._root
        if not ref.startswith("#/"):
            return None
        at: Any = self._root
        for part in ref[2:].split("/"):
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(at, dict) and key in at:
                at = cast("Object", at)[key]
            elif isinstance(at, list) and key.isdigit() and int(key) < len(cast("list[Any]", at)):
                at = cast("list[Any]", at)[int(key)]
            else:
                return None
        return at

    # --- keywords: the value to keep, None to leave it out -----------------------------------------------------------

    def type(self, value: object, depth: int, trail: tuple[str, ...]) -> object:
        if isinstance(value, list):
            kinds = [kind for kind in cast("list[object]", value) if kind in TYPES]
            return kinds or None
        return value if value in TYPES else None

    def text(self, value: object, depth: int, trail: tuple[str, ...]) -> object:
        return clean(value) or None

    def any(self, value: object, depth: int, trail: tuple[str, ...]) -> object:
        return value if value is not None else None

    def values(self, value: object, depth: int, trail: tuple[str, ...]) -> object:
        return cast("list[object]", value) if isinstance(value, list) and value else None

    def number(self, value: object, depth: int, trail: tuple[str, ...]) -> object:
        if not isinstance(value, int | float) or isinstance(value, bool):
            return None
        return value if math.isfinite(value) else None

    def count(self, value: object, depth: int, trail: tuple[str, ...]) -> object:
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None

    def pattern(self, value: object, depth: int, trail: tuple[str, ...]) -> object:
        return value if isinstance(value, str) and len(value) <= _PATTERN else None

    def flag(self, value: object, depth: int, trail: tuple[str, ...]) -> object:
        return value if isinstance(value, bool) else None

    def schema(self, value: object, depth: int, trail: tuple[str, ...]) -> object:
        return self.node(value, depth + 1, trail)

    def openness(self, value: object, depth: int, trail: tuple[str, ...]) -> object:
        return value if isinstance(value, bool) else self.node(value, depth + 1, trail)

    def schemas(self, value: object, depth: int, trail: tuple[str, ...]) -> object:
        if not isinstance(value, list) or not value:
            return None
        return [self.node(item, depth + 1, trail) for item in cast("list[object]", value)]

    def items(self, value: object, depth: int, trail: tuple[str, ...]) -> object:
        return None if isinstance(value, list) else self.node(value, depth + 1, trail)

    def properties(self, value: object, depth: int, trail: tuple[str, ...]) -> object:
        if not isinstance(value, dict):
            return None
        found: Object = {}
        for name, item in list(cast("Object", value).items())[:_MEMBERS]:
            if is_name(name):
                found[name] = self.node(item, depth + 1, trail)
            else:
                self.relaxed = True
        return found

    def names(self, value: object, depth: int, trail: tuple[str, ...]) -> object:
        if not isinstance(value, list):
            return None
        return [name for name in cast("list[object]", value)[:_MEMBERS] if is_name(name)]


_Word = Callable[[_Work, Any, int, tuple[str, ...]], object]
_WORDS: dict[str, _Word] = {
    "type": _Work.type,
    "description": _Work.text,
    "default": _Work.any,
    "enum": _Work.values,
    "const": _Work.any,
    "format": _Work.text,
    "properties": _Work.properties,
    "required": _Work.names,
    "additionalProperties": _Work.openness,
    "items": _Work.items,
    "not": _Work.schema,
    "pattern": _Work.pattern,
    "uniqueItems": _Work.flag,
    **dict.fromkeys(_MANY, _Work.schemas),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), _Work.number),
    **dict.fromkeys(("minProperties", "maxProperties", "minItems", "maxItems", "minLength", "maxLength"), _Work.count),
}

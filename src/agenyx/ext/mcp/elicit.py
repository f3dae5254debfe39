"""The forms that servers ask a person to fill in: from JSON schema to fields, and the answer back. Pure.

A form has flat fields only (specification, elicitation). Defaults are put in on acceptance where a field was left out.
"""

from __future__ import annotations

from typing import Any, cast

from agenyx.ext.mcp import wire
from agenyx.ext.mcp.clean import clean, is_name, one_line
from agenyx.ext.mcp.model import Field, Reply
from agenyx.ext.mcp.schema import Unfit, prepare
from agenyx.ext.mcp.validate import problem
from agenyx.ext.mcp.wire import Object

MOST_FIELDS = 64
_KINDS = ("string", "number", "integer", "boolean")


def fields(schema: object) -> tuple[Field, ...] | None:
    """The questions of a form; None where it is no form that can be shown."""
    try:
        form, _ = prepare(schema)
    except Unfit:
        return None
    raw = wire.members(wire.members(schema).get("properties"))
    required = form.get("required", ())
    found: list[Field] = []
    for name, value in raw.items():
        told = wire.members(value)
        field = _field(name, told, form["properties"].get(name, {}), name in required)
        if field is None or len(found) == MOST_FIELDS:
            return None
        found.append(field)
    return tuple(found)


def result(reply: Reply, asked: tuple[Field, ...]) -> Object:
    """The answer as the server gets it. What does not fit the form is no acceptance: it counts as cancelled."""
    if reply.action != "accept":
        return {"action": reply.action}
    defaults = {field.name: field.default for field in asked if field.default is not None}
    known = {field.name: field for field in asked}
    content = defaults | {name: value for name, value in reply.content.items() if name in known and value is not None}
    missing = [field for field in asked if field.required and field.name not in content]
    if missing or any(problem(value, known[name].schema) for name, value in content.items()):
        return {"action": "cancel"}
    return {"action": "accept", "content": content}


def _field(name: str, told: Object, schema: Object, required: bool) -> Field | None:
    if not is_name(name):
        return None
    kind, many = told.get("type"), False
    choices = _choices(told)
    if kind == "array":
        kind, many = "choice", True
        choices = _choices(wire.members(told.get("items")))
        if not choices:
            return None
    elif choices:
        kind = "choice"
    elif kind not in _KINDS:
        return None
    default: Any = told.get("default")
    if default is not None and problem(default, schema):
        default = None
    title = one_line(told.get("title"), 200)
    return Field(name, kind, title, clean(told.get("description")), required, default, choices, many, schema)


def _choices(told: Object) -> tuple[tuple[str, str], ...]:
    """Values with their labels: `enum` with `enumNames`, or `oneOf`/`anyOf` of constants with titles."""
    if plain := wire.items(told.get("enum")):
        names = wire.items(told.get("enumNames"))
        texts = [value for value in plain if isinstance(value, str)]
        labels = names if len(names) == len(texts) == len(plain) else texts
        return tuple((value, one_line(label, 200) or value) for value, label in zip(texts, labels, strict=True))
    for form in wire.items(told.get("oneOf")) or wire.items(told.get("anyOf")):
        if not isinstance(wire.members(form).get("const"), str):
            return ()
    forms = cast("list[Object]", wire.items(told.get("oneOf")) or wire.items(told.get("anyOf")))
    return tuple((form["const"], one_line(form.get("title"), 200) or form["const"]) for form in forms)

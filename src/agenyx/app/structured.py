"""An answer that is one JSON value: what the model is told, and what is made of what it says. Pure."""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from agenyx.core import json
from agenyx.core.events import TurnFinished
from agenyx.ext.mcp.validate import problem

Schema = dict[str, Any]
MOST_REPAIRS = 2
_FENCE = re.compile(r"\A\s*```[a-zA-Z]*\n(.*)\n```\s*\Z", re.DOTALL)


class Unfit(Exception):
    """The answer does not fit; the text says why, for the model."""


def told(schema: Schema) -> str:
    """What the model is told behind the prompt."""
    return (
        "When you are done, your last answer must be one JSON value and nothing else: no words around it, no code "
        f"fence. It must fit this JSON Schema:\n{json.encode(schema).decode()}"
    )


def repair(why: str) -> str:
    """What the model is told when its answer does not fit."""
    return f"Your last answer does not fit: {why}. Answer again with the JSON value alone."


def value_of(answer: str, schema: Schema) -> Any:
    """The value that an answer is. Raises Unfit."""
    inner = _FENCE.match(answer)
    try:
        value: Any = json.decode(inner[1] if inner else answer)
    except json.JsonError as error:
        raise Unfit(f"it is no JSON ({error})") from None
    if wrong := problem(value, schema):
        raise Unfit(wrong)
    return value


def together(first: TurnFinished, second: TurnFinished) -> TurnFinished:
    """Two turns that are one to whoever asked for the value."""
    usage = second.usage if first.usage is None else first.usage if second.usage is None else first.usage + second.usage
    cost = None if first.cost is None or second.cost is None else first.cost + second.cost
    steps, seconds = first.steps + second.steps, first.seconds + second.seconds
    return replace(second, usage=usage, cost=cost, steps=steps, seconds=seconds)

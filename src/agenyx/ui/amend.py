"""What of a call a person may edit, and the arguments that come of it. Pure."""

from __future__ import annotations

from typing import Any, cast

from msgspec import Struct

from agenyx.core import json
from agenyx.core.approval import Approval
from agenyx.ui.question import arguments


class Amendable(Struct, frozen=True):
    """`text` is what is edited: one argument, where `field` names it, else all arguments as indented JSON."""

    text: str
    field: str
    given: str

    def amended(self, text: str) -> str:
        """All arguments as JSON text. Raises ValueError with a sentence when the text cannot be one."""
        if self.field:
            if not text.strip():
                raise ValueError("nothing is left of it")
            return json.encode({**_members(self.given), self.field: json.scrub(text)}).decode()
        try:
            value = json.decode(text)
        except json.JsonError as error:
            raise ValueError(f"this is not JSON: {error}") from None
        if not isinstance(value, dict):
            raise ValueError("the arguments have to be one JSON object, in braces")
        return json.encode(cast("dict[str, Any]", value)).decode()


def amendable(approval: Approval) -> Amendable:
    """The call's main text, if one argument is all that was judged and shown; else its arguments."""
    given = arguments(approval)
    members, effects = _members(given), approval.effects
    for whole in (effects.script, effects.preview):
        for name, value in members.items():
            if whole and value == whole:
                return Amendable(whole, name, given)
    try:
        return Amendable(json.pretty(json.decode(given)), "", given)
    except json.JsonError:
        return Amendable(given, "", given)


def _members(text: str) -> dict[str, Any]:
    try:
        value = json.decode(text)
    except json.JsonError:
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}

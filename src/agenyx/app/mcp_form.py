"""A form that an MCP server asks a person to fill in, put to the approver: no surface needs to know of forms.

The person sees who asks, the words and every field, and sends the form as it stands, edits it as JSON, or declines.
Nothing but the server's own defaults is filled in for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, cast

from agenyx.agent.ports import Approver, Deferred
from agenyx.core import json
from agenyx.core.approval import Approval, Decision
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Effects
from agenyx.core.tty import safe
from agenyx.core.verdict import Reason, Verdict
from agenyx.ext.mcp.model import Ask, Field, Reply
from agenyx.ext.mcp.validate import problem

_TRIES = 3
_PATIENCE = 3  # forms of one server in a row that are declined before no more is shown
_REASON = "what you send goes to the server; give it no secrets that it does not need"


class Forms:
    """`busy` tells whether we have asked something of a server: only then may it ask back, and no person is disturbed
    out of the blue. Where nobody can be asked, the approver's no declines the form."""

    def __init__(self, approver: Approver, busy: Callable[[str], bool]) -> None:
        self._approver, self._busy = approver, busy
        self._declined: Counter[str] = Counter()

    async def __call__(self, ask: Ask) -> Reply:
        if not self._busy(ask.server) or self._declined[ask.server] >= _PATIENCE:
            return Reply("decline")
        values: dict[str, Any] = {field.name: field.default for field in ask.fields}
        note = ""
        for _ in range(_TRIES):
            try:
                answer = await self._approver.decide(question(ask, values, note))
            except Deferred:
                return Reply("decline")
            if answer.choice != "allow":
                self._declined[ask.server] += 1
                return Reply("cancel" if answer.stop else "decline")
            values = _edited(answer, values)
            note = wrong(ask.fields, values)
            if not note:
                self._declined.pop(ask.server, None)
                return Reply("accept", {name: value for name, value in values.items() if value is not None})
        return Reply("cancel")


def wrong(fields: tuple[Field, ...], values: dict[str, Any]) -> str:
    """What keeps the form from being sent, "" for nothing."""
    known = {field.name: field for field in fields}
    for name, value in values.items():
        if name not in known:
            return f"{name} is no field of it"
        if value is not None and (told := problem(value, known[name].schema)):
            return f"{name}: {told}"
    missing = [field.name for field in fields if field.required and values.get(field.name) is None]
    return f"{', '.join(missing)} has to be filled in: edit the form" if missing else ""


def question(ask: Ask, values: dict[str, Any], note: str = "") -> Approval:
    """The form as a question. Editing it gives the arguments of the answer."""
    lines = [f"{ask.server} asks:", *(f"  {line}" for line in ask.message.split("\n")), ""]
    lines += [_row(field) for field in ask.fields]
    lines += ["", "It is sent as it stands here; edit it to change it:", json.pretty(values)]
    if note:
        lines += ["", f"Not sent: {note}"]
    call = ToolCall("", "", f"A form of the MCP server {safe(ask.server)}", json.encode(values).decode())
    return Approval("form", call, Verdict("ask", (Reason("rule", _REASON),)), Effects(preview="\n".join(lines)))


def _row(field: Field) -> str:
    kind = field.kind
    if field.choices:
        names = ", ".join(value if value == label else f"{value} ({label})" for value, label in field.choices)
        kind = f"{'some' if field.many else 'one'} of {names}"
    need = ", required" if field.required else ""
    more = " ".join(part for part in (field.title, field.description) if part)
    return f"  {field.name} ({kind}{need}){f': {more}' if more else ''}".replace("\n", " ")


def _edited(answer: Decision, values: dict[str, Any]) -> dict[str, Any]:
    if answer.args is None:
        return values
    try:
        value = json.decode(answer.args)
    except json.JsonError:
        return values
    return cast("dict[str, Any]", value) if isinstance(value, dict) else values

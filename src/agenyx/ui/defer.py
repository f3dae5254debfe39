"""Approvals that wait: the approver that answers none of them, and how they are shown to people and programs.

It judges nothing; what it shows is what the verdict and the effects say.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Sequence
from typing import Any, cast

from agenyx.agent.ports import Approver, Deferred
from agenyx.core import json
from agenyx.core.approval import Approval, Decision
from agenyx.core.tools import Inquiry
from agenyx.ui.activity import call_line, clip
from agenyx.ui.choices import TRUST
from agenyx.ui.question import arguments

_CHILD = (
    "a subagent cannot wait for an answer that comes later. Leave this call to the main agent: say in your answer what "
    "has to be done"
)


class DeferringApprover:
    """Leaves every question open, or with `held` those about these calls; `otherwise` answers the rest.

    The question of trust is never left open: nothing has begun that could go on. A subagent's call is denied, as its
    work cannot be taken up again.
    """

    def __init__(self, otherwise: Approver, clock: Callable[[], float] = time.time) -> None:
        self._otherwise, self._clock = otherwise, clock
        self.held: Container[str] | None = None

    async def decide(self, approval: Approval) -> Decision:
        """Raises Deferred."""
        if approval.id == TRUST or (self.held is not None and approval.call.id not in self.held):
            return await self._otherwise.decide(approval)
        if approval.agent:
            return Decision(approval.id, "deny", message=_CHILD, by="deferred", at=self._clock())
        raise Deferred


def summary(approval: Approval) -> str:
    """The call in one line: its tool and main argument, as they are asked about."""
    from msgspec.structs import replace

    shown = replace(approval.call, args=arguments(approval))
    return call_line(shown).removeprefix("* ").rstrip("\n")


def message(waiting: Sequence[Approval]) -> tuple[str, str]:
    """What a run says that ends because calls wait: the sentence with a line a call, and what to do next."""
    first = "a call waits" if len(waiting) == 1 else f"{len(waiting)} calls wait"
    name = waiting[0].id if len(waiting) == 1 else "ID"
    rows = "".join(f"\n  {approval.id}  {summary(approval)}" for approval in waiting)
    words = answer_words(waiting[0]) if len(waiting) == 1 else ""
    return (
        f"{first} for your approval; the turn goes on when that is given:{rows}",
        f"See: agenyx approvals list. Answer: agenyx approvals allow {name}{words} --resume, or deny {name} --resume.",
    )


def entry(approval: Approval) -> dict[str, object]:
    """A waiting call for programs. Paths are as people see them; `input` null where the arguments are no object."""
    effects = approval.effects
    try:
        given: Any = json.decode(arguments(approval))
    except json.JsonError:
        given = None
    return {
        "id": approval.id,
        "tool": approval.call.name,
        "tool_use_id": approval.call.id,
        "input": cast("object", given) if isinstance(given, dict) else None,
        "summary": clip(summary(approval)),
        "command": effects.script or None,
        "reads": [ref.shown for ref in effects.reads],
        "writes": [ref.shown for ref in effects.writes],
        "removes": [ref.shown for ref in effects.removes],
        "hosts": list(effects.hosts),
        "reasons": [reason.text for reason in approval.verdict.reasons],
        "rules": [rule.text for rule in approval.verdict.offer],
        "asked_at": approval.asked_at,
        "allow": f"agenyx approvals allow {approval.id}{answer_words(approval)} --resume",
        "deny": f"agenyx approvals deny {approval.id} --resume",
        **({"questions": _questions(effects.inquiry)} if effects.inquiry else {}),
    }


def answer_words(approval: Approval) -> str:
    """What `agenyx approvals allow ID` needs besides, for a question of the model: the first choices as an example."""
    inquiry = approval.effects.inquiry
    if inquiry is None:
        return ""
    from shlex import quote  # only for a question

    from agenyx.tools.answers import example

    return f" --edit {quote(json.scrub(example(inquiry)))}"


def _questions(inquiry: Inquiry) -> list[dict[str, object]]:
    return [
        {
            "question": question.text,
            "header": question.header,
            "options": [
                {"label": one.label, "description": one.description, **({"value": one.value} if one.value else {})}
                for one in question.options
            ],
            "multi_select": question.many,
        }
        for question in inquiry.questions
    ]

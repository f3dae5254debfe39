"""The answer to approvals where nobody can be asked: a denial that says what would allow the call.

It decides nothing on its own and knows no policy; it reads what the effects say.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from agenyx.core.approval import Approval, Decision


class HeadlessApprover:
    """Denies, so that a run without a person never waits; the model reads why and goes on."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock

    async def decide(self, approval: Approval) -> Decision:
        inquiry = approval.effects.inquiry
        message = f"{inquiry.unanswered}." if inquiry else f"nobody is there to approve this. {remedy(approval)}"
        return Decision(approval.id, "deny", message=message, by="headless", at=self._clock())


def remedy(approval: Approval) -> str:
    """What the person can do so that a call like this one is allowed."""
    effects = approval.effects
    guarded = any(ref.protected for ref in (*effects.reads, *effects.writes, *effects.removes))
    inner = (concern for command in effects.commands for concern in command.concerns)
    always = any(concern.level == "always" for concern in (*effects.concerns, *inner))
    if guarded or always or effects.interact:
        return "Only a person can allow it: run agenyx in a terminal, or with --approvals defer."
    if rules := approval.verdict.offer:
        from shlex import quote  # only for a denial

        return f"The user can allow it with --allowed-tools {quote(','.join(rule.text for rule in rules))}."
    if effects.writes and not (effects.opaque or effects.commands or effects.hosts or effects.removes):
        return "The user can allow edits of workspace files with --permission-mode acceptEdits."
    return (
        "The user can run agenyx in a terminal to be asked, with --approvals defer to be asked later or, where nothing "
        "can be damaged, with --dangerously-skip-permissions."
    )

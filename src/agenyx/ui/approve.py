"""The answer to approvals where nobody can be asked: a denial that says what would allow the call.

It decides nothing on its own and knows no policy; it reads what the effects say.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from agenyx.core.approval import Approval, Decision
from agenyx.core.tools import Effects


class HeadlessApprover:
    """Denies, so that a run without a person never waits; the model reads why and goes on."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock

    async def decide(self, approval: Approval) -> Decision:
        message = f"nobody is there to approve this. {remedy(approval.effects)}"
        return Decision(approval.id, "deny", message=message, by="headless", at=self._clock())


def remedy(effects: Effects) -> str:
    """What the person can do so that a call like this one is allowed."""
    guarded = any(ref.protected for ref in (*effects.reads, *effects.writes, *effects.removes))
    if guarded or effects.interact:
        return "Only a person at a terminal can allow it: run agenyx in a terminal."
    if effects.writes and not (effects.opaque or effects.commands or effects.hosts or effects.removes):
        return "The user can allow edits of workspace files with --permission-mode acceptEdits."
    return (
        "The user can run agenyx in a terminal to be asked or, where nothing can be damaged, "
        "with --dangerously-skip-permissions."
    )

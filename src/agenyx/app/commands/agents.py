"""/agents: the subagents there are, what each may do, and where it comes from."""

from __future__ import annotations

from agenyx.app.commands.spec import Desk, Reply
from agenyx.app.roster import data, rows


async def run(desk: Desk, args: str) -> Reply:
    conversation = desk.conversation
    found, registry = conversation.crew.catalogue(), conversation.parts.registry
    hint = "" if registry.find("Task") else "\nThe set of tools of this conversation has no Task, so none is used."
    return Reply("\n".join(rows(found, registry)) + hint, data(found, registry))

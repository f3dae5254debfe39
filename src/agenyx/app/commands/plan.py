"""/plan: only look and make a plan, from here on; the way back; and the plan that was presented last."""

from __future__ import annotations

from agenyx.agent.planmode import last_plan
from agenyx.app.commands.mode import told
from agenyx.app.commands.spec import Desk, Reply
from agenyx.core.errors import UsageError
from agenyx.core.tty import visible


async def run(desk: Desk, args: str) -> Reply:
    if args.lower() == "show":
        plan = last_plan(desk.conversation.parts.source.session.state)
        return Reply(visible(plan) or "No plan was presented in this session.", {"plan": plan or None})
    desk.lasting("plan mode", "Give it with the prompt: --permission-mode plan")
    match args.lower():
        case "" | "on":
            desk.conversation.set_mode("plan")
        case "off":
            if desk.conversation.status().mode == "plan":
                desk.conversation.set_mode("default")
        case _:
            raise UsageError(f"/plan takes on, off or show, not {args}", "Say what to plan in the next prompt.")
    return told(desk)

"""/tasks: the work graph of the session, and what runs in the background."""

from __future__ import annotations

from msgspec import to_builtins

from agenyx.app.commands.spec import Desk, Reply
from agenyx.tools import workgraph


async def run(desk: Desk, args: str) -> Reply:
    parts = desk.conversation.parts
    tasks, jobs = parts.source.session.state.tasks, parts.jobs.known()
    beside = [f"{job.id} {job.status}: {' '.join(job.command.split())[:200]}" for job in jobs]
    data = {
        "tasks": [{"id": task.id, "status": task.status, **to_builtins(task)} for task in workgraph.live(tasks)],
        "background": [
            {"id": job.id, "running": job.running, "status": job.status, "what": job.command} for job in jobs
        ],
    }
    return Reply("\n".join([*workgraph.rows(tasks), *beside]) or "There are no tasks.", data)

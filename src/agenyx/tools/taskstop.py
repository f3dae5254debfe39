"""TaskStop: ends a command in the background."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from agenyx.core.tools import Effects, ToolSet
from agenyx.tools.spec import Context, Look, Outcome
from agenyx.tools.taskoutput import unknown


class TaskStopArgs(Struct, frozen=True, forbid_unknown_fields=True):
    task_id: str = ""
    shell_id: Annotated[str, Meta(description="the same by its older name")] = ""


class TaskStop:
    """It ends only what this session's own calls have started, so it needs no leave of its own."""

    name: ClassVar[str] = "TaskStop"
    aliases: ClassVar[tuple[str, ...]] = ("KillShell", "KillBash")
    sets: ClassVar[tuple[ToolSet, ...]] = ("full",)
    args: ClassVar[type[TaskStopArgs]] = TaskStopArgs

    async def project(self, args: TaskStopArgs, look: Look) -> Effects:
        return Effects()

    async def run(self, args: TaskStopArgs, ctx: Context) -> Outcome:
        if args.task_id and args.shell_id and args.task_id != args.shell_id:
            return Outcome.error("task_id and shell_id name different tasks. Give one of them.")
        name = args.task_id or args.shell_id
        if not name:
            return Outcome.error("task_id is missing. Give the id that Bash or Task returned.")
        job = ctx.jobs.find(name) if ctx.jobs else None
        if job is None:
            return Outcome.error(unknown(name, ctx.jobs))
        if not await job.stop():
            return Outcome.error(f"{job.id} does not run any more: it {job.status}.")
        return Outcome.ok(f"{job.id} {job.status}: {job.command[:200]}")

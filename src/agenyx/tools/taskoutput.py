"""TaskOutput: what something in the background has given so far, and how it stands."""

from __future__ import annotations

import asyncio
from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from agenyx.core.limits import SHELL_CHARS
from agenyx.core.tools import Effects, ToolSet
from agenyx.shell.jobs import Background, Jobs
from agenyx.tools.spec import Context, Look, Outcome

_NOTES = 400  # characters kept free for what is said about the output


class TaskOutputArgs(Struct, frozen=True, forbid_unknown_fields=True):
    task_id: str
    block: bool = True
    timeout: Annotated[int, Meta(ge=0, le=600_000)] = 30_000
    offset: Annotated[
        int | None, Meta(description="byte to read from; negative: from the end; null: since the last call")
    ] = None


class TaskOutput:
    name: ClassVar[str] = "TaskOutput"
    aliases: ClassVar[tuple[str, ...]] = ("BashOutput", "BashOutputTool", "AgentOutputTool")
    sets: ClassVar[tuple[ToolSet, ...]] = ("full",)
    args: ClassVar[type[TaskOutputArgs]] = TaskOutputArgs

    async def project(self, args: TaskOutputArgs, look: Look) -> Effects:
        return Effects(parallel=True)

    async def run(self, args: TaskOutputArgs, ctx: Context) -> Outcome:
        job = ctx.jobs.find(args.task_id) if ctx.jobs else None
        if job is None:
            return Outcome.error(unknown(args.task_id, ctx.jobs))
        if args.block:
            await job.wait(args.timeout / 1000)
        status = f"{job.id} {job.status}"  # before the log is read, so that an end is told after its last output
        most = max(1, min(ctx.result_chars, SHELL_CHARS) - _NOTES)
        try:
            text = await asyncio.to_thread(_read, job, args.offset, most)
        except OSError as error:
            return Outcome.error(f"{status}, but its output cannot be read: {error.strerror}.")
        return Outcome.ok(f"{text}\n[{status}]")


def unknown(task_id: str, jobs: Jobs | None) -> str:
    """The sentence about an id that no job has."""
    known = [f"{job.id} ({job.command[:60]})" for job in (jobs.known() if jobs else [])]
    there = f"There are: {', '.join(known[-20:])}." if known else "Nothing was started in the background yet."
    return f"There is no task {task_id!r}. {there}"


def _read(job: Background, offset: int | None, most: int) -> str:
    piece = job.read(offset, most)
    text = piece.data.decode("utf-8", "replace").rstrip("\n") or "(no new output)"
    if piece.total - piece.start > most:
        text += f"\n[bytes {piece.start}-{piece.end} of {piece.total}; the next call goes on]"
    return text

"""TaskCreate, TaskGet, TaskList, TaskUpdate: the model's work graph, with what runs in the background beside it.

The graph is part of the session: what a call changed goes on record with its result, so a fork, a rewind and a resumed
session have it as it was there.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar, Literal, TypeVar, cast

from msgspec import UNSET, Struct, UnsetType

from agenyx.core import json
from agenyx.core.tools import Effects, ToolSet
from agenyx.tools.spec import Context, Look, Outcome

_HUMP = re.compile(r"(?<=[a-z])[A-Z]")
A = TypeVar("A")
T = TypeVar("T")


class TaskCreateArgs(Struct, frozen=True, forbid_unknown_fields=True):
    subject: str
    description: str | UnsetType = UNSET
    active_form: str | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET


class TaskGetArgs(Struct, frozen=True, forbid_unknown_fields=True):
    task_id: str


class TaskListArgs(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class TaskUpdateArgs(Struct, frozen=True, forbid_unknown_fields=True):
    task_id: str
    status: Literal["pending", "in_progress", "completed", "deleted"] | UnsetType = UNSET
    subject: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    active_form: str | UnsetType = UNSET
    owner: str | UnsetType = UNSET
    add_blocked_by: tuple[str, ...] | UnsetType = UNSET
    remove_blocked_by: tuple[str, ...] | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET


class _Tasks:
    aliases: ClassVar[tuple[str, ...]] = ()
    sets: ClassVar[tuple[ToolSet, ...]] = ("full",)


class TaskCreate(_Tasks):
    name: ClassVar[str] = "TaskCreate"
    args: ClassVar[type[TaskCreateArgs]] = TaskCreateArgs

    def parse(self, value: object) -> TaskCreateArgs:
        return _spelt(value, TaskCreateArgs)

    async def project(self, args: TaskCreateArgs, look: Look) -> Effects:
        return Effects()

    async def run(self, args: TaskCreateArgs, ctx: Context) -> Outcome:
        from agenyx.tools import workgraph  # most sessions have no tasks

        description, active = _given(args.description) or "", _given(args.active_form) or ""
        try:
            task = workgraph.created(ctx.tasks, args.subject, description, active, _given(args.metadata) or {})
        except workgraph.Refusal as refusal:
            return Outcome.error(str(refusal))
        return Outcome("ok", Outcome.ok(workgraph.row(task, ctx.tasks)).content, tasks=(task,))


class TaskGet(_Tasks):
    name: ClassVar[str] = "TaskGet"
    args: ClassVar[type[TaskGetArgs]] = TaskGetArgs

    def parse(self, value: object) -> TaskGetArgs:
        return _spelt(value, TaskGetArgs)

    async def project(self, args: TaskGetArgs, look: Look) -> Effects:
        return Effects(parallel=True)

    async def run(self, args: TaskGetArgs, ctx: Context) -> Outcome:
        from agenyx.tools import workgraph

        if args.task_id not in ctx.tasks and ctx.jobs and (job := ctx.jobs.find(args.task_id)):
            return Outcome.ok(f"{job.id} {job.status}: {job.command}\nTaskOutput gives what it said.")
        try:
            task = workgraph.find(ctx.tasks, args.task_id)
        except workgraph.Refusal as refusal:
            return Outcome.error(str(refusal))
        waiting = [other.id for other in workgraph.live(ctx.tasks) if task.id in other.blocked_by]
        more = [
            ("While it is done", task.active_form),
            ("Blocked by", ", ".join(task.blocked_by)),
            ("Blocks", ", ".join(waiting)),
            ("Metadata", json.encode(task.metadata).decode() if task.metadata else ""),
        ]
        lines = [f"{label}: {text}" for label, text in more if text]
        return Outcome.ok("\n".join([workgraph.row(task, ctx.tasks), *lines, task.description]).rstrip())


class TaskList(_Tasks):
    name: ClassVar[str] = "TaskList"
    args: ClassVar[type[TaskListArgs]] = TaskListArgs

    async def project(self, args: TaskListArgs, look: Look) -> Effects:
        return Effects(parallel=True)

    async def run(self, args: TaskListArgs, ctx: Context) -> Outcome:
        from agenyx.tools import workgraph

        beside = [f"{job.id} {job.status}: {job.command[:200]}" for job in (ctx.jobs.known() if ctx.jobs else [])]
        return Outcome.ok("\n".join([*workgraph.rows(ctx.tasks), *beside]) or "There are no tasks.")


class TaskUpdate(_Tasks):
    name: ClassVar[str] = "TaskUpdate"
    args: ClassVar[type[TaskUpdateArgs]] = TaskUpdateArgs

    def parse(self, value: object) -> TaskUpdateArgs:
        return _spelt(value, TaskUpdateArgs)

    async def project(self, args: TaskUpdateArgs, look: Look) -> Effects:
        return Effects()

    async def run(self, args: TaskUpdateArgs, ctx: Context) -> Outcome:
        from agenyx.tools import workgraph

        try:
            before = workgraph.find(ctx.tasks, args.task_id)
            task = workgraph.changed(
                ctx.tasks,
                before,
                subject=_given(args.subject),
                description=_given(args.description),
                active_form=_given(args.active_form),
                status=_given(args.status),
                owner=_given(args.owner),
                metadata=_given(args.metadata),
                add=_given(args.add_blocked_by) or (),
                remove=_given(args.remove_blocked_by) or (),
            )
        except workgraph.Refusal as refusal:
            return Outcome.error(str(refusal))
        if task == before:
            return Outcome.ok(f"{workgraph.row(task, ctx.tasks)}: nothing changed")
        now = {**ctx.tasks, task.id: task}
        freed = [
            other.id
            for other in workgraph.live(now)
            if task.id in other.blocked_by
            and workgraph.blockers(other, ctx.tasks)
            and not workgraph.blockers(other, now)
        ]
        told = f"{task.id} deleted: {before.subject}" if task.status == "deleted" else workgraph.row(task, now)
        told += f"; now free: {', '.join(freed[:20])}" if freed else ""
        return Outcome("ok", Outcome.ok(told).content, tasks=(task,))


def _given(value: T | UnsetType) -> T | None:
    return None if isinstance(value, UnsetType) else value


def _spelt(value: object, type_: type[A]) -> A:
    """The arguments, also in the spelling of other agents: `taskId`, `activeForm`, `addBlockedBy`. Raises JsonError."""
    if isinstance(value, dict):
        members = cast("dict[str, Any]", value)
        value = {_HUMP.sub(lambda m: f"_{m[0].lower()}", name): member for name, member in members.items()}
    return json.lenient(value, type_)

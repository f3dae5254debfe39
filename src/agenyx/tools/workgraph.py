"""The rules of the work graph: what a new task may be, and what a change may do to one. Pure.

The limits are those of AgentX §5.5; arguments are at most a megabyte long before they come here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from agenyx.core import json
from agenyx.core.tasks import Standing, WorkTask

MOST_TASKS = 4096
MOST_PAIRS, KEY_BYTES, VALUE_BYTES = 256, 256, 16 << 10
MOST_BLOCKERS = 256
_OPEN = ("pending", "in_progress")


class Refusal(Exception):
    """Why a change is not made, in a sentence."""


def live(tasks: Mapping[str, WorkTask]) -> list[WorkTask]:
    """The tasks that were not deleted, in the order of their making."""
    return [task for task in tasks.values() if task.status != "deleted"]


def find(tasks: Mapping[str, WorkTask], id: str) -> WorkTask:
    """Raises Refusal."""
    task = tasks.get(id)
    if task is None or task.status == "deleted":
        raise Refusal(f"There is no task {id!r}. TaskList shows those that there are.")
    return task


def blockers(task: WorkTask, tasks: Mapping[str, WorkTask]) -> tuple[str, ...]:
    """The ids of the tasks that still have to be done before this one."""
    return tuple(id for id in task.blocked_by if (other := tasks.get(id)) and other.status in _OPEN)


def created(
    tasks: Mapping[str, WorkTask], subject: str, description: str, active_form: str, metadata: Mapping[str, Any]
) -> WorkTask:
    """A new task with an id of its own. Raises Refusal."""
    if len(live(tasks)) >= MOST_TASKS:
        raise Refusal(f"There are {MOST_TASKS} tasks already. Delete some first.")
    task = WorkTask(f"t{len(tasks) + 1}", _subject(subject), description, active_form)
    return replace(task, metadata=_merged({}, metadata))


def changed(
    tasks: Mapping[str, WorkTask],
    task: WorkTask,
    *,
    subject: str | None = None,
    description: str | None = None,
    active_form: str | None = None,
    status: Standing | None = None,
    owner: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    add: tuple[str, ...] = (),
    remove: tuple[str, ...] = (),
) -> WorkTask:
    """The task with what is given; None leaves it as it is. Raises Refusal."""
    if status == "deleted":
        if users := [other.id for other in live(tasks) if task.id in other.blocked_by]:
            raise Refusal(f"{task.id} blocks {', '.join(users[:20])}, so it cannot be deleted. Remove it there first.")
        return WorkTask(task.id, status="deleted")
    for id in add:
        find(tasks, id)
    if unknown := [id for id in remove if id not in task.blocked_by]:
        raise Refusal(f"{task.id} is not blocked by {unknown[0]!r}.")
    needs = tuple(dict.fromkeys(id for id in (*task.blocked_by, *add) if id not in remove))
    if len(needs) > MOST_BLOCKERS:
        raise Refusal(f"A task can have {MOST_BLOCKERS} blockers at most.")
    if way := _circle(task.id, needs, tasks):
        raise Refusal(f"That would be a circle: {' needs '.join(way)}.")
    return replace(
        task,
        subject=task.subject if subject is None else _subject(subject),
        description=task.description if description is None else description,
        active_form=task.active_form if active_form is None else active_form,
        status=status or task.status,
        owner=task.owner if owner is None else owner,
        metadata=task.metadata if metadata is None else _merged(task.metadata, metadata),
        blocked_by=needs,
    )


def row(task: WorkTask, tasks: Mapping[str, WorkTask]) -> str:
    """A task on one line."""
    state = task.status.replace("_", " ") + (f", {_flat(task.owner)}" if task.owner else "")
    waits = blockers(task, tasks)
    return f"{task.id} [{state}] {_flat(task.subject)}" + (f" (needs {', '.join(waits)})" if waits else "")


def rows(tasks: Mapping[str, WorkTask]) -> list[str]:
    return [row(task, tasks) for task in live(tasks)]


def standing(tasks: Mapping[str, WorkTask]) -> str:
    """What is still to do, one line a task; "" where all is done."""
    todo = [task for task in live(tasks) if task.status in _OPEN]
    return "\n".join(f"- {row(task, tasks)}" for task in todo[:100])


def _subject(text: str) -> str:
    if not text.strip():
        raise Refusal("The subject is empty: it says in a few words what is to do.")
    return text.strip()


def _flat(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 200 else f"{flat[:199]}…"


def _merged(before: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Members that are null are taken out."""
    merged = {key: value for key, value in {**before, **given}.items() if value is not None}
    if len(merged) > MOST_PAIRS:
        raise Refusal(f"The metadata can have {MOST_PAIRS} members at most.")
    for key, value in merged.items():
        if len(key.encode()) > KEY_BYTES or len(json.encode(value)) > VALUE_BYTES:
            raise Refusal(f"A member of the metadata is too large: names have {KEY_BYTES} bytes, values {VALUE_BYTES}.")
    return merged


def _circle(id: str, needs: tuple[str, ...], tasks: Mapping[str, WorkTask]) -> list[str]:
    """The way from a task back to itself, where there is one."""
    ways, seen = [[id, need] for need in needs], set[str]()
    while ways:
        way = ways.pop()
        if way[-1] == id:
            return way
        if way[-1] not in seen:
            seen.add(way[-1])
            task = tasks.get(way[-1])
            ways += [[*way, need] for need in (task.blocked_by if task else ())]
    return []

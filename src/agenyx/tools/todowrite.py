"""TodoWrite: the model's list of what is to do. The list stands in the call itself, so nothing is kept here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from msgspec import Meta, Struct

from agenyx.core import json
from agenyx.core.messages import Entry, Step
from agenyx.core.tools import Effects, ToolSet
from agenyx.tools.spec import Context, Look, Outcome

_STATES = {"completed": "completed", "in_progress": "in progress", "pending": "pending"}


# Unknown members of an item are passed over: models add their own (activeForm, id, priority).
class Todo(Struct, frozen=True):
    content: Annotated[str, Meta(min_length=1)]
    status: Literal["pending", "in_progress", "completed"]


class TodoWriteArgs(Struct, frozen=True, forbid_unknown_fields=True):
    todos: Annotated[tuple[Todo, ...], Meta(max_length=1024)]


class TodoWrite:
    name: ClassVar[str] = "TodoWrite"
    aliases: ClassVar[tuple[str, ...]] = ("todo_write",)
    sets: ClassVar[tuple[ToolSet, ...]] = ("full",)
    args: ClassVar[type[TodoWriteArgs]] = TodoWriteArgs

    async def project(self, args: TodoWriteArgs, look: Look) -> Effects:
        return Effects()

    async def run(self, args: TodoWriteArgs, ctx: Context) -> Outcome:
        if not args.todos:
            return Outcome.ok("The list is empty now.")
        counts = {name: sum(todo.status == state for todo in args.todos) for state, name in _STATES.items()}
        told = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
        return Outcome.ok(f"The list has {len(args.todos)} item{'s' * (len(args.todos) != 1)}: {told}.")


def standing(entries: Sequence[Entry]) -> str:
    """The list as it was written last, one line an item; "" when there is none or all of it is done."""
    names = {name.casefold() for name in (TodoWrite.name, *TodoWrite.aliases)}
    for entry in reversed(entries):
        if not isinstance(entry, Step):
            continue
        for call, result in zip(reversed(entry.assistant.calls), reversed(entry.results), strict=True):
            if call.name.casefold() in names and result.status == "ok":
                todos = json.convert(json.decode(call.args), TodoWriteArgs, lax=True).todos
                if all(todo.status == "completed" for todo in todos):
                    return ""
                return "\n".join(f"- [{_STATES[todo.status]}] {todo.content}" for todo in todos)
    return ""

"""Task: hands a task to a subagent. Owns what the model can say and gets back; how a child is made and watched is the
crew's.

A call of it acts on nothing by itself: what the child does is judged call by call, in a session of its own, which also
tells after a crash what has begun. So several calls run together, and the same call again goes on where it was.
"""

from __future__ import annotations

import os
from typing import Annotated, Any, ClassVar, Protocol, cast

from msgspec import Meta, Struct

from agenyx.core import json
from agenyx.core.tools import Effects, ToolSet, ToolSpec
from agenyx.core.verdict import Scope
from agenyx.tools.spec import Context, Look, Outcome

_SHOWN = 200  # characters of a task in a question


class TaskArgs(Struct, frozen=True, forbid_unknown_fields=True):
    description: Annotated[str, Meta(description="The whole task")]
    agent: str = ""
    background: Annotated[bool, Meta(description="Return a task_id for TaskOutput at once")] = False


class Order(Struct, frozen=True):
    """What a child is to do: `task` in words, `agent` by name, for the call `call`; `scope` is what it is kept to.

    `more` names tools that it gets beside its own: that of the skill which it is to follow.
    """

    call: str
    task: str
    agent: str = ""
    scope: Scope = Scope()
    more: tuple[str, ...] = ()


class Crew(Protocol):
    """The subagents of one session."""

    def listed(self) -> str:
        """The agents that are not ours, for the model; "" where there is none."""
        ...

    async def run(self, order: Order) -> Outcome:
        """Do it and wait for the end."""
        ...

    async def send(self, order: Order) -> Outcome:
        """Begin it in the background."""
        ...


class NoCrew:
    """Where calls are only looked at."""

    def listed(self) -> str:
        return ""

    async def run(self, order: Order) -> Outcome:
        return Outcome.error("There are no subagents here.")

    send = run


class Task:
    """Only the main agent has it."""

    name: ClassVar[str] = "Task"
    aliases: ClassVar[tuple[str, ...]] = ("task", "Agent")
    sets: ClassVar[tuple[ToolSet, ...]] = ("full",)
    args: ClassVar[type[TaskArgs]] = TaskArgs

    def __init__(self, crew: Crew) -> None:
        self._crew = crew

    @property
    def spec(self) -> ToolSpec:
        with open(os.path.join(os.path.dirname(__file__), "task.md"), encoding="utf-8") as file:
            text = file.read().strip()
        if more := self._crew.listed():
            text = f"{text}\n{more}"
        schema = json.schema(TaskArgs)
        schema.pop("description", None)
        return ToolSpec(self.name, text, schema, self.aliases, "builtin", self.sets)

    def parse(self, value: object) -> TaskArgs:
        """Also in the words that models know from other agents: `prompt`, `subagent_type`, `run_in_background`."""
        if isinstance(value, dict):
            members = dict(cast("dict[str, Any]", value))
            for other, ours in (("subagent_type", "agent"), ("run_in_background", "background")):
                if other in members:
                    members.setdefault(ours, members.pop(other))
            prompt, head = members.pop("prompt", None), members.get("description")
            if isinstance(prompt, str) and prompt.strip():
                members["description"] = f"{head}\n\n{prompt}" if isinstance(head, str) and head.strip() else prompt
            value = members
        try:
            return json.convert(value, TaskArgs)
        except json.JsonError as first:
            try:
                return json.convert(value, TaskArgs, lax=True)
            except json.JsonError:
                raise first from None

    def subject(self, args: TaskArgs) -> str:
        return args.agent.strip() or "general"

    async def project(self, args: TaskArgs, look: Look) -> Effects:
        return Effects(parallel=True, preview=f"{self.subject(args)}: {args.description[:_SHOWN]}")

    async def run(self, args: TaskArgs, ctx: Context) -> Outcome:
        if not args.description.strip():
            return Outcome.error("The description is empty: it is all that the subagent gets.")
        if not ctx.call:
            return Outcome.error("There are no subagents where long results cannot be paged.")
        order = Order(ctx.call, args.description, args.agent.strip())
        return await (self._crew.send(order) if args.background else self._crew.run(order))

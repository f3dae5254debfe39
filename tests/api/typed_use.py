"""A program as a user would write it, for the type checker: `test_typing.py` has pyright look at it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, assert_type

from agenyx import (
    Agent,
    AgentEvent,
    Allow,
    Answer,
    Approval,
    Deny,
    Hook,
    Result,
    Run,
    Session,
    Tool,
    ToolContext,
    Touches,
    approvable,
    events,
    tool,
)
from agenyx.events import TextDelta
from agenyx.providers import Assistant, Done, ModelEvent, Profile, Provider, Request, Text


@dataclass
class Point:
    x: int
    y: int


class Db:
    def get(self, key: str) -> str:
        return key


@tool
def add(a: int, b: int = 2) -> int:
    """Adds."""
    return a + b


@tool(effects="none", timeout=5)
async def look(ctx: ToolContext[Db], key: Literal["a", "b"]) -> str:
    """Looks."""
    return ctx.deps.get(key)


def touched(path: str) -> Touches | Literal["none"]:
    return Touches(reads=[path])


@tool(effects=touched)
def read_it(path: str) -> str:
    """Reads."""
    return path


async def approver(approval: Approval) -> Answer:
    if approval.call.name == "add":
        return Allow(args={"a": 1})
    return Deny("no") if approval.effects.hosts else False


def guard(payload: dict[str, Any]) -> Mapping[str, Any] | None:
    return None


async def main() -> None:
    assert_type(add(1, b=2), int)
    assert_type(await look("a"), str)
    same: Tool[[int], int, object] = approvable(plus)
    assert_type(same(1), int)

    plain = Agent(tools=[add], allow=["add"], mode="plan", approver=lambda approval: True)
    with_deps = Agent(
        tools=[add, look], deps=Db(), approver=approver, hooks={"PreToolUse": [guard, Hook(guard, "Bash")]}
    )
    assert_type(with_deps, Agent[Db])

    run = plain.run("hi")
    assert_type(run, Run[None])
    async for event in run:
        assert_type(event, AgentEvent)
        match event.body:
            case TextDelta(text=text):
                assert_type(text, str)
            case events.CallFinished(result, name):
                assert_type(name, str)
                assert_type(result.text, str)
            case _:
                pass
    assert_type(run.result, Result[None])
    assert_type((await plain.run("hi", output=Point)).output, Point)
    assert_type((await plain.run("hi", output=list[int])).output, list[int])
    assert_type(plain.run_sync("hi", output=Point), Result[Point])

    async with plain.session(resume="x") as session:
        assert_type(session, Session)
        result = await session.prompt("hi", output=Point)
        for approval in result.waiting:
            await session.answer(approval, "allow", args={"a": 2})
            await session.answer(approval.id, Deny("no"))
        assert_type((await session.resume(output=Point)).output.x, int)
        session.set_mode("acceptEdits")


@tool
def plus(a: int) -> int:
    """Plus one."""
    return a + 1


class Mine:
    binding = "mine"

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        yield Done(Assistant((Text("hi"),), "end"))

    async def close(self) -> None: ...


def provider() -> Provider:
    return Mine()


def wrong() -> None:
    """What a checker has to refuse; a comment that were not needed is an error itself."""
    Agent(mode="yolo")  # pyright: ignore[reportArgumentType]
    Agent(tools=[look])  # pyright: ignore[reportArgumentType]
    Agent(tools=[look], deps="text")  # pyright: ignore[reportArgumentType]
    Agent(hooks={"Before": [guard]})  # pyright: ignore[reportArgumentType]
    Agent(approver=lambda approval: "maybe")  # pyright: ignore[reportArgumentType]
    Agent(provider=object())  # pyright: ignore[reportArgumentType]
    add("1")  # pyright: ignore[reportArgumentType]
    Profile("a", "b", "c")  # pyright: ignore[reportArgumentType]

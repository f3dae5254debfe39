"""A model that plays a script for each agent, told apart by the task that it was given."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

from msgspec.structs import replace

from agenyx.core.events import Done, Failure, ModelEvent, Started, TextDelta, Usage
from agenyx.core.messages import Step, User
from agenyx.llm.request import Request
from support.scripted import Turn, say


class Routed:
    """`scripts` by what the first typed words of a conversation begin with; `before` is awaited before each answer."""

    binding = "scripted"

    def __init__(
        self, scripts: Mapping[str, Sequence[Turn]], before: Callable[[str], Awaitable[None]] | None = None
    ) -> None:
        self.scripts, self.before = scripts, before
        self.requests: list[tuple[str, Request]] = []
        self.running = self.most = 0

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        task = next(e.text for e in request.entries if isinstance(e, User) and e.origin == "typed")
        name = next(name for name in self.scripts if task.startswith(name))
        self.requests.append((name, replace(request, entries=tuple(request.entries))))
        done, script = sum(isinstance(entry, Step) for entry in request.entries), self.scripts[name]
        yield Started(f"resp_{name}_{done}", "scripted-model")
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            if self.before is not None:
                await self.before(name)
        finally:
            self.running -= 1
        turn = script[done] if done < len(script) else say("The script is over.")
        if isinstance(turn, Failure):
            yield turn
            return
        assistant = turn(request) if callable(turn) else turn
        if assistant.text:
            yield TextDelta(0, assistant.text)
        yield Usage(fresh=10, out=5)
        yield Done(assistant)

    async def close(self) -> None:
        pass

    def of(self, name: str) -> list[Request]:
        return [request for task, request in self.requests if task == name]


async def until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.01)


class Hang:
    """A `before` that never answers these tasks."""

    def __init__(self, *names: str) -> None:
        self.names, self.hanging = names, asyncio.Event()

    async def __call__(self, name: str) -> None:
        if name in self.names:
            self.hanging.set()
            await asyncio.Event().wait()

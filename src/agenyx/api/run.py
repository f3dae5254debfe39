"""One run: to be awaited for its result, or iterated over for its events, with the result there when they end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from types import TracebackType
from typing import Any, Generic, TypeVar

from agenyx.api.delivery import Delivery
from agenyx.api.result import Result
from agenyx.core.errors import UsageError
from agenyx.core.events import AgentEvent

T = TypeVar("T")


class Run(Generic[T]):
    """Begins when it is awaited or iterated over, and can be so once.

    Leaving the iteration early, or cancelling who waits, cancels the run: what it started is ended, what it did stands
    on record, and a later run goes on from there. Within `async with` that has happened when the block is left.
    """

    def __init__(self, work: Callable[[], Coroutine[Any, Any, Result[T]]], delivery: Delivery) -> None:
        """`work` does all of it, in a task of its own, and tells of it to `delivery`."""
        self._work, self._delivery = work, delivery
        self._task: asyncio.Task[Result[T]] | None = None

    def __await__(self) -> Generator[Any, None, Result[T]]:
        return self._awaited().__await__()

    def __aiter__(self) -> AsyncIterator[AgentEvent]:
        return self._events()

    async def __aenter__(self) -> Run[T]:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it, where it was left early: afterwards nothing of it runs."""
        if self._task is not None:
            await stopped(self._task)

    @property
    def result(self) -> Result[T]:
        """What it came to. Raises UsageError while it is not over, and what made it fail before it began."""
        if self._task is None or not self._task.done() or self._task.cancelled():
            raise UsageError("this run is not over", "Await it, or iterate over it to its end.")
        return self._task.result()

    async def inline(self) -> Result[T]:
        """Do it in the task that asks, as a part of another run."""
        return await self._work()

    async def _awaited(self) -> Result[T]:
        if self._task is not None and self._task.done() and not self._task.cancelled():
            return self._task.result()
        try:
            return await ended(self._begin())
        finally:
            self._delivery.leave()

    async def _events(self) -> AsyncIterator[AgentEvent]:
        delivery, task = self._delivery, self._begin()
        delivery.watch()
        task.add_done_callback(delivery.stir)
        try:
            while True:
                while (event := delivery.next()) is not None:
                    yield event
                if task.done():
                    break
                await delivery.wait()
        finally:
            delivery.leave()
            await stopped(task)
        task.result()

    def _begin(self) -> asyncio.Task[Result[T]]:
        if self._task is not None:
            raise UsageError("this run was begun already", "Its result is in `result` when it is over; begin another.")
        self._task = asyncio.get_running_loop().create_task(self._work())
        return self._task


async def ended(task: asyncio.Task[T]) -> T:
    """What a task comes to, which has to come to its end: who is cancelled here cancels it and waits all the same."""
    await _settled(task)
    return task.result()


async def stopped(task: asyncio.Task[Any]) -> None:
    """Cancel a task, unless it is over or was cancelled, and wait for its end. What it comes to is for others."""
    if not task.done() and not task.cancelling():
        task.cancel()
    await _settled(task)


async def _settled(task: asyncio.Task[Any]) -> None:
    cancelled = False
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError:
            cancelled = True
            task.cancel()
    if not task.cancelled():
        task.exception()  # it was looked at
    if cancelled:
        raise asyncio.CancelledError

"""Functions of a program that may block, each in a thread of its own: one that hangs keeps neither the loop nor the end
of the program.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

T = TypeVar("T")


class Crashed(Exception):
    """What ran wanted to end the program."""


async def called(function: Callable[..., Awaitable[T] | T], *args: Any, **named: Any) -> T:
    """Call it: a coroutine function in the loop, any other in a thread. Raises what it raises; an exit is Crashed.

    Cancelled, a thread runs to its end and nobody hears of it.
    """
    try:
        if is_async(function):
            return await cast("Awaitable[T]", function(*args, **named))
        value = await _in_thread(lambda: function(*args, **named))
        return await cast("Awaitable[T]", value) if inspect.isawaitable(value) else cast("T", value)
    except SystemExit as error:
        raise Crashed(f"SystemExit: {error}") from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and not task.cancelling():  # nobody wanted this task to end
            raise Crashed("it was cancelled from within") from error
        raise


def is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


async def _in_thread(work: Callable[[], T]) -> T:
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[Any, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def settle(value: Any, error: BaseException | None) -> None:
        if not done.done():
            done.set_result((value, error))

    def run() -> None:
        value, failure = cast("Any", None), cast("BaseException | None", None)
        try:
            value = context.run(work)
        except BaseException as error:  # noqa: BLE001 - the rim of a thread: who waits is told
            failure = error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, value, failure)

    threading.Thread(target=run, name="agenyx-call", daemon=True).start()
    value, failure = await done
    if failure is None:
        return value
    if isinstance(failure, Exception | SystemExit):
        raise failure
    raise Crashed(f"{type(failure).__name__}: {failure}") from failure

"""Waiting for a conversation to be open, for no longer than somebody wants it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from agenyx.ui.chat.talk import Talk

_PATIENCE = 6.0  # seconds that an opening which nobody wants any more may take to end


async def begun(opening: Awaitable[Talk], left: asyncio.Event) -> Talk | None:
    """The conversation; None when the person left before it was open. Raises what opening it raised."""
    task = asyncio.ensure_future(opening)
    leaving = asyncio.ensure_future(left.wait())
    try:
        await asyncio.wait((task, leaving), return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        task.cancel()
        raise
    finally:
        leaving.cancel()
    if task.done():
        return task.result()
    task.cancel()
    await asyncio.wait((task,), timeout=_PATIENCE)
    if task.done() and not task.cancelled() and task.exception() is None:
        await task.result().close("prompt_input_exit")
    return None

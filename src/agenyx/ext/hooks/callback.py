"""Hooks that are functions of the program that embeds us."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from agenyx.core import json
from agenyx.core.hooks import Event
from agenyx.ext.hooks.model import SECONDS, Entry, HookResult, OnError

Function = Callable[[dict[str, Any]], "Awaitable[Mapping[str, Any] | None] | Mapping[str, Any] | None"]
"""Gets the payload, answers as a program would on standard output: an object in the agreed form, or None."""


class Callback(Struct, frozen=True):
    """A function that a host hangs on an event. `matcher` and `timeout` as in files."""

    event: Event
    function: Function
    matcher: str = ""
    timeout: float = SECONDS
    on_error: OnError = "block"

    @property
    def entry(self) -> Entry:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return Entry(
            self.event,
            "callback",
            self.matcher,
            name,
            timeout=self.timeout,
            on_error=self.on_error,
            origin="host",
        )


class CallbackHook:
    """A function that is no coroutine runs in a thread, so that it holds up nothing."""

    def __init__(self, callback: Callback) -> None:
        self._callback = callback

    async def run(self, payload: bytes) -> HookResult:
        started, function = time.monotonic(), self._callback.function
        try:
            async with asyncio.timeout(self._callback.timeout):
                answer = await asyncio.to_thread(function, json.decode(payload))
                if isinstance(answer, Awaitable):
                    answer = await answer
            output = "" if answer is None else json.encode(dict(answer)).decode()
        except TimeoutError:
            return HookResult(failure=f"it gave no answer within {self._callback.timeout:g} seconds")
        except Exception as error:  # noqa: BLE001 - the rim around a hook: its errors are data
            return HookResult(failure=f"{type(error).__name__}: {error}")
        return HookResult(output=output, seconds=time.monotonic() - started)

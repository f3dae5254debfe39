"""The conversation in JSON-RPC with one running server: requests with time limits, notifications, its own requests.

Owns ids, timers, bounds and cancellation; knows neither processes nor what the methods mean. Whatever the server sends,
memory stays bounded: what nobody asked for has a budget, and who exceeds it is cut off.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

from agenyx.core import json
from agenyx.ext.mcp import wire
from agenyx.ext.mcp.clean import one_line
from agenyx.ext.mcp.framing import Lines, TooLong
from agenyx.ext.mcp.model import McpError, OnProgress, Progress
from agenyx.ext.mcp.wire import Object, RpcError
from agenyx.proc.duplex import Full

RUNNING = 3  # requests at once (reference: AgentX §9.5)
QUEUED = 64
NOISE = 8 << 20  # bytes that nobody asked for, at once; so many more each second:
NOISE_RATE = 1 << 20
_ASKING = 8  # requests of the server that are looked at together


class _Pending:
    """One request of ours. `until` is when its time is up, `end` when no progress helps any more."""

    def __init__(self, until: float, end: float, on_progress: OnProgress | None) -> None:
        self.future: asyncio.Future[Object] = asyncio.get_running_loop().create_future()
        self.until, self.end, self.on_progress = until, end, on_progress
        self.span = until - time.monotonic()


Handler = Callable[[str, Object], Awaitable[Object]]


class Link:
    """`send` takes bytes for the server and may raise Full; `handle` answers its requests and may raise RpcError;
    `hear` gets its notifications, and must not raise. `broken` is called once, with why, when the link is over."""

    def __init__(
        self,
        limit: int,
        send: Callable[[bytes], None],
        handle: Handler,
        hear: Callable[[str, Object], None],
        broken: Callable[[str], None],
    ) -> None:
        self._lines, self._limit, self._send = Lines(limit), limit, send
        self._handle, self._hear, self._broken = handle, hear, broken
        self._next = 0
        self._pending: dict[wire.Id, _Pending] = {}
        self._noise, self._quiet = 0.0, time.monotonic()
        self._places, self._queued = asyncio.Semaphore(RUNNING), 0
        self._tasks: dict[object, asyncio.Task[None]] = {}
        self._paused: asyncio.Future[None] | None = None
        self._pauses, self._since = 0, 0.0
        self.why = ""  # why it is over, "" while it is not

    # --- what we ask ------------------------------------------------------------------------------------------------

    async def request(
        self,
        method: str,
        params: Object,
        timeout: float,
        *,
        total: float | None = None,
        on_progress: OnProgress | None = None,
        silent: bool = False,
    ) -> Object:
        """The result of a request; `timeout` counts anew with each progress, up to `total` in all (seconds).

        With `silent` the server is not told when it is given up. Raises RpcError for its error, McpError otherwise.
        """
        if self._queued >= QUEUED:
            raise McpError(f"{QUEUED} requests to it are waiting already", "Wait until they are answered.")
        self._queued += 1
        try:
            await self._places.acquire()
        finally:
            self._queued -= 1
        try:
            return await self._request(method, params, timeout, total or timeout, on_progress, silent)
        finally:
            self._places.release()

    def listen(self, id_: str, method: str, params: Object) -> None:
        """A request that is answered only when the server stops; its answer counts as noise. Raises McpError."""
        self._write(wire.request(id_, method, params))

    def notify(self, method: str, params: Object | None = None) -> None:
        """Tell the server something; to one that is gone it is no error."""
        with suppress(McpError):
            self._write(wire.notification(method, params))

    async def _request(
        self, method: str, params: Object, timeout: float, total: float, on_progress: OnProgress | None, silent: bool
    ) -> Object:
        self._next += 1
        id_, now = self._next, time.monotonic()
        if on_progress is not None:
            params = params | {"_meta": wire.members(params.get("_meta")) | {"progressToken": id_}}
        pending = self._pending[id_] = _Pending(now + timeout, now + max(timeout, total), on_progress)
        try:
            self._write(wire.request(id_, method, params))
            await self._answered(pending)
            return pending.future.result()
        except (asyncio.CancelledError, TimeoutError) as stopped:
            if not silent:
                reason = "time is up" if isinstance(stopped, TimeoutError) else "the user stopped it"
                self.notify("notifications/cancelled", {"requestId": id_, "reason": reason})
            if isinstance(stopped, TimeoutError):
                text = f"it did not answer {method} within {_seconds(time.monotonic() - now)}"
                raise McpError(text, unsure=True, timed_out=True) from None
            raise
        finally:
            del self._pending[id_]

    async def _answered(self, pending: _Pending) -> None:
        """Wait for the answer. While a person is asked, no time passes. Raises TimeoutError."""
        while not pending.future.done():
            if self._paused is not None:
                await asyncio.wait((pending.future, self._paused), return_when="FIRST_COMPLETED")
                continue
            left = min(pending.until, pending.end) - time.monotonic()
            if left <= 0:
                raise TimeoutError
            await asyncio.wait((pending.future,), timeout=left)

    def _write(self, data: bytes) -> None:
        if self.why:
            raise McpError(self.why)
        if len(data) > self._limit:
            raise McpError(f"the request has {len(data):,} bytes and at most {self._limit:,} are sent", "Send less.")
        try:
            self._send(data)
        except Full:
            self.end("it does not read what it is sent")
            raise McpError(self.why) from None

    # --- what it says -----------------------------------------------------------------------------------------------

    def feed(self, data: bytes) -> None:
        """Bytes from the server. Never raises."""
        if self.why:
            return
        now = time.monotonic()
        self._noise = max(0.0, self._noise - (now - self._quiet) * NOISE_RATE) + len(data)
        self._quiet = now
        try:
            for line in self._lines.feed(data):
                self._line(line)
        except TooLong:
            self.end(f"it sent a message of more than {self._limit:,} bytes")
        # What belongs to an answer is taken off when the answer is whole, so a line may be on its way.
        if self._noise > NOISE + self._limit:
            self.end(f"it sent more than {NOISE >> 20} MiB that nobody asked for")

    def _line(self, line: bytes) -> None:
        try:
            messages = wire.decode(line)
        except json.JsonError:
            return  # some servers print notes on standard output
        for message in messages:
            if isinstance(message.method, str):
                self._called(message.method, message)
            elif wire.is_id(message.id) and (pending := self._pending.get(message.id)) is not None:
                if pending.future.done():
                    continue  # a second answer to one request
                self._noise -= len(line) + 1
                if message.error is not wire.UNSET:
                    pending.future.set_exception(wire.error_of(message.error))
                elif wire.is_object(message.result):
                    pending.future.set_result(wire.members(message.result))
                else:
                    pending.future.set_exception(RpcError(0, "an answer that is no object"))

    def _called(self, method: str, message: wire.Incoming) -> None:
        params = wire.members(message.params)
        if wire.is_id(message.id):
            if len(self._tasks) >= _ASKING or message.id in self._tasks:
                self._answer(wire.failure(message.id, wire.INVALID_REQUEST, "too many requests"))
                return
            self._tasks[message.id] = asyncio.ensure_future(self._serve(message.id, method, params))
        elif method == "notifications/progress":
            self._progress(params)
        elif method == "notifications/cancelled":
            if wire.is_id(id_ := params.get("requestId")) and (task := self._tasks.get(id_)):
                task.cancel()
        else:
            self._hear(method, params)

    def _progress(self, params: Object) -> None:
        token, done, total = params.get("progressToken"), params.get("progress"), params.get("total")
        pending = self._pending.get(token) if wire.is_id(token) else None  # type: ignore[arg-type]
        if pending is None or pending.on_progress is None or not isinstance(done, int | float):
            return
        pending.until = time.monotonic() + pending.span
        known = float(total) if isinstance(total, int | float) else None
        pending.on_progress(Progress(float(done), known, one_line(params.get("message"))))

    async def _serve(self, id_: Any, method: str, params: Object) -> None:
        try:
            self._answer(wire.response(id_, await self._handle(method, params)))
        except RpcError as error:
            self._answer(wire.failure(id_, error.code, error.message))
        except asyncio.CancelledError:
            pass  # the server does not want it any more, or the link is over
        except Exception:  # noqa: BLE001 - the rim around what answers a server: it must get an answer
            self._answer(wire.failure(id_, -32603, "Agenyx could not answer"))
        finally:
            self._tasks.pop(id_, None)

    def _answer(self, data: bytes) -> None:
        with suppress(McpError):
            self._write(data)

    # --- time and end -----------------------------------------------------------------------------------------------

    async def pausing(self, body: Coroutine[Any, Any, Object]) -> Object:
        """Await something that a person decides; meanwhile no request of ours runs out of time."""
        if self._pauses == 0:
            self._paused, self._since = asyncio.get_running_loop().create_future(), time.monotonic()
        self._pauses += 1
        try:
            return await body
        finally:
            self._pauses -= 1
            if self._pauses == 0 and self._paused is not None:
                passed = time.monotonic() - self._since
                for pending in self._pending.values():
                    pending.until += passed
                    pending.end += passed
                paused, self._paused = self._paused, None
                paused.set_result(None)

    def end(self, why: str) -> None:
        """It is over: what was asked fails, and the server's own requests stop. Twice is no error."""
        if self.why:
            return
        self.why = why
        for pending in self._pending.values():
            if not pending.future.done():
                pending.future.set_exception(McpError(why, unsure=True))
        for task in tuple(self._tasks.values()):
            task.cancel()
        self._broken(why)


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} seconds" if seconds >= 2 else f"{seconds:.1f} seconds"

"""One request to its Done or Failure: HTTP, retries, the idle watchdog, masking; the same for every adapter.

A request is sent again only while the server has said nothing: after the first event of a response there is a partial
answer, which the caller keeps, and a Failure behind it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Protocol

from msgspec import Struct

from agenyx.core.events import Done, Failure, ModelEvent, Retrying
from agenyx.core.redact import Masker
from agenyx.llm import failures
from agenyx.llm.failures import Target
from agenyx.llm.http import Client, ConnectFailed, HttpError, Response
from agenyx.llm.masking import EventMasker
from agenyx.llm.throttle import Throttle

ERROR_BYTES = 64 * 1024
ERROR_SECONDS = 5.0  # for the body of an error: its status is known already
REFUSED_RETRIES = 2  # nothing listens on this machine, or where the proxy should be: waiting long starts neither


def _random() -> float:
    import random  # needed only when something went wrong

    return random.random()


class Retry(Struct, frozen=True):
    """When to send again. The n-th delay is random between 0 and min(cap, base·2ⁿ) s, or Retry-After if that is longer.

    `window` bounds the sum of the planned delays. `idle` replaces the dialect's limit for silence. `sleep` and `random`
    are there to be replaced by tests.
    """

    limit: int = 10
    base: float = 0.5
    cap: float = 32.0
    window: float = 120.0
    idle: float | None = None
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    random: Callable[[], float] = _random


class Decoder(Protocol):
    """Turns the bytes of one response into events, without I/O; ends with one Done or Failure."""

    def feed(self, data: bytes) -> list[ModelEvent]: ...

    def end(self) -> list[ModelEvent]: ...


class Post(Struct, frozen=True):
    """The request as it goes out; every attempt sends these bytes."""

    target: Target
    headers: Mapping[str, str]
    body: bytes
    idle: float | None = None


async def stream(
    client: Client, post: Post, decoder: Callable[[], Decoder], masker: Masker, retry: Retry, throttle: Throttle
) -> AsyncGenerator[ModelEvent]:
    """Ends with exactly one Done or Failure. Cancelling the consumer closes the connection."""
    planned, attempt = 0.0, 0
    while True:
        attempt += 1
        begun = False
        limit = retry.limit
        failure: Failure | None = None
        masking = EventMasker(masker)
        try:
            async with throttle.place(), aclosing(_attempt(client, post, decoder)) as events:
                async for event in events:
                    if isinstance(event, Failure):
                        failure = event
                        break
                    begun = True
                    for shown in masking.mask(event):
                        yield shown
        except HttpError as error:
            failure = failures.of_http(error, post.target)
            here = post.target.url.startswith("http:") or (isinstance(error, ConnectFailed) and error.proxy)
            if isinstance(error, ConnectFailed) and error.refused and here:
                limit = min(limit, REFUSED_RETRIES)
        if failure is None:
            return
        if failure.retry_after:
            throttle.pause(failure.retry_after)
        delay: float | None = None
        if failure.retryable and not begun and attempt <= limit:
            delay = max(retry.random() * min(retry.cap, retry.base * 2**attempt), failure.retry_after or 0.0)
            if planned + delay > retry.window:
                failure, delay = _too_long(failure), None
        if delay is None:
            for shown in masking.mask(failure):
                yield shown
            return
        planned += delay
        for shown in masking.mask(Retrying(attempt, limit, delay, failure.message)):
            yield shown
        await retry.sleep(delay)


def _too_long(failure: Failure) -> Failure:
    if not failure.retry_after:
        return failure
    wait = f"The server asks to wait {failure.retry_after:.0f} s: try again then."
    return Failure("busy", failure.message, wait, True, failure.retry_after)


async def _attempt(client: Client, post: Post, begin: Callable[[], Decoder]) -> AsyncGenerator[ModelEvent]:
    """One exchange. Ends with one Done or Failure, after the connection was given back. Raises HttpError."""
    last: ModelEvent | None = None
    async with client.stream("POST", post.target.url, post.headers, post.body, idle=post.idle) as response:
        decoder = begin()  # only now: what it has to load must not delay the request
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if response.status != 200:
            last = await _refusal(response, post.target)
        elif kind == "text/html":
            last = _no_stream(kind, post.target)
        elif kind == "application/json":
            decoder = _Document(decoder, post.target)
        while last is None:
            data = await response.read()
            for event in decoder.feed(data) if data else decoder.end():
                if isinstance(event, Done | Failure):
                    last = event
                    break
                yield event
        if isinstance(last, Done):
            response.linger()
    yield last


class _Document:
    """For a server that ignored that a stream was asked for: its one JSON document is read as one event."""

    def __init__(self, decoder: Decoder, target: Target) -> None:
        self._decoder = decoder
        self._target = target
        self._document = bytearray()

    def feed(self, data: bytes) -> list[ModelEvent]:
        self._document += data
        if len(self._document) > failures.DOCUMENT_BYTES:
            return [Failure("protocol", f"{self._target.host} sends a document without end")]
        return []

    def end(self) -> list[ModelEvent]:
        line = self._document.replace(b"\r", b" ").replace(b"\n", b" ")
        return [*self._decoder.feed(b"data: " + line + b"\n\n"), *self._decoder.end()]


def _no_stream(kind: str, target: Target) -> Failure:
    return Failure(
        "protocol",
        f"{target.url} answered with {kind}, not with a model's response",
        f"Check the base URL ({target.url_name}): it often ends in /v1.",
    )


async def _refusal(response: Response, target: Target) -> Failure:
    body = await error_body(response)
    headers = response.headers
    failure = failures.of_status(response.status, headers.get("location", ""), failures.of_body(body), target)
    after = retry_after(headers)
    hint = headers.get("x-should-retry", "").strip().lower()
    retryable = hint == "true" if hint in ("true", "false") else failure.retryable
    return Failure(failure.kind, failure.message, failure.fix, retryable, after if retryable else None)


async def error_body(response: Response) -> bytes:
    """The beginning of an error's body; what cannot be read in time is left."""
    parts: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(ERROR_SECONDS):
            while size < ERROR_BYTES and (data := await response.read()):
                parts.append(data)
                size += len(data)
    except (HttpError, TimeoutError):
        pass
    return b"".join(parts)[:ERROR_BYTES]


def retry_after(headers: Mapping[str, str]) -> float | None:
    """`Retry-After` in seconds, as a number or an HTTP date; None without a usable one."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        if value.replace(".", "", 1).isdigit() and value.isascii():
            return float(value) * unit
    value = headers.get("retry-after", "").strip()
    if not value:
        return None
    import time
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None

"""Plays a cassette in place of the network: reads it, and answers each request with what was recorded.

Says where a request differs from the recorded one. Knows no models and contacts nothing.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable, Mapping

from msgspec import Struct

from agenyx.config.profiles import Profile
from agenyx.core import json
from agenyx.core.errors import AgenyxError, ConfigError
from agenyx.llm import http, http_errors
from agenyx.llm.cassette import FORMAT, Exchange, Fault, Head, Piece, Received, digest, path_of
from agenyx.llm.cassette_mask import ByteMasker
from agenyx.llm.difference import first_difference
from agenyx.llm.request import Options
from agenyx.llm.stream import Retry
from agenyx.llm.throttle import Throttle

REPLAY_ID = "replay"
KEY = "replay"  # stands for the key that was there, so that advice about keys is the same; too short to be masked
LOOSE = "To play it by order alone, whatever is asked, add --replay-loose."

Sleep = Callable[[float], Awaitable[object]]


class Cassette(Struct, frozen=True):
    """A whole recording; `exchanges` as they stand in the file, in the order in which they ended."""

    path: str
    head: Head
    exchanges: tuple[Exchange, ...]

    def body(self, exchange: Exchange) -> str:
        """The request body of one of its exchanges, put together."""
        body = ""
        for each in self.exchanges:
            body = body[: each.request.keep] + each.request.body
            if each is exchange:
                break
        return body


class ReplayMismatch(AgenyxError):
    """A request that the recording has no answer to."""


class Replay(Struct, frozen=True):
    """What a provider needs in place of a server: a profile without its key, model and options, client and retries."""

    profile: Profile
    model: str
    options: Options
    client: ReplayClient
    retry: Retry
    throttle: Throttle


class _NeverPaused(Throttle):
    """In a recording the time that the server asked for is over."""

    def pause(self, seconds: float) -> None:
        pass


def open_replay(path: str, *, loose: bool = False, paced: bool = False) -> Replay:
    """`loose` answers by order alone; `paced` keeps the recorded times, else nothing waits. Raises ConfigError."""
    cassette = load(path)
    head = cassette.head
    profile = Profile(
        REPLAY_ID,
        head.type,
        head.base_url,
        KEY if head.secured else "",
        wire=head.wire,
        model=head.model,
        deployment=head.deployment,
        api_version=head.api_version,
        origin=f"the recording {path}",
    )
    retry = Retry() if paced else Retry(sleep=_no_wait, random=lambda: 0.0)
    throttle = Throttle() if paced else _NeverPaused()
    client = ReplayClient(cassette, loose=loose, paced=paced)
    return Replay(profile, head.model, head.options, client, retry, throttle)


async def _no_wait(seconds: float) -> None:
    await asyncio.sleep(0)


_head = json.Decoder(Head)
_exchange = json.Decoder(Exchange)


class _Format(Struct):
    cassette: int


_format = json.Decoder(_Format)


def load(path: str) -> Cassette:
    """Read a cassette. A last line that a crash cut off is left out. Raises ConfigError."""
    try:
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
    except OSError as error:
        raise ConfigError(f"the recording {path} cannot be read: {error.strerror}", "Check the path.") from None
    lines.pop()  # empty, or cut off
    try:
        version = _format.decode(lines[0]).cassette if lines else 0
        if version > FORMAT:
            raise ConfigError(f"{path} was recorded by a newer Agenyx (format {version})", "Update Agenyx.")
        head = _head.decode(lines[0])
    except (json.JsonError, IndexError):
        raise ConfigError(f"{path} is not a recording of Agenyx", "Make one with: agenyx --record FILE") from None
    found: list[Exchange] = []
    before = ""
    for number, line in enumerate(lines[1:], 2):
        try:
            exchange = _exchange.decode(line)
        except json.JsonError as error:
            raise ConfigError(f"line {number} of {path} is damaged: {error}", "Record it again.") from None
        sent = exchange.request
        before = before[: sent.keep] + sent.body
        if digest(before) != sent.sha256:
            raise ConfigError(f"line {number} of {path} is damaged: its request has another hash", "Record it again.")
        found.append(exchange)
    return Cassette(path, head, tuple(found))


class ReplayClient(http.Client):
    """Has the interface of http.Client and plays a cassette: exchange n answers request n, of each method by itself.

    A list of models (GET) that is not asked for again is passed over. Requests that overlap may come in another order
    than then: one that another exchange still waiting to be played was recorded for gets that one. Sleeps only when
    `paced`.
    """

    def __init__(
        self, cassette: Cassette, *, loose: bool = False, paced: bool = False, sleep: Sleep = asyncio.sleep
    ) -> None:
        super().__init__({})
        self._cassette = cassette
        self._loose, self._sleep = loose, sleep if paced else None
        self._waiting = sorted(cassette.exchanges, key=lambda exchange: exchange.n)
        self._asked = 0

    def stream(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None, *, idle: float | None = None
    ) -> http.Exchange:
        """See http.Client. Entering raises ReplayMismatch where the recording has no answer."""
        return _Played(lambda: self._next(method, url, (body or b"").decode("utf-8", "replace")), self._sleep)

    def warm(self, url: str) -> None:
        """There is nothing to connect to."""

    def _next(self, method: str, url: str, body: str) -> Exchange:
        self._asked += 1
        waiting = [exchange for exchange in self._waiting if exchange.request.method == method]
        if not waiting:
            raise ReplayMismatch(
                f"the recording {self._cassette.path} ends after {len(self._cassette.exchanges)} requests, "
                f"and this is request {self._asked}",
                "The session went another way than the recorded one.",
            )
        first = waiting[0]
        if self._loose:
            return self._took(first)
        asked, hashed = (method, path_of(url, ByteMasker(()))), digest(body)
        for exchange in waiting:
            sent = exchange.request
            if asked == (sent.method, sent.path) and hashed == sent.sha256:
                return self._took(exchange)
        sent, recorded = first.request, self._cassette.body(first)
        if asked != (sent.method, sent.path):
            where = f"it goes to {' '.join(asked)}, the recorded one to {sent.method} {sent.path}"
        elif _same(body, recorded):
            return self._took(first)
        else:
            where = first_difference(recorded, body)
        raise ReplayMismatch(f"request {self._asked} is not the recorded one ({first.n}): {where}", LOOSE)

    def _took(self, exchange: Exchange) -> Exchange:
        self._waiting.remove(exchange)
        return exchange


def _same(body: str, recorded: str) -> bool:
    """Whether both say the same, whatever the order of the members."""
    if body == recorded:
        return True
    try:
        return json.canonical(json.decode(body)) == json.canonical(json.decode(recorded))
    except json.JsonError:
        return False


class _Played(http.Exchange):
    """One recorded exchange."""

    def __init__(self, take: Callable[[], Exchange], sleep: Sleep | None) -> None:
        self._take, self._sleep = take, sleep

    async def __aenter__(self) -> http.Response:
        received = self._take().response
        if received.status == 0:
            raise _error(received.fault, 0)
        return _PlayedResponse(received, self._sleep)

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        pass


class _PlayedResponse(http.Response):
    """The recorded pieces, one a read, then what ended the response."""

    def __init__(self, received: Received, sleep: Sleep | None) -> None:
        self.status, self.headers, self.lingering = received.status, received.headers, False
        self._received, self._sleep = received, sleep
        self._place, self._at, self._bytes = 0, 0.0, 0

    async def read(self) -> bytes:
        """See http.Response."""
        received = self._received
        if received.withheld:
            raise http_errors.ProtocolError("this response was not recorded, because it spelled a credential")
        if self._place == len(received.pieces):
            if received.end == "whole":
                return b""
            raise _error(received.fault, self._bytes)
        piece = received.pieces[self._place]
        self._place += 1
        if self._sleep is not None and piece.at > self._at:
            await self._sleep(piece.at - self._at)
            self._at = piece.at
        else:
            await asyncio.sleep(0)  # a read gives way to others, here too
        data = _bytes(piece)
        self._bytes += len(data)
        return data

    def linger(self) -> None:
        self.lingering = True


def _bytes(piece: Piece) -> bytes:
    if piece.text:
        return piece.text.encode()
    try:
        return base64.b64decode(piece.base64, validate=True)
    except ValueError:
        raise http_errors.ProtocolError("a piece of the recording is damaged") from None


def _error(fault: Fault | None, received: int) -> http_errors.HttpError:
    """The recorded error; without one the person had stopped the response here."""
    if fault is None:
        return http_errors.Truncated("the recorded response was stopped here", sent=True, received=received)
    message = fault.message
    match fault.kind:
        case "ConnectFailed":
            error = http_errors.ConnectFailed(message, refused=fault.refused)
        case "TlsFailed":
            error = http_errors.TlsFailed(message, fault.hint)
        case "ProxyRefused":
            error = http_errors.ProxyRefused(message, fault.hint)
        case "ProtocolError":
            error = http_errors.ProtocolError(message)
        case "IdleTimeout":
            error = http_errors.IdleTimeout("body", 0.0, sent=True, received=received)
            error.message = message
        case _:
            error = http_errors.Truncated(message)
    error.sent, error.received = True, received
    return error

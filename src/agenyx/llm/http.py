"""The HTTP client of every model request: one exchange at a time per connection, kept alive between steps.

It follows no redirect, asks for no compression, has no total time limit and uses plain http only to this machine.
What it must not know: models, retries (but for a kept connection that died unused), secrets, settings.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlsplit

from agenyx.llm.http_errors import (
    ConnectFailed,
    HttpError,
    IdleTimeout,
    ProtocolError,
    ProxyRefused,
    TlsFailed,
    Truncated,
)
from agenyx.llm.http_link import Link

if TYPE_CHECKING:
    import ssl

__all__ = [
    "Client",
    "ConnectFailed",
    "Exchange",
    "HttpError",
    "IdleTimeout",
    "ProtocolError",
    "ProxyRefused",
    "Response",
    "TlsFailed",
    "Truncated",
]

CONNECT_SECONDS = 15.0
IDLE_SECONDS = 90.0
POOL = 4  # idle connections kept per origin
LINGER_SECONDS = 1.0
LINGER_BYTES = 64 * 1024


class Origin(NamedTuple):
    scheme: str
    host: str
    port: int


class Response:
    """Status, headers (lower-case names) and the body as it arrives. A redirect is a status like any other."""

    def __init__(self, link: Link) -> None:
        reader = link.reader
        assert reader is not None
        self._link = link
        self.status = reader.status
        self.headers: Mapping[str, str] = reader.headers
        self.lingering = False

    async def read(self) -> bytes:
        """All body bytes that are there, at least one; empty at the end. Raises HttpError."""
        try:
            return await self._link.read()
        except HttpError as error:
            error.sent, error.received = True, self._link.received
            raise

    async def chunks(self) -> AsyncIterator[bytes]:
        """`read` until the end."""
        while data := await self.read():
            yield data

    def linger(self) -> None:
        """The rest does not matter: read it in the background for a moment, so that the connection can be kept."""
        self.lingering = True


class Exchange:
    """One request and its response, as an async context manager. Leaving it early closes the connection."""

    def __init__(self, client: Client, origin: Origin, head: bytes, body: bytes, idle: float) -> None:
        self._client = client
        self._origin = origin
        self._head = head
        self._body = body
        self._idle = idle
        self._link: Link | None = None
        self._response: Response | None = None

    async def __aenter__(self) -> Response:
        link = self._client.kept(self._origin)
        if link is not None:
            try:
                return await self._begin(link)
            except Truncated as error:
                if error.received:
                    raise
                # The server closed the kept connection meanwhile: nothing was answered, so a fresh one may try.
        return await self._begin(await self._client.open(self._origin))

    async def _begin(self, link: Link) -> Response:
        try:
            link.send(self._head, self._body, self._idle)
            await link.head()
        except HttpError as error:
            link.abort()
            error.sent, error.received = True, link.received
            raise
        except BaseException:
            link.abort()
            raise
        self._link = link
        self._response = Response(link)
        return self._response

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        link, response = self._link, self._response
        assert link is not None and link.reader is not None and response is not None
        if kind is None and response.lingering and not link.reader.ended and link.error is None:
            self._client.drain(self._origin, link)
        elif link.release():
            self._client.keep(self._origin, link)


class Client:
    """A pool of connections. `env` names proxies (HTTPS_PROXY, NO_PROXY) and authorities (SSL_CERT_FILE, SSL_CERT_DIR).

    `idle` is the longest silence in seconds while sending or receiving. Bound to the loop that uses it first.
    """

    def __init__(
        self, env: Mapping[str, str], *, idle: float = IDLE_SECONDS, connect_timeout: float = CONNECT_SECONDS
    ) -> None:
        self._env = env
        self._idle = idle
        self._connect_timeout = connect_timeout
        self._free: dict[Origin, list[Link]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._warming: dict[Origin, asyncio.Task[Link]] = {}
        self._tls: tuple[ssl.SSLContext, bool] | None = None
        self._closed = False

    def stream(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None, *, idle: float | None = None
    ) -> Exchange:
        """Send one request; `async with` gives its Response. Raises HttpError on entry, or here for a bad request."""
        origin, target = _split(url)
        name = f"[{origin.host}]" if ":" in origin.host else origin.host
        default = 443 if origin.scheme == "https" else 80
        lines = [f"{method} {target} HTTP/1.1", f"Host: {name}" + ("" if origin.port == default else f":{origin.port}")]
        for key, value in headers.items():
            if any(c in "\r\n\0" for c in key + value) or not key.isascii() or ":" in key:
                raise ProtocolError(f"the header {key!r} holds characters that may not be sent")
            lines.append(f"{key}: {value}")
        if body is not None:
            lines.append(f"Content-Length: {len(body)}")
        try:
            head = "\r\n".join([*lines, "", ""]).encode("latin-1")
        except UnicodeEncodeError:
            raise ProtocolError("a header holds characters that may not be sent") from None
        return Exchange(self, origin, head, body or b"", self._idle if idle is None else idle)

    def warm(self, url: str) -> None:
        """Begin to connect, so that the first request finds a connection. Never raises; sends no request."""
        try:
            origin, _ = _split(url)
        except ProtocolError:
            return
        if origin not in self._warming and not self._free.get(origin):
            self._warming[origin] = asyncio.create_task(self._connect(origin))

    def kept(self, origin: Origin) -> Link | None:
        """An idle connection that is still open, the youngest first."""
        free = self._free.get(origin, [])
        while free:
            link = free.pop()
            if link.fresh():
                return link
        return None

    def keep(self, origin: Origin, link: Link) -> None:
        """Take back a connection after a whole exchange."""
        free = self._free.setdefault(origin, [])
        free[:] = [other for other in free if other.open]
        if self._closed or len(free) >= POOL:
            link.abort()
        else:
            free.append(link)

    def drain(self, origin: Origin, link: Link) -> None:
        """Read the end of a response that nobody wants, briefly, and keep the connection if it was short."""

        async def run() -> None:
            taken = 0
            try:
                async with asyncio.timeout(LINGER_SECONDS):
                    while taken < LINGER_BYTES and (data := await link.read()):
                        taken += len(data)
            except (HttpError, TimeoutError):
                pass
            finally:
                if link.release():
                    self.keep(origin, link)

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def open(self, origin: Origin) -> Link:
        """A fresh connection, or the one that `warm` began. Raises HttpError."""
        warming = self._warming.pop(origin, None)
        if warming is not None:
            try:
                link = await warming
                if link.open:
                    return link
            except HttpError:
                pass  # connect again: a failed head start reports nothing
            except BaseException:
                warming.cancel()
                raise
        return await self._connect(origin)

    async def _connect(self, origin: Origin) -> Link:
        try:
            async with asyncio.timeout(self._connect_timeout):
                return await self._dial(origin)
        except TimeoutError:
            raise ConnectFailed(
                f"cannot connect to {origin.host}:{origin.port}: no answer within {self._connect_timeout:g} s"
            ) from None

    async def _dial(self, origin: Origin) -> Link:
        from agenyx.llm.http_dial import connect

        loop = asyncio.get_running_loop()
        host, port = origin.host, origin.port
        if origin.scheme == "http":
            sock = await connect(host, port, self._env, tls=False)
            return (await loop.create_connection(lambda: Link(loop), sock=sock))[1]
        import ssl

        from agenyx.llm import http_tls

        if self._tls is None:
            self._tls = http_tls.context(self._env)
        context, again = self._tls
        sock = await connect(host, port, self._env, tls=True)
        try:
            return (await loop.create_connection(lambda: Link(loop), sock=sock, ssl=context, server_hostname=host))[1]
        except ssl.SSLCertVerificationError as error:
            if not again:
                raise http_tls.explain(error, host) from error
        except ssl.SSLError as error:
            raise http_tls.explain(error, host) from error
        except OSError as error:
            raise ConnectFailed(f"{host}:{port} broke off the TLS handshake: {error}") from error
        self._tls = http_tls.context(self._env, whole=True)
        return await self._dial(origin)

    async def settle(self) -> None:
        """Wait until no response is drained in the background any more."""
        await asyncio.gather(*self._tasks)

    async def close(self) -> None:
        """Close every connection that no exchange uses. Running exchanges are their callers' business."""
        self._closed = True
        for task in (*self._tasks, *self._warming.values()):
            task.cancel()
        await asyncio.gather(*self._tasks, *self._warming.values(), return_exceptions=True)
        for task in self._warming.values():
            if not task.cancelled() and task.exception() is None:
                task.result().abort()
        self._warming.clear()
        for free in self._free.values():
            for link in free:
                link.abort()
        self._free.clear()


def _split(url: str) -> tuple[Origin, str]:
    try:
        parts = urlsplit(url)
        host, number = parts.hostname or "", parts.port
        if not host.isascii():
            host = host.encode("idna").decode("ascii")
    except ValueError:
        raise ProtocolError(f"{url!r} is not an address") from None
    if parts.scheme not in ("http", "https") or not host or parts.username is not None:
        raise ProtocolError(f"{url!r} is not an http(s) address")
    if parts.scheme == "http" and not (host in ("localhost", "::1") or _loopback(host)):
        raise ProtocolError(f"plain http to {host} would send everything unencrypted; use https")
    target = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    if parts.query:
        target += "?" + quote(parts.query, safe="/%:@!$&'()*+,;=~-._?")
    return Origin(parts.scheme, host, number or (443 if parts.scheme == "https" else 80)), target


def _loopback(host: str) -> bool:
    parts = host.split(".")
    return len(parts) == 4 and parts[0] == "127" and all(p.isdigit() and len(p) <= 3 for p in parts)

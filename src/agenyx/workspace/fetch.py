"""Fetches one web page: its host is resolved once, its addresses are checked, and only they are connected to.

Sends no credential, no cookie and no referrer; uses no proxy. What it must not know: tools, Markdown, policy.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from agenyx.core.errors import AgenyxError
from agenyx.llm.http_errors import HttpError, TlsFailed
from agenyx.llm.http_link import Link
from agenyx.llm.http_names import look_up
from agenyx.workspace.addresses import Address, follow, public, same_site

if TYPE_CHECKING:
    import ssl

SECONDS = 30.0
BYTES = 5 << 20
REDIRECTS = 5
_MOVED = (301, 302, 303, 307, 308)
_HEADERS = (
    "User-Agent: agenyx",
    "Accept: text/markdown, text/html;q=0.9, text/plain;q=0.8, */*;q=0.1",
    "Accept-Encoding: gzip, identity",
    "Connection: close",
)

Found = tuple[int, str]  # address family, numeric address
Resolve = Callable[[str], Awaitable[list[Found]]]


class FetchError(AgenyxError):
    """The page could not be fetched."""


class Page(Struct, frozen=True):
    """What came. `kind` is the media type in lower case, `charset` as declared; `cut` says that the body goes on."""

    address: Address
    status: int
    kind: str
    charset: str
    body: bytes
    cut: bool


class Moved(Struct, frozen=True):
    """The page lies with another host, which was not asked."""

    address: Address
    to: str


class Fetcher:
    """`allowed` judges numeric addresses; `resolve` finds those of a name; `tls` replaces the system's authorities."""

    def __init__(
        self,
        allowed: Callable[[str], bool] = public,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._allowed, self._resolve, self._tls, self._seconds = allowed, resolve or _resolve, tls, seconds

    async def fetch(self, address: Address, wanted: Callable[[str], bool] = lambda kind: True) -> Page | Moved:
        """Get a page. Of a media type that is not `wanted` the body is not read. Raises FetchError, AddressError."""
        try:
            async with asyncio.timeout(self._seconds):
                pinned = await self._pinned(address)
                for _ in range(REDIRECTS + 1):
                    page, location = await self._get(address, pinned, wanted)
                    if not location:
                        return page
                    after = follow(address, location)
                    if not same_site(address, after):
                        return Moved(address, after.url)
                    address = after
        except TimeoutError:
            raise FetchError(
                f"{address.host} gave no whole answer within {self._seconds:g} seconds", "Try again later."
            ) from None
        raise FetchError(f"{address.host} redirected more than {REDIRECTS} times", "Give another address.")

    async def _pinned(self, address: Address) -> list[Found]:
        try:
            found = await self._resolve(address.host)
        except OSError as error:
            raise FetchError(
                f"the name {address.host} was not found: {_reason(error)}", "Check the address."
            ) from error
        if not found or not all(self._allowed(number) for _, number in found):
            raise FetchError(
                f"{address.host} leads to this machine or a private network, which WebFetch does not reach",
                "Use the shell if that is what you mean.",
            )
        return found

    async def _get(self, address: Address, pinned: list[Found], wanted: Callable[[str], bool]) -> tuple[Page, str]:
        """One request; the page, and where it redirects to, if it does."""
        try:
            link = await self._connect(address, pinned)
            try:
                link.send(_head(address), b"", self._seconds)
                await link.head()
                assert link.reader is not None
                status, headers = link.reader.status, link.reader.headers
                kind, charset = _media(headers.get("content-type", ""))
                location = headers.get("location", "") if status in _MOVED else ""
                body, cut = b"", False
                if not location and wanted(kind):
                    body, cut = await _body(link, headers.get("content-encoding", "").strip().lower())
            finally:
                link.abort()
        except TlsFailed as error:
            raise FetchError(error.message, error.hint) from error
        except HttpError as error:
            raise FetchError(f"{address.host}: {error.message}", "Try again, or give another address.") from error
        return Page(address, status, kind, charset, body, cut), location

    async def _connect(self, address: Address, pinned: list[Found]) -> Link:
        loop, failed = asyncio.get_running_loop(), ""
        for family, number in pinned:
            sock = socket.socket(family, socket.SOCK_STREAM)
            try:
                sock.setblocking(False)
                # Each address gets its share of the time, so that one that is silent does not use up all of it.
                async with asyncio.timeout(max(1.0, self._seconds / (len(pinned) + 1))):
                    await loop.sock_connect(sock, (number, address.port))
            except (OSError, TimeoutError) as error:
                sock.close()
                failed = _reason(error) if str(error) else "no answer"
                continue
            except BaseException:
                sock.close()
                raise
            return await self._secured(address, sock)
        raise FetchError(f"cannot connect to {address.host}:{address.port}: {failed}", "Try again later.")

    async def _secured(self, address: Address, sock: socket.socket) -> Link:
        loop = asyncio.get_running_loop()
        if address.scheme == "http":
            return (await loop.create_connection(lambda: Link(loop), sock=sock))[1]
        import ssl

        from agenyx.llm import http_tls

        context = self._tls or http_tls.context({}, whole=True)[0]
        try:
            return (
                await loop.create_connection(lambda: Link(loop), sock=sock, ssl=context, server_hostname=address.host)
            )[1]
        except ssl.SSLError as error:
            raise http_tls.explain(error, address.host) from error
        except OSError as error:
            raise FetchError(f"{address.host} broke off the TLS handshake: {_reason(error)}", "Try again.") from error


def _head(address: Address) -> bytes:
    host = f"[{address.host}]" if ":" in address.host else address.host
    port = "" if address.port == {"http": 80, "https": 443}[address.scheme] else f":{address.port}"
    lines = (f"GET {address.target} HTTP/1.1", f"Host: {host}{port}", *_HEADERS, "", "")
    return "\r\n".join(lines).encode("ascii")


async def _body(link: Link, encoding: str) -> tuple[bytes, bool]:
    """The decoded body, at most BYTES of it, and whether it goes on."""
    unpack = None
    if encoding in ("gzip", "x-gzip"):
        import zlib

        unpack = zlib.decompressobj(wbits=31)
    elif encoding not in ("", "identity"):
        raise FetchError(f"the page is packed with {encoding[:40]!r}, which was not asked for", "Give another address.")
    body, raw = bytearray(), 0
    while data := await link.read():
        raw += len(data)
        if unpack is not None:
            try:
                data = unpack.decompress(data, BYTES + 1 - len(body))
            except Exception as error:  # zlib.error, which is not loaded by name here
                raise FetchError("the page is damaged: it cannot be unpacked", "Try again.") from error
        body += data
        if len(body) > BYTES or raw > BYTES:
            return bytes(body[:BYTES]), True
    return bytes(body), False


def _media(header: str) -> tuple[str, str]:
    kind, *parameters = header.split(";")
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return kind.strip().lower(), value.strip().strip("\"'").lower()
    return kind.strip().lower(), ""


async def _resolve(host: str) -> list[Found]:
    """The addresses of a host by the system's resolver. Raises OSError."""
    return list(dict.fromkeys((family, str(address[0])) for family, address in await look_up(host, None)))


def _reason(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__

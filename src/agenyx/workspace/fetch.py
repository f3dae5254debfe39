"""Fetches one web page: redirects within its host, one request a hop, the body unpacked and cut.

Sends no credential, no cookie and no referrer. How a host is reached lies in `route`. What it must not know: tools,
Markdown, policy.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from agenyx.llm.http_errors import HttpError, ProxyRefused, TlsFailed
from agenyx.llm.http_link import Link
from agenyx.workspace.addresses import Address, follow, same_site
from agenyx.workspace.reach import reach, standing
from agenyx.workspace.route import FetchError, Judge, Resolve, Route, Router

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
_KIND = re.compile(r"[a-z0-9][a-z0-9!#$&^_.+-]{0,63}/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}")
_CHARSET = re.compile(r"[a-z0-9][a-z0-9_.:+-]{0,39}")


class Page(Struct, frozen=True):
    """What came. `kind` is the media type in lower case, `charset` as declared; `cut` says that the body goes on."""

    address: Address
    status: int
    kind: str
    charset: str
    body: bytes
    cut: bool


class Moved(Struct, frozen=True):
    """The page lies with another host, which was not asked. `words` says what is special about it, "" for the web."""

    address: Address
    to: str
    words: str = ""


class Fetcher:
    """The parameters are those of `route.Router`; `seconds` limits the whole of a fetch."""

    def __init__(
        self,
        judge: Judge = reach,
        resolve: Resolve | None = None,
        env: Mapping[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
        seconds: float = SECONDS,
    ) -> None:
        self._router, self._env, self._seconds = Router(judge, resolve, env, tls, seconds), env or {}, seconds

    async def fetch(
        self, address: Address, wanted: Callable[[str], bool] = lambda kind: True, approved: bool = False
    ) -> Page | Moved:
        """Get a page. Of a media type that is not `wanted` the body is not read.

        `approved`: a person said yes to this host as one of this machine or its network. Raises FetchError and
        AddressError.
        """
        try:
            async with asyncio.timeout(self._seconds):
                route = await self._router.route(address, approved)
                for _ in range(REDIRECTS + 1):
                    page, location = await self._get(address, route, wanted)
                    if not location:
                        return page
                    after = follow(address, location)
                    if not same_site(address, after):
                        kind, words = standing(after.host)
                        if kind == "never":
                            raise FetchError(
                                f"{address.host} redirects to {after.host}, which is {words} and never reached",
                                "Do not go there by another way.",
                            )
                        return Moved(address, after.url, words)
                    if after.scheme != address.scheme and route.proxy is not None:
                        route = await self._router.route(after, approved)  # each scheme has a proxy of its own
                    address = after
        except TimeoutError:
            raise FetchError(
                f"{address.host} gave no whole answer within {self._seconds:g} seconds", "Try again later."
            ) from None
        raise FetchError(f"{address.host} redirected more than {REDIRECTS} times", "Give another address.")

    async def _get(self, address: Address, route: Route, wanted: Callable[[str], bool]) -> tuple[Page, str]:
        """One request; the page, and where it redirects to, if it does."""
        try:
            link = await self._router.connect(address, route)
            try:
                link.send(_head(address, route), b"", self._seconds)
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
        except (TlsFailed, ProxyRefused) as error:
            raise FetchError(error.message, error.hint) from error
        except HttpError as error:
            raise FetchError(f"{address.host}: {error.message}", "Try again, or give another address.") from error
        return Page(address, status, kind, charset, body, cut), location


def _head(address: Address, route: Route) -> bytes:
    target, more = address.target, tuple[str, ...]()
    if route.proxy is not None and address.scheme == "http":
        target = address.url
        if route.proxy.credentials:
            import base64

            token = base64.b64encode(route.proxy.credentials.encode()).decode()
            more = (f"Proxy-Authorization: Basic {token}",)
    lines = (f"GET {target} HTTP/1.1", f"Host: {address.authority}", *_HEADERS, *more, "", "")
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
    """The media type and the charset; "" for what is none, so that a header cannot hold a message."""
    kind, *parameters = header.lower().split(";")
    kind, charset = kind.strip(), ""
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "charset":
            charset = value.strip().strip("\"'")
            break
    return kind if _KIND.fullmatch(kind) else "", charset if _CHARSET.fullmatch(charset) else ""

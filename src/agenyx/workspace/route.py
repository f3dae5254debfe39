"""Ways to a web host: its name is resolved once, what it stands for is checked, and only that is connected to.

Owns the choice between a direct connection and the environment's proxy. Knows no request and no redirect.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from agenyx.core.errors import AgenyxError
from agenyx.llm import http_dial
from agenyx.llm.http_errors import HttpError, ProxyRefused
from agenyx.llm.http_link import Link
from agenyx.llm.http_names import look_up
from agenyx.llm.http_proxy import Proxy, proxy_for
from agenyx.workspace.addresses import Address
from agenyx.workspace.reach import Reach, is_machine, is_number, reach, standing

if TYPE_CHECKING:
    import ssl

Found = tuple[int, str]
"""Address family, numeric address."""
Resolve = Callable[[str], Awaitable[list[Found]]]
Judge = Callable[[str], tuple[Reach, str]]

PROXY_LOOKUP = 3.0  # seconds; behind a proxy the name server here may not know the web, and may not even say so
_LOOPBACK: list[Found] = [(int(socket.AF_INET), "127.0.0.1"), (int(socket.AF_INET6), "::1")]


class FetchError(AgenyxError):
    """The page could not be fetched."""


class Route(Struct, frozen=True):
    """How a host is reached for all hops: by the checked addresses, or by the proxy, which finds it by its name."""

    pinned: tuple[Found, ...] = ()
    proxy: Proxy | None = None


class Router:
    """`judge` judges numeric addresses, `resolve` finds those of a name, `env` names proxies and authorities,
    `tls` replaces the authorities, `seconds` is the time that a connection may take.
    """

    def __init__(
        self,
        judge: Judge = reach,
        resolve: Resolve | None = None,
        env: Mapping[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
        seconds: float = 30.0,
    ) -> None:
        self._judge, self._resolve, self._env = judge, resolve or _resolve, env or {}
        self._tls, self._seconds = tls, seconds

    async def route(self, address: Address, approved: bool) -> Route:
        """Find the way to a host. `approved`: a person said yes to it as one of this machine or its network.

        Raises FetchError where a host, or one of its addresses, is not to be reached.
        """
        host = address.host
        kind, words = standing(host)
        if kind == "never":
            raise FetchError(f"{host} is {words}, which is never reached", "Give another address.")
        if kind == "private" and not approved:
            raise FetchError(f"{host} is {words}, which WebFetch does not reach unasked", "Use the shell instead.")
        if is_number(host):
            return Route(((int(socket.AF_INET6 if ":" in host else socket.AF_INET), host),))
        if kind == "private":  # neither by a proxy: it would look in its own network
            return Route(tuple(_LOOPBACK)) if is_machine(host) else await self._direct(host, private=True)
        proxy = self._proxy(address)
        if proxy is None:
            return await self._direct(host)
        try:
            async with asyncio.timeout(PROXY_LOOKUP):
                found = await self._resolve(host)
        except (OSError, TimeoutError):
            found = []
        self._check(host, found)
        return Route(proxy=proxy)

    async def _direct(self, host: str, private: bool = False) -> Route:
        try:
            found = await self._resolve(host)
        except OSError as error:
            raise FetchError(f"the name {host} was not found: {reason(error)}", "Check the address.") from error
        if not found:
            raise FetchError(f"the name {host} has no address", "Check the address.")
        self._check(host, found, private)
        return Route(tuple(found))

    def _check(self, host: str, found: list[Found], private: bool = False) -> None:
        """All answers count: one that is not public makes the name one of somebody's network."""
        for _, number in found:
            kind, words = self._judge(number)
            if kind == "never" or (kind == "private" and not private):
                raise FetchError(
                    f"{host} leads to {number[:60]}, {words}, which WebFetch does not reach by that name",
                    "Use the shell if that is what you mean.",
                )

    def _proxy(self, address: Address) -> Proxy | None:
        env, name = self._env, "HTTPS_PROXY"
        if address.scheme == "http":
            name = "HTTP_PROXY"
            proxy = next((env[key] for key in ("http_proxy", name) if env.get(key, "").strip()), "")
            env = {key: value for key, value in env.items() if key.lower() != "https_proxy"}
            env |= {"HTTPS_PROXY": proxy} if proxy else {}
        try:
            return proxy_for(address.host, address.port, env)
        except ProxyRefused as error:
            fix = f"Set {name} to http://host:port, or add {address.host} to NO_PROXY."
            raise FetchError("the environment's proxy is not an HTTP proxy that can be used", fix) from error

    async def connect(self, address: Address, route: Route) -> Link:
        """A connection that is ready for a request. Raises FetchError and HttpError."""
        if route.proxy is None:
            return await self._secured(address, await self._reached(address, route))
        if address.scheme == "http":  # asked for the page itself: most proxies tunnel to port 443 only
            sock = await _to_proxy(route.proxy)
        else:
            sock = await http_dial.connect(address.host, address.port, self._env, tls=True)
        return await self._secured(address, sock)

    async def _reached(self, address: Address, route: Route) -> socket.socket:
        loop, failed = asyncio.get_running_loop(), ""
        for family, number in route.pinned:
            try:
                sock = socket.socket(family, socket.SOCK_STREAM)
            except OSError as error:  # a system without IPv6
                failed = failed or reason(error)
                continue
            try:
                sock.setblocking(False)
                # Each address gets its share of the time, so that one that is silent does not use up all of it.
                async with asyncio.timeout(max(1.0, self._seconds / (len(route.pinned) + 1))):
                    await loop.sock_connect(sock, (number, address.port))
            except (OSError, TimeoutError) as error:
                sock.close()
                failed = failed or (reason(error) if str(error) else "no answer")
                continue
            except BaseException:
                sock.close()
                raise
            return sock
        raise FetchError(f"cannot connect to {address.host}:{address.port}: {failed}", "Try again later.")

    async def _secured(self, address: Address, sock: socket.socket) -> Link:
        loop = asyncio.get_running_loop()
        if address.scheme == "http":
            return (await loop.create_connection(lambda: Link(loop), sock=sock))[1]
        import ssl

        from agenyx.llm import http_tls

        try:
            context = self._tls or http_tls.context(self._env, whole=True)[0]
            # The certificate has to be for the name, whichever address it was found at.
            made = loop.create_connection(lambda: Link(loop), sock=sock, ssl=context, server_hostname=address.host)
            return (await made)[1]
        except ssl.SSLError as error:
            raise http_tls.explain(error, address.host) from error
        except OSError as error:
            raise FetchError(f"{address.host} broke off the TLS handshake: {reason(error)}", "Try again.") from error
        except HttpError:
            sock.close()
            raise


async def _to_proxy(proxy: Proxy) -> socket.socket:
    return await http_dial.connect(proxy.host, proxy.port, {}, tls=False)


async def _resolve(host: str) -> list[Found]:
    """The addresses of a host by the system's resolver. Raises OSError."""
    return list(dict.fromkeys((family, str(address[0])) for family, address in await look_up(host, None)))


def reason(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__

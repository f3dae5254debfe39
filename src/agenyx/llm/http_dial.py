"""Opens connections: names to addresses, a race of addresses, the CONNECT of a proxy. Sends no request."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping

from agenyx.llm.http_errors import ConnectFailed, ProtocolError, ProxyRefused
from agenyx.llm.http_names import SocketAddress, look_up
from agenyx.llm.http_proxy import Proxy, proxy_for

STAGGER = 0.25  # seconds before the next address is tried beside one that does not answer (RFC 8305)
_PROXY_HEAD = 16 * 1024


async def connect(host: str, port: int, env: Mapping[str, str], *, tls: bool) -> socket.socket:
    """A connected non-blocking socket to the host, through the environment's proxy if there is one (https only).

    Raises ConnectFailed, ProxyRefused and ProtocolError; sets no deadline of its own.
    """
    proxy = proxy_for(host, port, env) if tls else None
    if proxy is None:
        return await _reach(host, port)
    sock = await _reach(proxy.host, proxy.port, "the proxy ")
    try:
        await _tunnel(sock, proxy, f"[{host}]:{port}" if ":" in host else f"{host}:{port}")
    except OSError as error:
        sock.close()
        raise ConnectFailed(f"the proxy {proxy.host}:{proxy.port} broke off: {_reason(error)}") from error
    except BaseException:
        sock.close()
        raise
    return sock


def _reason(error: OSError) -> str:
    return error.strerror or str(error) or type(error).__name__


async def _reach(host: str, port: int, what: str = "") -> socket.socket:
    try:
        addresses = await _resolve(host, port)
        return await _race(addresses)
    except OSError as error:
        refused = isinstance(error, ConnectionRefusedError)
        message = f"cannot connect to {what}{host}:{port}: {_reason(error)}"
        raise ConnectFailed(message, refused=refused, proxy=bool(what)) from error


async def _resolve(host: str, port: int) -> list[SocketAddress]:
    if host == "localhost":  # never asked of a name server: plain http may go there
        return [(socket.AF_INET, ("127.0.0.1", port)), (socket.AF_INET6, ("::1", port))]
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
            return [(family, (host, port))]
        except OSError:
            continue
    return _interleave(await look_up(host, port))


def _interleave(addresses: list[SocketAddress]) -> list[SocketAddress]:
    """Alternate the families, the resolver's first choice first."""
    first = [a for a in addresses if a[0] == addresses[0][0]]
    others = [a for a in addresses if a[0] != addresses[0][0]]
    mixed: list[SocketAddress] = []
    while first or others:
        mixed += first[:1] + others[:1]
        del first[:1], others[:1]
    return mixed


async def _attempt(address: SocketAddress) -> socket.socket:
    family, target = address
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        await asyncio.get_running_loop().sock_connect(sock, target)
    except BaseException:
        sock.close()
        raise
    return sock


async def _race(addresses: list[SocketAddress]) -> socket.socket:
    """The first address that answers; each gets a head start. Raises the first error when all fail."""
    if len(addresses) == 1:
        return await _attempt(addresses[0])
    waiting = list(addresses)
    running: set[asyncio.Task[socket.socket]] = set()
    failed: OSError | None = None
    try:
        while waiting or running:
            if waiting:
                running.add(asyncio.create_task(_attempt(waiting.pop(0))))
            done, running = await asyncio.wait(
                running, timeout=STAGGER if waiting else None, return_when=asyncio.FIRST_COMPLETED
            )
            for task in done:
                error = task.exception()
                if error is None:
                    done.discard(task)
                    running |= done  # also connected: closed below
                    return task.result()
                if not isinstance(error, OSError):
                    raise error
                failed = failed or error
    finally:
        for task in running:
            task.add_done_callback(_discard)
            task.cancel()
    raise failed or OSError("the name has no address")


def _discard(task: asyncio.Task[socket.socket]) -> None:
    if not task.cancelled() and task.exception() is None:
        task.result().close()


async def _tunnel(sock: socket.socket, proxy: Proxy, target: str) -> None:
    loop = asyncio.get_running_loop()
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    if proxy.credentials:
        import base64

        token = base64.b64encode(proxy.credentials.encode()).decode()
        lines.append(f"Proxy-Authorization: Basic {token}")
    await loop.sock_sendall(sock, "\r\n".join([*lines, "", ""]).encode("latin-1", "replace"))
    head = b""
    while b"\r\n\r\n" not in head:
        part = await loop.sock_recv(sock, 4096)
        head += part
        if not part or len(head) > _PROXY_HEAD or not head.startswith(b"HTTP/1."[: len(head)]):
            raise ProtocolError(f"the proxy {proxy.host}:{proxy.port} gave no answer that is HTTP: {head[:40]!r}")
    status = head[9:12]
    if not status.startswith(b"2"):
        code = status[:3].decode("ascii", "replace")
        hint = (
            "Put user and password into HTTPS_PROXY (http://user:password@host:port)."
            if code == "407"
            else "Ask for access, or add the host to NO_PROXY if it can be reached directly."
        )
        raise ProxyRefused(f"the proxy {proxy.host}:{proxy.port} refused {target} with status {code}", hint)
    if not head.endswith(b"\r\n\r\n"):
        raise ProtocolError(f"the proxy {proxy.host}:{proxy.port} sent bytes of its own into the connection")

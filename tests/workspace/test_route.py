"""Fetching through a proxy: it is found by the environment, and asked for nothing that is not of the web."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
import trustme

from agenyx.workspace import route
from agenyx.workspace.addresses import AddressError, parse
from agenyx.workspace.fetch import Fetcher
from agenyx.workspace.reach import Reach, reach
from agenyx.workspace.route import FetchError, Found
from support.raw_server import RawServer, plain


def web(number: str) -> tuple[Reach, str]:
    """Whatever was found stands for an address of the web."""
    return "public", ""


def finds(number: str) -> Callable[[str], Any]:
    async def names(host: str) -> list[Found]:
        return [(int(socket.AF_INET), number)]

    return names


class Proxies:
    """A proxy that serves a CONNECT from `upstream` and every other request itself; `lines` is what it was asked."""

    def __init__(self, upstream: int) -> None:
        self.upstream, self.lines, self.heads = upstream, list[str](), list[str]()

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.lines.append(asked.partition("\r\n")[0])
        self.heads.append(asked)
        if not asked.startswith("CONNECT"):
            writer.write(plain(200, b"by the proxy", kind="text/plain"))
            writer.close()
            return
        there, back = await asyncio.open_connection("127.0.0.1", self.upstream)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            with suppress(OSError):
                while data := await source.read(65536):
                    sink.write(data)
                    await sink.drain()
            sink.close()

        await asyncio.gather(pump(reader, back), pump(there, writer))


def proxied(
    url: str, upstream: int, names: Callable[[str], Any], *, judge: Any = reach, **more: Any
) -> tuple[Any, Proxies]:
    """Fetch with a proxy in the environment; what came (or the error), and the proxy."""

    async def main() -> tuple[Any, Proxies]:
        proxy = Proxies(upstream)
        async with await asyncio.start_server(proxy, "127.0.0.1", 0) as listener:
            port = listener.sockets[0].getsockname()[1]
            env = {"HTTPS_PROXY": f"http://me:word@127.0.0.1:{port}", "http_proxy": f"127.0.0.1:{port}"}
            fetcher = Fetcher(judge, names, env | more.pop("env", {}), more.pop("tls", None))
            try:
                return await fetcher.fetch(parse(url), **more), proxy
            except (FetchError, AddressError) as error:
                return error, proxy

    return asyncio.run(main())


async def unknown(host: str) -> list[Found]:
    raise socket.gaierror(-2, "Name or service not known")


def test_https_goes_through_the_proxy_by_name_and_the_certificate_is_checked() -> None:
    authority, context = trustme.CA(), ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("page.example").configure_cert(context)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with RawServer([[plain(200, b"secure")]], context) as server:
        got, proxy = proxied("https://page.example/x?y", server.port, unknown, tls=trusting)
        assert got.body == b"secure" and proxy.lines == ["CONNECT page.example:443 HTTP/1.1"]
        assert "proxy-authorization: basic" in proxy.heads[0].lower()
        assert "proxy-authorization" not in server.requests[0].head.decode().lower()
        got, _ = proxied("https://other.example/", server.port, unknown, tls=trusting)
        assert "certificate of other.example" in got.message


def test_http_is_asked_of_the_proxy_itself() -> None:
    got, proxy = proxied("http://page.example/x?y", 1, unknown)
    assert got.body == b"by the proxy" and proxy.lines == ["GET http://page.example/x?y HTTP/1.1"]
    assert "\r\nHost: page.example\r\n" in proxy.heads[0]


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/",
        "https://metadata.google.internal/",
        "http://10.0.0.1/",
        "http://127.0.0.1/",
        "http://localhost/",
        "https://wiki/",
        "http://0x7f.1/",
        "http://[::ffff:a9fe:a9fe]/",
    ],
)
def test_a_proxy_is_not_asked_for_what_is_refused_by_its_spelling(url: str) -> None:
    got, proxy = proxied(url, 1, unknown)
    assert isinstance(got, FetchError | AddressError) and proxy.lines == []


@pytest.mark.parametrize("number", ["10.0.0.1", "127.0.0.1", "169.254.169.254"])
def test_a_name_that_leads_to_a_private_network_here_is_not_asked_of_the_proxy(number: str) -> None:
    got, proxy = proxied("https://page.example/", 1, finds(number))
    assert f"page.example leads to {number}" in got.message and proxy.lines == []


def test_a_name_server_that_is_silent_does_not_hold_up_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route, "PROXY_LOOKUP", 0.05)

    async def silent(host: str) -> list[Found]:
        await asyncio.Event().wait()
        raise AssertionError

    got, _ = proxied("http://page.example/", 1, silent)
    assert got.body == b"by the proxy"


def test_what_no_proxy_names_and_what_is_on_this_machine_goes_directly() -> None:
    with RawServer([[plain(200, b"direct")]]) as server:
        got, proxy = proxied(
            f"http://page.example:{server.port}/", 1, finds("127.0.0.1"), judge=web, env={"NO_PROXY": ".example"}
        )
        assert got.body == b"direct" and proxy.lines == []
        got, proxy = proxied(f"http://localhost:{server.port}/", 1, unknown, approved=True)
        assert got.body == b"direct" and proxy.lines == []


def test_a_proxy_of_another_kind_is_told() -> None:
    got, _ = proxied("https://page.example/", 1, unknown, env={"HTTPS_PROXY": "socks5://127.0.0.1:1"})
    assert "not an HTTP proxy" in got.message and "Set HTTPS_PROXY to http://host:port" in got.fix
    got, _ = proxied("http://page.example/", 1, unknown, env={"http_proxy": "socks5://127.0.0.1:1"})
    assert "Set HTTP_PROXY to http://host:port" in got.fix

"""Fetching from real servers on the loopback, which stand for the web: the check of addresses is given by the test."""

from __future__ import annotations

import asyncio
import gzip
import socket
import ssl
import threading
from collections.abc import Callable
from typing import Any

import pytest
import trustme

from agenyx.workspace.addresses import AddressError, parse
from agenyx.workspace.fetch import BYTES, Fetcher, FetchError, Found, Moved, Page
from support.raw_server import CLIENT_GONE, CLOSE, FLOOD, RESET, RawServer, Until, chunk, head, plain

HERE: list[Found] = [(int(socket.AF_INET), "127.0.0.1")]


class Names:
    """A resolver that knows its names by heart and remembers what it was asked."""

    def __init__(self, *answers: list[Found]) -> None:
        self.answers, self.asked = list(answers) or [HERE], list[str]()

    async def __call__(self, host: str) -> list[Found]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def anything(number: str) -> bool:
    return True


def fetch(
    url: str,
    names: Names | None = None,
    allowed: Callable[[str], bool] = anything,
    wanted: Callable[[str], bool] = anything,
    **more: Any,
) -> Page | Moved:
    fetcher = Fetcher(allowed, names or Names(), **more)
    return asyncio.run(fetcher.fetch(parse(url), wanted))


def page(url: str, *args: Any, **more: Any) -> Page:
    found = fetch(url, *args, **more)
    assert isinstance(found, Page)
    return found


def at(server: RawServer, path: str = "/", host: str = "page.example") -> str:
    return f"http://{host}:{server.url.split('//')[1].partition('/')[0].rpartition(':')[2]}{path}"


def test_a_page_and_what_is_sent_for_it() -> None:
    with RawServer([[plain(200, b"hello", kind='Text/HTML; charset="UTF-8"')]]) as server:
        got = page(at(server, "/a?b=c#d"))
        assert (got.status, got.kind, got.charset, got.body, got.cut) == (200, "text/html", "utf-8", b"hello", False)
        sent = server.requests[0].head.decode().lower()
        assert sent.startswith("get /a?b=c http/1.1\r\nhost: page.example:")
        for header in ("cookie", "authorization", "referer", "origin"):
            assert f"\n{header}:" not in sent


def test_chunks_gzip_and_bodies_that_end_with_the_connection() -> None:
    packed = gzip.compress(b"text " * 1000)
    replies = [
        [
            head(200, "Content-Type: text/plain", "Transfer-Encoding: chunked")
            + chunk(b"one ")
            + chunk(b"two")
            + chunk(b"")
        ],
        [plain(200, packed, "Content-Encoding: gzip", kind="text/plain")],
        [head(200, "Content-Type: text/plain") + b"until the end", CLOSE],
    ]
    with RawServer(replies) as server:
        assert page(at(server)).body == b"one two"
        assert page(at(server)).body == b"text " * 1000
        assert page(at(server)).body == b"until the end"


@pytest.mark.parametrize("refused", [{"10.0.0.1"}, {"127.0.0.1"}])
def test_one_address_of_a_name_that_is_not_public_refuses_the_name(refused: set[str]) -> None:
    names = Names([*HERE, (int(socket.AF_INET), "10.0.0.1")])
    with RawServer([[plain(200, b"secret")]]) as server:
        with pytest.raises(FetchError, match="private network"):
            fetch(at(server), names, lambda number: number not in refused)
        assert server.requests == []


def test_by_default_the_loopback_is_not_reached() -> None:
    with RawServer([[plain(200, b"secret")]]) as server:
        for url in (
            server.url,
            at(server, host="127.0.0.1"),
            at(server, host="[::1]"),
            at(server, host="[::ffff:7f00:1]"),
        ):
            with pytest.raises((FetchError, AddressError)):
                asyncio.run(Fetcher().fetch(parse(url)))
        with pytest.raises(FetchError, match="private network"):
            asyncio.run(Fetcher(resolve=Names()).fetch(parse(at(server))))
        assert server.requests == []


def test_a_name_is_resolved_once_for_all_hops_of_a_host() -> None:
    """A name server that gives another answer the second time (DNS rebinding) is not asked a second time."""
    names = Names(HERE, [(int(socket.AF_INET), "10.0.0.1")])
    with RawServer([[plain(302, b"", "Location: /next")], [plain(200, b"there")]]) as server:
        got = page(at(server, "/first"), names)
        assert got.body == b"there" and got.address.target == "/next"
        assert names.asked == ["page.example"] and [seen.line for seen in server.requests][1].startswith("GET /next")


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_another_host_is_told_and_not_asked(status: int) -> None:
    names = Names()
    with RawServer([[plain(status, b"", "Location: http://127.0.0.2:1/secret?q")]]) as server:
        got = fetch(at(server), names)
        assert isinstance(got, Moved) and got.to == "http://127.0.0.2:1/secret?q"
        assert len(server.requests) == 1 and names.asked == ["page.example"]


def test_redirects_without_end_and_to_other_things() -> None:
    with RawServer([[plain(302, b"", "Location: /again")]]) as server:
        with pytest.raises(FetchError, match="more than 5 times"):
            fetch(at(server))
        assert len(server.requests) == 6
    with RawServer([[plain(302, b"", "Location: file:///etc/passwd")]]) as server, pytest.raises(AddressError):
        fetch(at(server))


def test_size_is_limited_also_for_what_unpacks_to_more() -> None:
    bomb = gzip.compress(b"\0" * (64 << 20))
    with RawServer([[plain(200, bomb, "Content-Encoding: gzip", kind="text/plain")], [head(200), FLOOD]]) as server:
        for _ in range(2):
            got = page(at(server))
            assert got.cut and len(got.body) == BYTES
        assert server.gone.wait(30)


def test_of_what_is_not_wanted_nothing_is_read() -> None:
    with RawServer([[head(200, "Content-Type: video/mp4"), FLOOD]]) as server:
        got = page(at(server), wanted=lambda kind: kind.startswith("text/"))
        assert got.kind == "video/mp4" and got.body == b"" and server.gone.wait(30)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ([b"SSH-2.0-x\r\n\r\n", CLOSE], "does not speak HTTP"),
        ([RESET], "the connection broke|closed the connection"),
        ([head(200, "Content-Length: 10") + b"short", CLOSE], "in the middle"),
        ([plain(200, b"x", "Content-Encoding: br")], "packed with 'br'"),
        ([plain(200, b"not packed at all", "Content-Encoding: gzip")], "cannot be unpacked"),
    ],
)
def test_broken_answers(reply: list[Any], words: str) -> None:
    with RawServer([reply]) as server, pytest.raises(FetchError, match=words):
        fetch(at(server))


def test_a_server_that_is_silent_or_slow_is_left() -> None:
    never = threading.Event()
    with RawServer([[Until(never)], [head(200) + b"x", Until(never), CLIENT_GONE]]) as server:
        for _ in range(2):
            with pytest.raises(FetchError, match=r"within 0.3 seconds|nothing arrived"):
                fetch(at(server), seconds=0.3)
        never.set()


def test_nobody_there_and_no_such_name() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(FetchError, match=r"cannot connect to page.example"):
        fetch(f"http://page.example:{port}/")

    async def unknown(host: str) -> list[Found]:
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(FetchError, match="was not found: Name or service"):
        asyncio.run(Fetcher(resolve=unknown).fetch(parse("http://nowhere.example/")))


def test_the_next_address_is_tried() -> None:
    with RawServer([[plain(200, b"second")]]) as server:
        assert page(at(server), Names([(int(socket.AF_INET), "127.9.9.9"), *HERE])).body == b"second"


def test_the_certificate_must_be_for_the_name_although_the_address_is_pinned() -> None:
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("page.example").configure_cert(context)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with RawServer([[plain(200, b"secure")]], context) as server:
        url = at(server).replace("http:", "https:")
        assert page(url, tls=trusting).body == b"secure"
        with pytest.raises(FetchError, match=r"certificate of other.example"):
            fetch(url.replace("page.example", "other.example"), tls=trusting)
        with pytest.raises(FetchError, match=r"certificate of page.example"):
            fetch(url)

"""Fetching from a web address: a server on loopback that breaks off, changes its mind, redirects."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from agenyx.llm.local import paths
from agenyx.llm.local.fetch import checked
from agenyx.llm.local.install import install
from agenyx.llm.local.sources import Event, Fetching, FromUrl, Source, Turned
from agenyx.llm.local.store import InstallError
from agenyx.proc.spawn import Processes

DATA = b"GGUF\x03\x00\x00\x00" + os.urandom(3 << 20)


class Site:
    """`break_after` bytes the next answer stops; `ranges` holds the Range headers that came."""

    def __init__(self) -> None:
        self.data = DATA
        self.tag = '"one"'
        self.break_after: int | None = None
        self.ignore_range = False
        self.redirect = ""
        self.hold: threading.Event | None = None
        self.ranges: list[str | None] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/far.gguf"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        if self.redirect:
            handler.send_response(302)
            handler.send_header("Location", self.redirect)
            handler.end_headers()
            return
        wanted = handler.headers.get("Range")
        self.ranges.append(wanted)
        start = 0
        if wanted and not self.ignore_range and handler.headers.get("If-Range", self.tag) == self.tag:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
        if start >= len(self.data):
            handler.send_response(416)
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        handler.send_response(206 if start else 200)
        if start:
            handler.send_header("Content-Range", f"bytes {start}-{len(self.data) - 1}/{len(self.data)}")
        handler.send_header("Content-Length", str(len(self.data) - start))
        handler.send_header("ETag", self.tag)
        handler.end_headers()
        end = len(self.data) if self.break_after is None else start + self.break_after
        self.break_after = None
        handler.wfile.write(self.data[start:end])
        if self.hold is not None:
            handler.wfile.flush()
            self.hold.wait(30)
        handler.close_connection = True


@pytest.fixture
def site() -> Generator[Site]:
    site = Site()
    yield site
    site.server.shutdown()
    site.server.server_close()
    site.thread.join()


def run(home: str, source: Source, events: list[Event] | None = None) -> paths.Installed:
    async def job() -> paths.Installed:
        processes = Processes()
        try:
            return await install(processes, home, os.environ, source, (events if events is not None else []).append)
        finally:
            await processes.close()

    return asyncio.run(job())


def test_a_file_is_fetched_and_its_hash_recorded(home: str, site: Site) -> None:
    events: list[Event] = []
    installed = run(home, FromUrl(site.url), events)
    assert Path(installed.file(home)).read_bytes() == DATA
    assert (installed.name, installed.source) == ("far", site.url)
    assert Fetching(len(DATA), len(DATA)) in events


def test_a_broken_connection_is_resumed_where_it_broke(home: str, site: Site) -> None:
    site.break_after = 1_500_000
    with pytest.raises(InstallError, match=r"broke|could not be fetched") as caught:
        run(home, FromUrl(site.url))
    assert "goes on from here" in caught.value.fix
    assert paths.installed(home) is None

    assert Path(run(home, FromUrl(site.url)).file(home)).read_bytes() == DATA
    assert site.ranges == [None, "bytes=1500000-"]


@pytest.mark.parametrize("ignores", [True, False])
def test_another_version_of_the_file_starts_anew(home: str, site: Site, ignores: bool) -> None:
    site.break_after = 1_000_000
    with pytest.raises(InstallError):
        run(home, FromUrl(site.url))
    site.data, site.tag, site.ignore_range = b"GGUF" + os.urandom(2 << 20), '"two"', ignores
    assert Path(run(home, FromUrl(site.url)).file(home)).read_bytes() == site.data


def test_a_file_that_became_shorter_starts_anew(home: str, site: Site) -> None:
    site.break_after = 1_000_000
    with pytest.raises(InstallError):
        run(home, FromUrl(site.url))
    site.data = b"GGUF" + bytes(1000)
    assert Path(run(home, FromUrl(site.url)).file(home)).read_bytes() == site.data


def test_a_given_hash_decides(home: str, site: Site) -> None:
    with pytest.raises(InstallError, match="it was removed"):
        run(home, FromUrl(site.url, "ab" * 32))
    assert paths.installed(home) is None
    assert not any(name.startswith("far") for name in os.listdir(paths.models(home)))


def test_a_page_is_not_a_model(home: str, site: Site) -> None:
    site.data = b"<!doctype html>"
    with pytest.raises(InstallError, match="not a GGUF file"):
        run(home, FromUrl(site.url))
    assert paths.installed(home) is None


def test_the_models_own_address_goes_on_where_the_index_stopped(
    home: str, index: Any, site: Site, whole: bytes
) -> None:
    site.data = whole
    index.path(2).unlink()
    events: list[Event] = []
    installed = run(home, index.source(url=site.url), events)
    assert Path(installed.file(home)).read_bytes() == whole
    assert site.ranges == ["bytes=3008-"]
    assert [event.to for event in events if isinstance(event, Turned)] == [site.url]
    assert installed.source == site.url


def test_the_index_goes_on_where_its_own_parts_ended(home: str, index: Any, site: Site, whole: bytes) -> None:
    site.data, site.break_after = whole, 1000  # ends in the middle of the second part
    index.path(2).rename(index.path(2).with_suffix(".gone"))
    with pytest.raises(InstallError):
        run(home, index.source(url=site.url))
    index.path(2).with_suffix(".gone").rename(index.path(2))
    before = len(index.asked)
    assert Path(run(home, index.source(url=site.url)).file(home)).read_bytes() == whole
    assert index.asked[before:] == ["tiny-model-part2", "tiny-model-part3"]


def test_a_file_of_another_size_is_not_even_fetched(home: str, index: Any, site: Site) -> None:
    index.path(1).unlink()
    with pytest.raises(InstallError, match=f"a file of {len(DATA)} bytes instead of"):
        run(home, index.source(url=site.url))


def test_a_redirect_to_plain_http_elsewhere_is_refused(home: str, site: Site) -> None:
    site.redirect = "http://model.example/far.gguf"
    with pytest.raises(InstallError, match=r"http://model.example/far.gguf is plain http"):
        run(home, FromUrl(site.url))


@pytest.mark.parametrize(
    "url", ["http://example.org/x", "ftp://h/x", "file:///etc/passwd", "https://u:p@h/x", "x", "https:///x"]
)
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(InstallError):
        checked(url)


def test_cancelling_leaves_the_file_alone_and_frees_the_lock(home: str, site: Site) -> None:
    site.break_after, site.hold = 2_000_000, threading.Event()

    async def job() -> None:
        processes = Processes()
        arrived = asyncio.Event()
        loop = asyncio.get_running_loop()

        def emit(event: Event) -> None:
            if isinstance(event, Fetching) and event.done:
                loop.call_soon_threadsafe(arrived.set)

        task = asyncio.create_task(install(processes, home, os.environ, FromUrl(site.url), emit))
        await arrived.wait()
        task.cancel()
        assert site.hold is not None
        site.hold.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        await processes.close()

    asyncio.run(job())
    site.hold = None
    assert Path(run(home, FromUrl(site.url)).file(home)).read_bytes() == DATA
    assert site.ranges[1] is not None

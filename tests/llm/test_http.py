"""The client over real sockets: keep-alive, cancel, silence, cuts, TLS, proxies, and what it refuses to do."""

from __future__ import annotations

import asyncio
import gc
import shutil
import socket
import ssl
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trustme

from agenyx.llm.http import (
    Client,
    ConnectFailed,
    HttpError,
    IdleTimeout,
    ProtocolError,
    ProxyRefused,
    TlsFailed,
    Truncated,
)
from agenyx.llm.http_proxy import proxy_for
from support.raw_server import (
    CLIENT_GONE,
    CLOSE,
    DEADLINE,
    RESET,
    STREAM_HEAD,
    RawServer,
    Step,
    Until,
    chunk,
    head,
    plain,
)

OK: list[Step] = [plain(200, b"fine", kind="text/plain")]


async def get(client: Client, url: str, **more: Any) -> tuple[int, bytes]:
    async with client.stream("POST", url, {"X-A": "b"}, b"body", **more) as response:
        return response.status, b"".join([part async for part in response.chunks()])


def fetch(url: str, env: dict[str, str] | None = None, **more: Any) -> tuple[int, bytes]:
    async def run() -> tuple[int, bytes]:
        client = Client(env or {}, **more)
        try:
            return await get(client, url)
        finally:
            await client.close()

    return asyncio.run(run())


def fails(kind: type[HttpError], url: str, env: dict[str, str] | None = None, **more: Any) -> Any:
    with pytest.raises(kind) as caught:
        fetch(url, env, **more)
    return caught.value


# --- requests --------------------------------------------------------------------------------------------------------


def test_what_is_sent() -> None:
    with RawServer([OK]) as server:
        assert fetch(server.url + "/v1/x y?q=ä") == (200, b"fine")
        seen = server.requests[0]
    assert seen.line == "POST /v1/x%20y?q=%C3%A4 HTTP/1.1"
    assert seen.headers == {"host": f"127.0.0.1:{server.port}", "x-a": "b", "content-length": "4"}
    assert seen.body == b"body"


def test_a_large_body_arrives_whole() -> None:
    body = bytes(range(256)) * 40_000

    async def run(url: str) -> None:
        client = Client({})
        async with client.stream("POST", url, {}, body) as response:
            await response.read()
        await client.close()

    with RawServer([OK]) as server:
        asyncio.run(run(server.url))
        assert server.requests[0].body == body


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\0b", "日本"])
def test_a_header_cannot_smuggle(value: str) -> None:
    client = Client({})
    with pytest.raises(ProtocolError):
        client.stream("POST", "http://127.0.0.1:1/", {"Authorization": value}, b"")


@pytest.mark.parametrize(
    "url", ["http://example.com/", "http://127.0.0.1.example.com/", "ftp://x/", "https://u:p@h/", "https:///x", "x"]
)
def test_addresses_that_are_refused(url: str) -> None:
    with pytest.raises(ProtocolError):
        Client({}).stream("GET", url, {})


# --- keep-alive ------------------------------------------------------------------------------------------------------


def test_a_connection_serves_many_requests() -> None:
    async def run(url: str) -> None:
        client = Client({})
        for _ in range(5):
            assert await get(client, url) == (200, b"fine")
        await client.close()

    with RawServer([OK]) as server:
        asyncio.run(run(server.url))
        assert (len(server.requests), server.connections) == (5, 1)


class Reached(Until):
    """Tells the test that the script came this far."""

    def __init__(self) -> None:
        self.event = self  # type: ignore[assignment]
        self.reached = threading.Event()

    def wait(self, _: float) -> None:
        self.reached.set()


@pytest.mark.parametrize("behind", [b"junk", b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"])
def test_a_connection_with_bytes_that_nobody_asked_for_is_not_used_again(behind: bytes) -> None:
    sent = Reached()

    async def run(url: str) -> None:
        client = Client({})
        assert await get(client, url) == (200, b"fine")
        assert sent.reached.wait(DEADLINE)  # without the loop: it has not seen the bytes yet
        assert await get(client, url) == (200, b"fine")
        await client.close()

    with RawServer([[*OK, behind, sent], OK]) as server:
        asyncio.run(run(server.url))
        assert [seen.connection for seen in server.requests] == [0, 1]


@pytest.mark.parametrize("first", [[plain(200, b"fine", "Connection: close", kind="text/plain")], [*OK, CLOSE]])
def test_a_connection_that_is_over_is_not_used_again(first: list[Step]) -> None:
    async def run(url: str) -> None:
        client = Client({})
        assert await get(client, url) == (200, b"fine")
        assert await get(client, url) == (200, b"fine")
        await client.close()

    with RawServer([first, OK]) as server:
        asyncio.run(run(server.url))
        assert {seen.connection for seen in server.requests} == {0, 1}


def test_a_kept_connection_that_dies_unanswered_is_replaced_once() -> None:
    async def run(url: str) -> None:
        client = Client({})
        assert await get(client, url) == (200, b"fine")
        assert await get(client, url) == (200, b"fine")
        await client.close()

    with RawServer([OK, [CLOSE], OK]) as server:
        asyncio.run(run(server.url))
        assert [seen.connection for seen in server.requests] == [0, 0, 1]


def test_a_fresh_connection_that_dies_is_an_error() -> None:
    with RawServer([[CLOSE]]) as server:
        error = fails(Truncated, server.url)
        assert (error.sent, error.received, len(server.requests)) == (True, 0, 1)


def test_a_connection_made_ahead_is_used() -> None:
    async def run(url: str) -> None:
        client = Client({})
        client.warm(url)
        client.warm("http://example.com/")  # refused, silently
        assert await get(client, url) == (200, b"fine")
        await client.close()

    with RawServer([OK]) as server:
        asyncio.run(run(server.url))
        assert server.connections == 1


def test_a_head_start_that_fails_reports_nothing() -> None:
    async def run() -> None:
        client = Client({})
        client.warm("http://127.0.0.1:1/")
        await asyncio.sleep(0)
        await client.close()

    asyncio.run(run())


# --- cuts and silence ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reply",
    [
        [b"HTTP/1.1 200", CLOSE],
        [head(200, "Content-Length: 100") + b"short", CLOSE],
        [STREAM_HEAD + chunk(b"whole"), CLOSE],
        [STREAM_HEAD + b"ff\r\npart", CLOSE],
        [STREAM_HEAD + chunk(b"whole"), RESET],
    ],
)
def test_a_cut_is_noticed(reply: list[Step]) -> None:
    with RawServer([reply]) as server:
        error = fails(Truncated, server.url)
        assert error.sent


def test_what_is_not_http_is_shown() -> None:
    with RawServer([[b"SSH-2.0-OpenSSH_9.9\r\n"]]) as server:
        assert "SSH-2.0" in str(fails(ProtocolError, server.url))


def test_a_redirect_is_only_a_status() -> None:
    with RawServer([[plain(307, b"", "Location: http://127.0.0.1:1/elsewhere")]]) as server:
        assert fetch(server.url)[0] == 307
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("reply", "phase"), [([], "head"), ([b"HTTP/1.1 200 OK\r\n"], "head"), ([STREAM_HEAD], "body")]
)
def test_silence_ends_an_exchange(reply: list[Step], phase: str) -> None:
    with RawServer([[*reply, CLIENT_GONE]]) as server:
        error = fails(IdleTimeout, server.url, idle=0.2)
        assert (error.phase, error.sent) == (phase, True)
        assert server.gone.wait(DEADLINE)


def test_any_byte_puts_the_silence_off() -> None:
    """The stream lasts longer than the limit, and no pause does; the clock is the loop's own."""

    async def run(url: str) -> float:
        loop = asyncio.get_running_loop()
        client = Client({}, idle=1.5)
        begun = loop.time()
        async with client.stream("POST", url, {}, b"") as response:
            async for _ in response.chunks():
                pass
        await client.close()
        return loop.time() - begun

    pause = Pauses(0.4)
    with RawServer(
        [[STREAM_HEAD, *[step for _ in range(5) for step in (chunk(b": ping\n"), pause)], b"0\r\n\r\n"]]
    ) as server:
        assert asyncio.run(run(server.url)) > 1.5


class Pauses(Until):
    """Holds the server back for a while: the time is what is tested."""

    def __init__(self, seconds: float) -> None:
        self.event = self  # type: ignore[assignment]
        self._seconds = seconds

    def wait(self, _: float) -> None:
        threading.Event().wait(self._seconds)


def test_cancelling_while_waiting_for_an_answer_closes_the_connection() -> None:
    asked = Reached()

    async def run(url: str) -> None:
        client = Client({})
        task = asyncio.create_task(get(client, url))
        assert await asyncio.to_thread(asked.reached.wait, DEADLINE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.gone.wait, DEADLINE)
        await client.close()

    with RawServer([[asked, CLIENT_GONE]]) as server:
        asyncio.run(run(server.url))


def test_cancelling_closes_the_connection() -> None:
    async def run(url: str) -> None:
        client = Client({})
        got = asyncio.Event()

        async def read() -> None:
            async with client.stream("POST", url, {}, b"") as response:
                await response.read()
                got.set()
                await response.read()

        task = asyncio.create_task(read())
        await got.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.gone.wait, DEADLINE)
        await client.close()

    with RawServer([[STREAM_HEAD + chunk(b"x"), CLIENT_GONE]]) as server:
        asyncio.run(run(server.url))


def test_cancelling_while_connecting_leaves_nothing_open() -> None:
    async def run(url: str) -> None:
        client = Client({})
        task = asyncio.create_task(get(client, url))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await client.close()

    with RawServer([OK]) as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.unraisablehook", lambda problem: pytest.fail(str(problem)))
        asyncio.run(run(server.url))
        gc.collect()


def test_a_reader_who_takes_his_time_is_no_silence() -> None:
    size = 4 << 20

    async def run(url: str) -> int:
        client = Client({}, idle=0.2)
        total = 0
        async with client.stream("POST", url, {}, b"") as response:
            total += len(await response.read())
            await asyncio.sleep(0.6)  # longer than the idle limit
            while data := await response.read():
                total += len(data)
        await client.close()
        return total

    with RawServer([[head(200, f"Content-Length: {size}"), b"x" * size]]) as server:
        assert asyncio.run(run(server.url)) == size


def test_nothing_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    error = fails(ConnectFailed, f"http://127.0.0.1:{port}/")
    assert error.refused and not error.sent and str(port) in str(error)


def test_localhost_is_found_on_either_family() -> None:
    with RawServer([OK]) as server:
        assert fetch(f"http://localhost:{server.port}/") == (200, b"fine")


def test_a_name_that_does_not_exist() -> None:
    error = fails(ConnectFailed, "https://name.invalid/")
    assert "name.invalid" in str(error) and not error.refused


def test_a_server_that_never_accepts() -> None:
    """A full backlog answers no handshake of TLS: the connect limit ends it."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        error = fails(ConnectFailed, f"https://127.0.0.1:{silent.getsockname()[1]}/", connect_timeout=0.3)
        assert "0.3 s" in str(error)


# --- TLS -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("ca") / "ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return str(path)


def secured(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context


def test_a_named_authority_is_trusted_and_the_connection_kept(authority: trustme.CA, ca_file: str) -> None:
    async def run(url: str) -> None:
        client = Client({"SSL_CERT_FILE": ca_file})
        for _ in range(3):
            assert await get(client, url) == (200, b"fine")
        await client.close()

    with RawServer([OK], secured(authority, "127.0.0.1")) as server:
        asyncio.run(run(server.url))
        assert len({seen.connection for seen in server.requests}) == 1


def test_a_hashed_directory_is_trusted(authority: trustme.CA, ca_file: str, tmp_path: Path) -> None:
    if not shutil.which("openssl"):
        pytest.skip("openssl, which names the hash, is not installed")
    named = subprocess.run(["openssl", "x509", "-hash", "-noout", "-in", ca_file], capture_output=True, check=True)
    shutil.copy(ca_file, tmp_path / f"{named.stdout.decode().strip()}.0")
    with RawServer([OK], secured(authority, "127.0.0.1")) as server:
        assert fetch(server.url, {"SSL_CERT_DIR": str(tmp_path)}) == (200, b"fine")
        assert "SSL_CERT_FILE" in fails(TlsFailed, server.url, {"SSL_CERT_DIR": str(tmp_path.parent)}).hint


def test_an_unknown_authority_fails_with_what_to_do(authority: trustme.CA) -> None:
    with RawServer([OK], secured(authority, "127.0.0.1")) as server:
        error = fails(TlsFailed, server.url)
        assert "127.0.0.1" in error.reason and "SSL_CERT_FILE" in error.hint
        assert not error.sent and not server.requests


def test_a_certificate_of_another_host(authority: trustme.CA, ca_file: str) -> None:
    with RawServer([OK], secured(authority, "example.org")) as server:
        error = fails(TlsFailed, server.url, {"SSL_CERT_FILE": ca_file})
        assert "SSL_CERT_FILE" not in error.hint and "base URL" in error.hint
        assert not server.requests


@pytest.mark.parametrize("text", [None, "no certificate"])
def test_a_bad_authority_file_is_named(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "ca.pem"
    if text:
        path.write_text(text)
    error = fails(TlsFailed, "https://127.0.0.1:1/", {"SSL_CERT_FILE": str(path)})
    assert "SSL_CERT_FILE" in error.reason and str(path) in error.reason


def test_plain_http_where_tls_was_expected() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            sock, _ = listener.accept()
            with sock:
                sock.recv(4096)
                sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                sock.recv(4096)

        threading.Thread(target=answer, daemon=True).start()
        error = fails(TlsFailed, f"https://127.0.0.1:{listener.getsockname()[1]}/")
        assert "https" in error.hint


def test_a_cut_inside_tls(authority: trustme.CA, ca_file: str) -> None:
    with RawServer([[STREAM_HEAD + chunk(b"whole"), CLOSE]], secured(authority, "127.0.0.1")) as server:
        fails(Truncated, server.url, {"SSL_CERT_FILE": ca_file})


# --- proxies ---------------------------------------------------------------------------------------------------------


class Tunnel:
    """A CONNECT proxy that leads every tunnel to one port, or answers with `refusal`."""

    def __init__(self, port: int, refusal: bytes = b"") -> None:
        self.heads: list[str] = []
        self._target = port
        self._refusal = refusal
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]

    def __enter__(self) -> Tunnel:
        threading.Thread(target=self._run, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _run(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += near.recv(4096)
        self.heads.append(head.decode())
        if self._refusal:
            near.sendall(self._refusal)
            near.close()
            return
        far = socket.create_connection(("127.0.0.1", self._target))
        near.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        threading.Thread(target=self._pump, args=(far, near), daemon=True).start()
        self._pump(near, far)

    @staticmethod
    def _pump(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass
        for sock in (source, sink):
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


def test_https_goes_through_the_proxy(authority: trustme.CA, ca_file: str) -> None:
    with RawServer([OK], secured(authority, "model.test")) as server, Tunnel(server.port) as proxy:
        env = {"SSL_CERT_FILE": ca_file, "HTTPS_PROXY": f"http://me:p%40ss@127.0.0.1:{proxy.port}"}
        assert fetch("https://model.test/v1", env) == (200, b"fine")
    assert proxy.heads[0].startswith("CONNECT model.test:443 HTTP/1.1\r\n")
    assert "Proxy-Authorization: Basic bWU6cEBzcw==" in proxy.heads[0]
    assert "X-A" not in proxy.heads[0]


def test_no_proxy_and_loopback_go_direct(authority: trustme.CA, ca_file: str) -> None:
    with Tunnel(1) as proxy:
        env = {"SSL_CERT_FILE": ca_file, "https_proxy": f"127.0.0.1:{proxy.port}", "all_proxy": "http://127.0.0.1:1"}
        with RawServer([OK], secured(authority, "127.0.0.1")) as server:
            assert fetch(server.url, {**env, "NO_PROXY": "127.0.0.0/8"}) == (200, b"fine")
        with RawServer([OK]) as server:
            assert fetch(server.url, env) == (200, b"fine")
        assert proxy.heads == []


@pytest.mark.parametrize("status", ["407 Proxy Authentication Required", "403 Forbidden"])
def test_a_proxy_that_refuses(status: str) -> None:
    with Tunnel(1, f"HTTP/1.1 {status}\r\n\r\n".encode()) as proxy:
        error = fails(ProxyRefused, "https://model.test/", {"HTTPS_PROXY": f"http://u:secret@127.0.0.1:{proxy.port}"})
        assert status[:3] in str(error) and "secret" not in str(error) + error.hint
        assert ("password" in error.hint) == (status[:3] == "407")


def test_a_proxy_that_is_none() -> None:
    with Tunnel(1, b"220 mail ready\r\n") as proxy:
        fails(ProtocolError, "https://model.test/", {"HTTPS_PROXY": f"http://127.0.0.1:{proxy.port}"})
    error = fails(ConnectFailed, "https://model.test/", {"HTTPS_PROXY": "http://127.0.0.1:1"})
    assert "proxy" in str(error)
    for kind in ("socks5://127.0.0.1:1", "https://127.0.0.1:1"):
        assert "HTTPS_PROXY" in str(fails(ProxyRefused, "https://model.test/", {"HTTPS_PROXY": kind}))


@pytest.mark.parametrize(
    ("rules", "host", "direct"),
    [
        ("", "a.example.com", False),
        ("*", "a.example.com", True),
        ("example.com", "a.example.com", True),
        ("example.com", "example.com", True),
        ("example.com", "badexample.com", False),
        (".example.com", "a.example.com", True),
        ("*.example.com", "a.example.com", True),
        ("EXAMPLE.com", "a.example.COM", True),
        ("other.com, example.com:443", "example.com", True),
        ("example.com:8443", "example.com", False),
        ("10.0.0.0/8", "10.1.2.3", True),
        ("10.0.0.0/8", "11.1.2.3", False),
        ("10.0.0.0/8", "ten.example.com", False),
        ("[::1]:443", "::1", True),
        ("::1", "::1", True),
        ("fd00::/8", "fd12::1", True),
    ],
)
def test_no_proxy_rules(rules: str, host: str, direct: bool) -> None:
    env = {"HTTPS_PROXY": "http://proxy:3128", "NO_PROXY": rules}
    assert (proxy_for(host, 443, env) is None) == direct

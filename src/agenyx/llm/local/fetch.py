"""A model file from a web address, streamed and resumed by Range. HTTPS, or plain HTTP on this machine only.

The standard library's client, on a thread: it follows redirects, and only to addresses of the same kind.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from ssl import SSLError
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from agenyx.llm.local.store import InstallError, Partial

LOOPBACK = ("localhost", "127.0.0.1", "::1")
STALL = 60.0  # seconds without a byte
NOTE_EVERY = 16 << 20  # bytes between two notes in the journal
AGAIN = "Check the address and the network, then run the command again: it goes on from here."


def checked(url: str) -> str:
    """The address, if it may be fetched. Raises InstallError."""
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname or parts.username or parts.password:
        raise InstallError(
            f"{url!r} is not an address that can be fetched", "Give an https address without a user name."
        )
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise InstallError(f"{url} is plain http", "Use https; plain http is only for this machine.")
    return url


class _Redirects(HTTPRedirectHandler):
    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> Request | None:
        checked(newurl)
        if req.full_url.startswith("https:") and not newurl.startswith("https:"):
            raise InstallError(f"{req.full_url} redirects to plain http", "Use another address.")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class Stopped(Exception):
    """The waiting side went away."""


def fetch(
    url: str, partial: Partial, known_size: int, grown: Callable[[int, int], None], stop: threading.Event
) -> None:
    """Append to `partial` what is missing of `url`; `grown` gets bytes done and the total (0 while unknown).

    `known_size` is what the whole file must have, 0 for any. Bytes of another version of the file are thrown away:
    that is what the tag is compared for. Raises InstallError, OSError, Stopped.
    """
    opener = build_opener(_Redirects())
    for _ in range(2):
        headers = {"User-Agent": "agenyx", "Accept-Encoding": "identity"}
        have = partial.journal.size
        if known_size and have == known_size:
            return
        if have:
            headers["Range"] = f"bytes={have}-"
            if partial.journal.tag:
                headers["If-Range"] = partial.journal.tag
        try:
            with opener.open(Request(checked(url), headers=headers), timeout=STALL) as response:
                if _take(url, response, partial, known_size, grown, stop):
                    return
        except HTTPError as error:
            error.close()
            if error.code == 416 and have:  # nothing is left to send, or what we have is of another file
                partial.restart()
                continue
            raise InstallError(f"{url} answered {error.code} {error.reason}", AGAIN) from None
        except (URLError, HTTPException, SSLError, TimeoutError, ConnectionError) as error:
            reason = error.reason if isinstance(error, URLError) else error
            raise InstallError(f"{url} could not be fetched: {str(reason) or type(reason).__name__}", AGAIN) from None
    raise InstallError(f"{url} does not send the file", AGAIN)


def _take(
    url: str,
    response: HTTPResponse,
    partial: Partial,
    known_size: int,
    grown: Callable[[int, int], None],
    stop: threading.Event,
) -> bool:
    """Append one response. False when it must be asked again from the start."""
    have = partial.journal.size
    if response.status == 206:
        if not (response.headers.get("Content-Range") or "").startswith(f"bytes {have}-"):
            partial.restart()
            return False
    elif have:  # the whole file comes
        partial.restart()
        have = 0
    length = response.length or 0
    total = known_size or (have + length if length else 0)
    tag = response.headers.get("ETag") or response.headers.get("Last-Modified") or ""
    if known_size and length and have + length != known_size:
        raise InstallError(
            f"{url} would make a file of {have + length} bytes instead of {known_size}", "Use another address."
        )

    def read(size: int) -> bytes:
        if stop.is_set():
            raise Stopped
        return response.read(size)

    # A weak tag must not be used in If-Range.
    partial.append(read, lambda size: grown(size, total), tag="" if tag.startswith("W/") else tag, every=NOTE_EVERY)
    if length and partial.journal.size != have + length:
        raise InstallError(f"the connection to {url} broke", AGAIN)
    return True

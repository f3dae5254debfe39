"""Hooks that are addresses: the payload by POST, the answer as the body. No redirect, no proxy, no cookie.

The host is resolved once and checked: this machine and the public web are reached, private networks and the metadata
of clouds are not (AgentX §9.4). Knows no event.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from agenyx.config.secrets import SECRET_NAME
from agenyx.core.errors import AgenyxError
from agenyx.ext.hooks.environment import filled, reveals
from agenyx.ext.hooks.model import OUTPUT_BYTES, Entry, HookResult
from agenyx.llm.http_errors import HttpError
from agenyx.workspace.addresses import Address, parse
from agenyx.workspace.reach import MACHINE, is_machine, is_number, standing
from agenyx.workspace.route import FetchError, Resolve, Router

_AUTHORITIES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_OURS = frozenset({"host", "content-length", "content-type", "connection", "transfer-encoding", "user-agent"})


class HttpHook:
    """`env` is our own environment, of which headers get the variables that the entry allows; `keys` are the providers'
    keys, which never leave. `resolve` finds the addresses of a name.
    """

    def __init__(
        self, entry: Entry, env: Mapping[str, str], keys: tuple[str, ...] = (), resolve: Resolve | None = None
    ) -> None:
        self._entry, self._env, self._keys, self._resolve = entry, env, keys, resolve

    async def run(self, payload: bytes) -> HookResult:
        started = time.monotonic()
        try:
            async with asyncio.timeout(self._entry.timeout):
                status, body = await self._post(payload.rstrip(b"\n"))
        except TimeoutError:
            return HookResult(failure=f"it gave no answer within {self._entry.timeout:g} seconds")
        except (AgenyxError, HttpError, OSError) as error:
            return HookResult(failure=str(getattr(error, "message", "") or error).rstrip("."))
        seconds = time.monotonic() - started
        if not 200 <= status < 300:
            return HookResult(failure=f"it answered with status {status}", seconds=seconds)
        if len(body) > OUTPUT_BYTES:
            return HookResult(failure=f"it answered more than {OUTPUT_BYTES >> 10} KiB", seconds=seconds)
        return HookResult(output=body.decode("utf-8", "replace"), seconds=seconds)

    async def _post(self, payload: bytes) -> tuple[int, bytes]:
        address = checked(self._entry.url)
        own = {name: self._env[name] for name in _AUTHORITIES if name in self._env}
        router = Router(resolve=self._resolve, env=own, seconds=self._entry.timeout)
        try:
            link = await router.connect(address, await router.route(address, _is_here(address.host)))
        except FetchError as error:
            raise AgenyxError(error.message.partition(", which WebFetch")[0]) from error
        try:
            link.send(self._head(address, len(payload)), payload, self._entry.timeout)
            await link.head()
            assert link.reader is not None
            body = bytearray()
            while len(body) <= OUTPUT_BYTES and (data := await link.read()):
                body += data
            return link.reader.status, bytes(body)
        finally:
            link.abort()

    def _head(self, address: Address, size: int) -> bytes:
        """Raises AgenyxError."""
        lines = [f"POST {address.target} HTTP/1.1", f"Host: {address.authority}", "User-Agent: agenyx"]
        lines += ["Content-Type: application/json", f"Content-Length: {size}", "Connection: close"]
        for name, text in self._entry.headers.items():
            if name.lower() not in _OURS:
                lines.append(f"{name}: {self._header(name, text)}")
        return "\r\n".join((*lines, "", "")).encode("ascii")

    def _header(self, name: str, text: str) -> str:
        """Raises AgenyxError."""

        def value(variable: str) -> str:
            if variable not in self._entry.allowed:
                return ""
            if self._entry.origin == "workspace" and SECRET_NAME.search(variable):
                raise AgenyxError(f"a hook of a workspace gets no credentials, and {variable} looks like one")
            return self._env.get(variable, "")

        text = filled(text, value)
        if reveals(text, self._keys):
            raise AgenyxError(f"the header {name} would send the key of a provider")
        if not text.isascii() or not text.isprintable():
            raise AgenyxError(f"the header {name} would hold what a header cannot")
        return text


def checked(url: str) -> Address:
    """The address of a hook. Raises AgenyxError where it is none that may be reached."""
    address = parse(url)
    kind, words = standing(address.host)
    here = _is_here(address.host)
    if kind != "public" and not here:
        raise AgenyxError(f"{address.host} is {words}, which hooks do not reach", "Use a public host or localhost.")
    if address.scheme == "http" and not here:
        raise AgenyxError(f"{address.host} has to be reached by https", "Plain http is for this machine only.")
    return address


def _is_here(host: str) -> bool:
    return is_machine(host) or (is_number(host) and standing(host) == ("private", MACHINE))

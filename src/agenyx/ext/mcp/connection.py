"""One running server: its process, the agreement on a revision, and what may be asked of it until it ends.

A connection does not come back: `server.py` makes another one. Answers the server's own requests: roots, ping, forms;
everything else is refused. Links that it names are never followed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from agenyx.ext.mcp import wire
from agenyx.ext.mcp.clean import clean, one_line
from agenyx.ext.mcp.config import ServerConfig
from agenyx.ext.mcp.handshake import Agreed, agree, meta
from agenyx.ext.mcp.launch import spawn
from agenyx.ext.mcp.link import Link
from agenyx.ext.mcp.model import Ask, Elicit, McpError, OnProgress, Reply
from agenyx.ext.mcp.wire import Object, RpcError
from agenyx.proc.duplex import Duplex
from agenyx.proc.spawn import ProcessError, Processes

PAGES, ITEMS = 100, 2000
ROUNDS = 10  # times that a request may come back for more input
GRACE = 0.3  # seconds for a server to go when its input was closed
_EXIT = 0.25  # seconds between the end of its output and its exit
_LISTEN = "agenyx-listen"
_CLIENT = "agenyx"


class Host(Struct, frozen=True):
    """What servers get of us. `root` is the real path of the workspace; `secrets` never reach their environment.

    Without `elicit` no server may ask the person anything. `version` is Agenyx's own.
    """

    processes: Processes
    root: str
    env: Mapping[str, str]
    secrets: tuple[str, ...] = ()
    version: str = "0"
    elicit: Elicit | None = None


class Connection:
    """`changed` hears "tools", "prompts" or "resources" when that list is not what it was; `lost` hears why it ended
    without being closed. Both are called from the event loop and must not raise."""

    def __init__(
        self, config: ServerConfig, host: Host, changed: Callable[[str], None], lost: Callable[[str], None]
    ) -> None:
        self._config, self._host, self._changed, self._lost = config, host, changed, lost
        self._child: Duplex | None = None
        self._link = Link(config.max_message_bytes, self._send, self._serve, self._hear, self._broken)
        self._closed = False
        self._ending: asyncio.Future[None] | None = None
        self.agreed = Agreed("", {})
        self.ended_early = False  # whether it ended by itself before a revision was agreed on

    async def open(self, probe: bool = True) -> Agreed:
        """Start the process and agree on a revision. Raises McpError; nothing is left running then."""
        config, host = self._config, self._host
        try:
            self._child = await host.processes.talk(spawn(config, host.root, host.env, host.secrets), self._link.feed)
        except ProcessError as error:
            raise McpError(error.message, error.fix) from None
        self._child.over.add_done_callback(lambda _: self._end())
        try:
            self.agreed = await agree(
                self._request, self._link.notify, self._client, self._can, config.connect_timeout, probe
            )
        except BaseException:
            self.ended_early = bool(self._link.why)
            await self.close()
            raise
        wanted = {f"{what}ListChanged": True for what in ("tools", "prompts", "resources") if self.agreed.tells(what)}
        if self.agreed.modern and wanted:
            self._link.listen(_LISTEN, "subscriptions/listen", self._with_meta({"notifications": wanted}))
        return self.agreed

    async def ask(
        self,
        method: str,
        params: Object,
        timeout: float,
        *,
        total: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Object:
        """The result of a request, after as many rounds as the server needs for more input. Raises McpError."""
        asked = params
        for _ in range(ROUNDS):
            try:
                answer = await self._link.request(
                    method, self._with_meta(asked), timeout, total=total, on_progress=on_progress
                )
            except RpcError as error:
                raise McpError(clean(error.message), code=error.code) from None
            if answer.get("resultType", "complete") == "complete":
                return answer
            if answer["resultType"] != "input_required":
                raise McpError(f"it answered {method} in a way that Agenyx does not know")
            asked = params | await self._more(wire.members(answer.get("inputRequests")))
            if isinstance(state := answer.get("requestState"), str):
                asked["requestState"] = state
        raise McpError(f"it wanted more input after {ROUNDS} rounds")

    async def pages(self, method: str, key: str) -> list[Any]:
        """All items of a list, page by page, within bounds. Raises McpError."""
        found: list[Any] = []
        cursor, seen = None, set[str]()
        for _ in range(PAGES):
            params: Object = {} if cursor is None else {"cursor": cursor}
            answer = await self.ask(method, params, self._config.request_timeout)
            found += wire.items(answer.get(key))
            cursor = answer.get("nextCursor")
            if not isinstance(cursor, str) or cursor in seen or len(found) >= ITEMS:
                break
            seen.add(cursor)
        return found[:ITEMS]

    async def ping(self) -> None:
        """Raises McpError when it does not answer. The new revision has no ping: there it is asked what it can do."""
        await self.ask("server/discover" if self.agreed.modern else "ping", {}, self._config.request_timeout)

    async def close(self) -> None:
        """End it with its whole group. Twice is no error."""
        self._closed = True
        self._link.end("it was closed")
        if self._child is not None:
            await self._child.stop(GRACE)

    # --- to the server ----------------------------------------------------------------------------------------------

    @property
    def _client(self) -> Object:
        return {"name": _CLIENT, "title": "Agenyx", "version": self._host.version}

    @property
    def _can(self) -> Object:
        can: Object = {"roots": {}}
        return can | {"elicitation": {"form": {}}} if self._host.elicit else can

    def _with_meta(self, params: Object) -> Object:
        return params | {"_meta": meta(self._client, self._can)} if self.agreed.modern else params

    async def _request(self, method: str, params: Object, timeout: float) -> Object:
        return await self._link.request(method, params, timeout, silent=True)

    def _send(self, data: bytes) -> None:
        assert self._child is not None
        self._child.write(data)

    async def _more(self, requests: Object) -> Object:
        """The input that the server wants before it goes on."""
        if not requests:
            await asyncio.sleep(0.1)  # it only wants to be asked again
            return {}
        answers: Object = {}
        for key, value in list(requests.items())[:ROUNDS]:
            wanted = wire.members(value)
            try:
                answers[key] = await self._serve(str(wanted.get("method")), wire.members(wanted.get("params")))
            except RpcError as error:
                text = f"it wants {one_line(wanted.get('method'), 100)} of Agenyx first, which is refused"
                raise McpError(text, code=error.code) from None
        return {"inputResponses": answers}

    # --- from the server --------------------------------------------------------------------------------------------

    async def _serve(self, method: str, params: Object) -> Object:
        if method == "ping":
            return {}
        if method == "roots/list":
            root = self._host.root
            return {"roots": [{"uri": f"file://{quote(os.fsencode(root))}", "name": os.path.basename(root) or root}]}
        if method == "elicitation/create":
            return await self._form(params)
        raise RpcError(wire.NO_METHOD, "Agenyx does not offer this")

    async def _form(self, params: Object) -> Object:
        from agenyx.ext.mcp import elicit  # few servers ask

        asked = elicit.fields(params.get("requestedSchema")) if params.get("mode", "form") == "form" else None
        ask = self._host.elicit
        if asked is None or ask is None:
            return {"action": "decline"}

        async def answer() -> Object:
            reply: Reply = await ask(Ask(self._config.name, clean(params.get("message")), asked))
            return elicit.result(reply, asked)

        return await self._link.pausing(answer())

    def _hear(self, method: str, params: Object) -> None:
        """Log messages and everything unknown is dropped."""
        match method.split("/"):
            case ["notifications", "tools" | "prompts" | "resources" as what, "list_changed"]:
                self._changed(what)
            case _:
                pass

    def _end(self) -> None:
        self._ending = asyncio.ensure_future(self._over())

    async def _over(self) -> None:
        child = self._child
        assert child is not None
        # Its output ends a moment before its exit is known, which says more.
        await asyncio.wait((child.exited,), timeout=_EXIT)
        code = child.exited.result() if child.exited.done() else None
        last = one_line(child.errors.decode("utf-8", "replace").strip().rpartition("\n")[2])
        told = "it closed its output" if code is None else f"it ended {_ended(code)}"
        self._link.end(f"{told}; it said last: {last}" if last else told)

    def _broken(self, why: str) -> None:
        if not self._closed:
            self._lost(why)


def _ended(code: int) -> str:
    return f"with exit code {code}" if code >= 0 else f"by signal {-code}"

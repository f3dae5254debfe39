"""Requests of ours to the host, each until it is answered, withdrawn, or cannot be answered any more."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from agenyx.core.errors import AgenyxError
from agenyx.ui.wire.inbound import Answered
from agenyx.ui.wire.outbound import ControlCancel, ControlRequest, JsonObject, Outbound

GONE = "the host closed its input, so it cannot be asked"


class HostError(AgenyxError):
    """The host answered with an error, or not at all."""


class Asks:
    """`put` writes a record, `new_id` makes ids, `moved` hears whenever a question is asked or settled."""

    def __init__(
        self, put: Callable[[Outbound], None], new_id: Callable[[], str], moved: Callable[[], None] = lambda: None
    ) -> None:
        self._put, self._new_id, self._moved = put, new_id, moved
        self._open: dict[str, tuple[asyncio.Future[JsonObject], bool]] = {}
        self._closed = ""

    @property
    def waiting(self) -> bool:
        """Whether a person is waited for."""
        return any(person for _, person in self._open.values())

    async def ask(self, request: JsonObject, *, person: bool = False) -> JsonObject:
        """What the host answers; `person`: somebody decides. Raises HostError. Cancelled, it is withdrawn."""
        if self._closed:
            raise HostError(self._closed)
        ident = self._new_id()
        future: asyncio.Future[JsonObject] = asyncio.get_running_loop().create_future()
        self._open[ident] = future, person
        if person:
            self._moved()
        self._put(ControlRequest(ident, request))
        try:
            return await future
        except asyncio.CancelledError:
            if ident in self._open:
                self._put(ControlCancel(ident))
            raise
        finally:
            self._open.pop(ident, None)
            if person:
                self._moved()

    def answered(self, answer: Answered) -> bool:
        """Hand an answer over. False where nobody waits for it: it came too late, or twice."""
        future, _ = self._open.pop(answer.request_id, (None, False))
        if future is None or future.done():
            return False
        if answer.response is None:
            future.set_exception(HostError(answer.error))
        else:
            future.set_result(answer.response)
        return True

    def withdraw(self) -> None:
        """Tell the host that none of them need be answered, in their order. Who waits for one has to be cancelled."""
        for ident in tuple(self._open):
            self._put(ControlCancel(ident))
            self._open.pop(ident)[0].cancel()

    def close(self, why: str = GONE) -> None:
        """No answer can come any more."""
        self._closed = why
        for future, _ in self._open.values():
            if not future.done():
                future.set_exception(HostError(why))
        self._open.clear()

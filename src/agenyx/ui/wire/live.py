"""One stream of records: what comes in is taken, refused or answered; prompts become turns, one after the other.

Owns the order of things: the queue is reserved before anything is cancelled, the end of input lets what was taken run.
Knows neither threads nor descriptors.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import Any

from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.events import TurnFinished
from agenyx.ui.exits import FAILED, OK, WAITING, code_of, explain
from agenyx.ui.wire.answers import Answer, Failed
from agenyx.ui.wire.framing import IN_BYTES, Lines, TooLong
from agenyx.ui.wire.inbound import (
    Answered,
    Asked,
    Fatal,
    Import,
    Inbound,
    Passed,
    Rejected,
    Said,
    Withdrawn,
    Wrong,
    read,
)
from agenyx.ui.wire.outbound import ControlResponse
from agenyx.ui.wire.queue import Queue, Refused
from agenyx.ui.wire.stage import Stage

_BACKLOG = 8192  # records that wait while one is worked on; a host that writes more does not wait for answers
_HELD = 128 << 20  # their bytes


class Live:
    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._lines, self._queue, self._backlog = Lines(), Queue(), deque[Inbound]()
        self._stir = asyncio.Event()
        self._turn: asyncio.Task[TurnFinished | BaseException] | None = None
        self._said = Said("")  # the prompt of that turn
        self._over = self._stopping = False
        self._held = 0
        self._steered: set[str] = set()
        self._fatal = ""
        self.ended: TurnFinished | BaseException | None = None
        stage.queued = lambda: [*self._queue.ids(), self._said.uuid]
        self._handling: dict[str, asyncio.Task[Answer | Failed]] = {}

    # --- what comes in ----------------------------------------------------------------------------------------------

    def feed(self, data: bytes) -> None:
        """Bytes from the host, b"" at the end. Never raises."""
        if self._over:
            return
        try:
            lines = list(self._lines.feed(data)) if data else [self._lines.end()]
            for line in filter(None, lines):
                self._held = self._held + len(line) if self._backlog else len(line)
                self._take(read(line, self.stage.dialect))
        except TooLong:
            self._break(f"a record of more than {IN_BYTES >> 20} MiB")
        except Fatal as fatal:
            self._break(str(fatal))
        if not data:
            self.end()

    def say(self, said: Said) -> None:
        """A prompt that did not come as a record."""
        self._backlog.append(said)
        self._stir.set()

    def end(self) -> None:
        """No more will come: what was taken runs to its end."""
        self._over = True
        self.stage.asks.close()
        self._stir.set()

    def stop(self) -> None:
        """Somebody ends the program: what runs is cancelled, what waits is dropped."""
        self._stopping = True
        self._queue.drop()
        self._backlog.clear()
        self.end()
        self._cancel()

    def _break(self, why: str) -> None:
        self._fatal = self._fatal or why
        self._queue.drop()
        self._backlog.clear()
        self.stage.asks.withdraw()
        self.end()
        self._cancel()

    def _take(self, record: Inbound) -> None:
        """Answers and interrupts at once, all else in its order."""
        match record:
            case Answered():
                if not self.stage.asks.answered(record):
                    self.stage.warn(f"an answer to {record.request_id[:80]}, which is not asked, was passed over", "")
            case Withdrawn(ident):
                if task := self._handling.get(ident):
                    task.cancel()
            case Asked(ident, "interrupt", request):
                self._interrupt(ident, request)
            case Passed(note):
                if note:
                    self.stage.warn(note, "")
            case _ if len(self._backlog) >= _BACKLOG or self._held > _HELD:
                self._break(f"more than {_BACKLOG} records, or {_HELD >> 20} MiB, while one is worked on")
            case _:
                if isinstance(record, Asked) and record.subtype == "initialize":
                    self.stage.hear(record.request)
                self._backlog.append(record)
                self._stir.set()

    def _interrupt(self, ident: str, request: dict[str, Any]) -> None:
        cancelled = list[str]()
        if request.get("cancel_queued") is True:
            cancelled = [said.uuid for said in self._queue.drop() if said.uuid]
        # Prompts that were read and not looked at yet wait as well.
        waiting = self._queue.ids() + [one.uuid for one in self._backlog if isinstance(one, Said) and one.uuid]
        self.stage.asks.withdraw()
        payload: dict[str, Any] = {"still_queued": waiting}
        if cancelled:
            payload["cancelled"] = cancelled
        self._reply(Answer(ident, {} if self.stage.dialect == "agentx" else payload))
        self._cancel()

    def _cancel(self) -> None:
        if self._turn is not None and not self._turn.done():
            self._turn.cancel()

    # --- the run ----------------------------------------------------------------------------------------------------

    async def run(self, patience: float | None) -> int:
        """Until the host is done. `patience`: seconds after which the session opens though nothing has come, None for
        never. Returns the exit code."""
        try:
            if patience is not None and not self._backlog:
                try:
                    async with asyncio.timeout(patience):
                        await self._stir.wait()
                except TimeoutError:
                    await self.stage.open({})
                    self.stage.greet()
            await self._work()
        except Exception as error:  # noqa: BLE001 - the rim of the program: it ends in a record, not in a traceback
            self._fail(error)
        finally:
            for task in tuple(self._handling.values()):
                task.cancel()
            if self._handling:
                await asyncio.wait(tuple(self._handling.values()))
            await self.stage.close()
        if self._fatal:
            error = UsageError(f"the input cannot be read: {self._fatal}", "See docs/wire.md.")
            self._fail(error)
            return FAILED
        if self.ended is None:
            if self.stage.dialect == "agentx" and not self._stopping:
                self._fail(UsageError("the input ended and held no prompt", "Write a record user first."))
                return FAILED
            return OK
        if not isinstance(self.ended, TurnFinished):
            return code_of(self.ended) if not self.stage.prompted else FAILED
        return {"done": OK, "waiting": WAITING}.get(self.ended.outcome.kind, FAILED)

    def _fail(self, error: BaseException) -> None:
        self.ended = error
        self.stage.put(self.stage.projection.result(error))
        self.stage.warn(*explain(error))

    async def _work(self) -> None:
        while True:
            self._stir.clear()
            while self._backlog and self._free():
                await self._look(self._backlog.popleft())
            if self._over and not self._backlog and self._free():
                self.stage.give_up("eof")
            if self._turn is not None and self._turn.done():
                if self._turn.cancelled():  # before it began
                    self.ended = KeyboardInterrupt()
                    self.stage.put(self.stage.projection.result(self.ended, self._said.uuid))
                else:
                    self.ended = self._turn.result()
                self._turn = None
                self.stage.rested(more=bool(len(self._queue) or self._backlog))
                continue
            if self._turn is None and self._free():  # a request may open the session anew
                if (said := self._queue.take()) is not None:
                    await self.stage.ready()
                    if self.stage.foreign(said):
                        self._admit(said)  # which refuses it: the session was not known before
                        continue
                    if self.stage.known(said):
                        continue
                    self._said, self._turn = said, asyncio.ensure_future(self.stage.one(said))
                    self._turn.add_done_callback(lambda _: self._stir.set())
                    continue
                if self._over and not self._backlog and not self._handling:
                    return
            await self._stir.wait()

    def _free(self) -> bool:
        return not self._handling

    async def _look(self, record: Inbound) -> None:
        match record:
            case Said():
                self._admit(record)
            case Import(members):
                await self.stage.imported(members)
            case Rejected(uuid, why):
                self.stage.reject(uuid, why)
            case Wrong(ident, why):
                self._reply(Failed(ident, why))
            case Asked(ident, "initialize", request):
                self._handle(ident, self.stage.initialize(request))
            case Asked(ident, subtype, request):
                self._handle(ident, self.stage.control(subtype, request))
            case _:
                pass

    def _handle(self, ident: str, body: Coroutine[Any, Any, dict[str, Any]]) -> None:
        async def run() -> Answer | Failed:
            try:
                return Answer(ident, await body)
            except AgenyxError as error:
                return Failed(ident, f"{error.message}. {error.fix}".strip(" .") + ".")
            except Exception as error:  # noqa: BLE001 - the rim around a request: the host must get an answer
                return Failed(ident, ". ".join(filter(None, explain(error))))

        def done(task: asyncio.Task[Answer | Failed]) -> None:
            body.close()  # which never began where it was cancelled at once
            del self._handling[ident]
            self._reply(Failed(ident, "cancelled") if task.cancelled() else task.result())
            self._stir.set()

        if ident in self._handling:
            body.close()
            self._reply(Failed(ident, "a request with this id is worked on already"))
            return
        task = self._handling[ident] = asyncio.ensure_future(run())
        task.add_done_callback(done)

    def _reply(self, response: Answer | Failed) -> None:
        self.stage.put(ControlResponse(response))

    # --- prompts ----------------------------------------------------------------------------------------------------

    def _admit(self, said: Said) -> None:
        """Take a prompt in, or say why not. Only one that got in stops what runs."""
        if self.stage.opened is not None and (wrong := self.stage.foreign(said)):
            if self.stage.dialect == "agentx":
                self._break(wrong)
            else:
                self.stage.reject(said.uuid, wrong)
            return
        if self.stage.opened is not None and self.stage.known(said):
            return
        if said.priority == "steer" and self._turn is not None and self.stage.opened is not None:
            if not said.uuid or said.uuid not in self._steered:
                self._steered.add(said.uuid)
                self.stage.opened.conversation.steer(said.text)
            self.stage.replay(said)
            return
        try:
            said = self.stage.with_media(said)
            self._queue.admit(said, self.stage.dialect)
        except (Refused, ValueError) as refused:
            self.stage.reject(said.uuid, str(refused))
            return
        self.stage.accepted(said)
        if said.priority == "now":
            self.stage.asks.withdraw()
            self._cancel()

"""The conversation of one stream: opened as the host wants it, its turns, and all that is told of them.

Knows neither the order of what comes in nor how it is read.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from msgspec import UNSET
from msgspec.structs import replace

from agenyx.agent.ports import Approver
from agenyx.app.settings import Settings
from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.events import AgentEvent, Notice, Outcome, TurnFinished, TurnStarted
from agenyx.core.ids import session_id
from agenyx.core.messages import Text, User
from agenyx.ext.hooks.model import Entry, HookResult
from agenyx.ui.exits import explain
from agenyx.ui.view import View
from agenyx.ui.wire.approver import WireApprover
from agenyx.ui.wire.asks import Asks
from agenyx.ui.wire.attached import seen, shows
from agenyx.ui.wire.controls import Desk, set_mode
from agenyx.ui.wire.controls import answer as handled
from agenyx.ui.wire.dialect import Dialect, of_initialize
from agenyx.ui.wire.inbound import Said
from agenyx.ui.wire.opening import Opened, init, opened
from agenyx.ui.wire.opening import answer as greeting
from agenyx.ui.wire.outbound import (
    HookResponse,
    HookStarted,
    JsonObject,
    LocalOutput,
    Outbound,
    StateChanged,
    TextBlock,
    UserMessage,
    UserRecord,
)
from agenyx.ui.wire.project import Projection

if TYPE_CHECKING:
    from agenyx.ui.wire.uploads import Uploads


class Choices:
    """What the command line says of a stream."""

    def __init__(
        self,
        *,
        partial: bool,
        replay: bool,
        asks: bool,
        states: bool | None,
        schema: JsonObject | None = None,
        hooks: bool = False,
        live: bool = True,
        trace: Callable[[AgentEvent, View], None] | None = None,
        note: Callable[[str, dict[str, str | int]], None] | None = None,
    ) -> None:
        """`asks`: questions go to the host. `states` tells whether the state is told: None for AgentX hosts only, False
        marked as the Agent SDKs' own, True for everybody. `trace` gets each event, for diagnostics, `note` what
        happens beside them. `live`: more prompts may come, so that a choice for later turns is of use."""
        self.partial, self.replay, self.asks, self.states = partial, replay, asks, states
        self.schema, self.hooks, self.trace, self.live = schema, hooks, trace, live
        self.note = note


class Stage:
    """`put` writes a record, `warn` tells a person. `other` answers questions that the host is not asked."""

    def __init__(
        self,
        settings: Settings,
        env: Mapping[str, str],
        choices: Choices,
        put: Callable[[Outbound], None],
        barrier: Callable[[], Awaitable[None]],
        warn: Callable[[str, str], None],
        other: Approver,
    ) -> None:
        self._settings, self._env, self._choices = settings, env, choices
        self.put, self._barrier, self.warn = put, barrier, warn
        self.dialect: Dialect = "sdk"
        self._decided = self._greeted = self.prompted = self.running = False
        self._state = ""
        self.projection = Projection("sdk", session_id, partial=choices.partial)
        self.asks = Asks(put, session_id, self._moved)
        self._approver = WireApprover(self.asks, other, lambda: self.dialect, self._asks_host, self._set_mode)
        self.opened: Opened | None = None
        self._desk: Desk | None = None
        self._schema = choices.schema
        self.queued: Callable[[], list[str]] = list  # uuids of prompts that wait or run
        self._uploads: Uploads | None = None  # made for the first host that sends one

    # --- opening ----------------------------------------------------------------------------------------------------

    async def initialize(self, request: dict[str, Any]) -> dict[str, Any]:
        if self.dialect == "agentx" and of_initialize(request) == "sdk":
            raise UsageError("initialize has no fields in the contract that this host began with", "")
        fields = {name: value for name, value in request.items() if name != "subtype" and value}
        late = self.opened is not None
        if late and fields and not self.prompted:
            await self._reset()
            late = False
        applied = not (late and fields)
        if isinstance(schema := fields.get("jsonSchema"), dict) and self._schema is None and applied:
            self._schema = cast("JsonObject", schema)
        await self.open(request if applied else {})
        assert self.opened is not None
        if self.dialect == "agentx":
            self.greet()
        self.projection.forward = self.projection.forward or request.get("forwardSubagentText") is True
        return greeting(self.opened, self.dialect, os.getpid(), applied=applied)

    async def _reset(self) -> None:
        """Close the session, to open it anew: nothing was said yet, so nothing is lost. It stays the same one."""
        assert self.opened is not None
        session = self.opened.conversation.parts.source.session
        await self.opened.close()
        self.opened = None
        if session.state.entries:
            self._settings = replace(self._settings, resume=session.id, continue_=False, fork=False)
        else:
            self._settings = replace(self._settings, session_id=session.id)

    def hear(self, request: dict[str, Any]) -> None:
        """The host says `initialize`: the first one decides how what follows is read."""
        if not self._decided:
            self._decide(of_initialize(request))

    def _decide(self, dialect: Dialect) -> None:
        self._decided, self.dialect, self.projection.dialect = True, dialect, dialect

    async def ready(self) -> None:
        """Before the first turn: what no `initialize` decided is decided now."""
        if not self._decided:
            self._decide("sdk")
        await self.open({})

    async def open(self, request: dict[str, Any]) -> None:
        if self.opened is not None:
            return
        self.opened = await opened(
            self._settings, self._env, request, self.asks, self._emit, self._approver, self._barrier, self._tell
        )
        conversation = self.opened.conversation
        self.projection.session = conversation.session_id
        if self._choices.hooks:
            conversation.hooks.heard = self._heard
        if self._choices.note is not None:
            from agenyx.app.diagnostics import attach  # only with --debug

            attach(conversation, self._choices.note)
        self.projection.total = conversation.status().usage
        self._desk = Desk(conversation, lambda: self.dialect, lambda: self.running, self.opened.servers)

    def greet(self) -> None:
        """The record of what the session is, for a host that waits for it."""
        if not self._greeted and self.opened is not None:
            self._greeted = True
            self.put(init(self.opened, self.dialect, decided=self._decided))

    async def close(self) -> None:
        self.give_up("shutdown")
        if self.opened is not None:
            await self.opened.close()

    # --- files of a host --------------------------------------------------------------------------------------------

    async def imported(self, record: dict[str, Any]) -> None:
        """Something about a file that the host sends."""
        await self.open({})
        if self._uploads is None:
            from agenyx.ui.wire.uploads import Uploads  # few hosts send any

            assert self.opened is not None
            source, queued = self.opened.conversation.parts.source, self.queued
            self._uploads = Uploads(
                self.put,
                lambda data, name: source.session.keep(data, name, shows(source)),
                lambda uuid: uuid in source.session.state.prompts or uuid in queued(),
                lambda: bool(shows(source)),
            )
        if begun := self._uploads.take(record):
            from agenyx.ui.wire.uploads import SECONDS

            asyncio.get_running_loop().call_later(SECONDS, self._uploads.expire, begun)

    def give_up(self, reason: str) -> None:
        """What is still uploading will not come any more."""
        if self._uploads is not None:
            self._uploads.close(reason)

    def with_media(self, said: Said) -> Said:
        """The prompt with the files that it names. Raises ValueError where it must not be taken."""
        if self._uploads is None:
            if said.refs:
                raise ValueError("the prompt names an attachment that was not committed for it as it is named")
            return said
        return replace(said, media=self._uploads.claim(said.uuid, said.refs))

    def accepted(self, said: Said) -> None:
        """The prompt waits for its turn."""
        if self._uploads is not None and said.uuid:
            self._uploads.accepted(said.uuid)

    # --- prompts ----------------------------------------------------------------------------------------------------

    def foreign(self, said: Said) -> str:
        """Why a prompt is for another session, "" where it is for this one. A host of the Agent SDKs may use labels
        of its own, which name no session."""
        assert self.opened is not None
        if said.session in ("", self.opened.conversation.session_id):
            return ""
        if self.dialect == "agentx" or (len(said.session) == 36 and said.session.count("-") == 4):
            return f"it is for the session {said.session[:80]}, and another one runs here"
        return ""

    def known(self, said: Said) -> bool:
        """Whether the prompt was taken up before, also by an earlier process; then that is all there is to say."""
        assert self.opened is not None
        if not said.uuid or said.uuid not in self.opened.conversation.parts.source.session.state.prompts:
            return False
        self.replay(said)
        return True

    def reject(self, uuid: str, why: str) -> None:
        self.put(self.projection.result(UsageError(f"the prompt was not taken: {why}", ""), uuid))

    def replay(self, said: Said) -> None:
        if self._choices.replay:
            session, uuid = self.projection.session, said.uuid or session_id()
            self.put(UserRecord(UserMessage((TextBlock(said.text),)), session, uuid, isReplay=True))

    async def one(self, said: Said) -> TurnFinished | BaseException:
        """One prompt to its result. Does not raise."""
        assert self.opened is not None
        begun, uuid = time.monotonic(), said.uuid or session_id()
        data: Any = UNSET
        structured: tuple[Any, ...] | None = ()
        self.prompted = self.running = True
        self.projection.windows = (self.opened.conversation.window(), None)
        self._tell_state("running")
        ended: TurnFinished | BaseException
        try:
            words, data, shown = await self._words(said)
            if words is not None and (said.images or said.paths or said.media):
                words = seen(self.opened.conversation, words, said.images, said.paths, said.media)
            self.replay(said if said.uuid else Said(said.text, uuid))
            if words is None:
                ended = TurnFinished(Outcome("done"), shown, 0, time.monotonic() - begun)
            else:
                ended, structured = await self._prompted(words, uuid)
        except asyncio.CancelledError:
            ended = KeyboardInterrupt()
        except Exception as error:  # noqa: BLE001 - the rim around a turn: its end is a record
            ended = error
            if not isinstance(error, AgenyxError):
                self.warn(*explain(error))
        self.running = self.projection.again = False
        value = structured[0] if structured else UNSET
        subtype = "error_max_structured_output_retries" if structured is None else None
        self.put(self.projection.result(ended, uuid, time.monotonic() - begun, data, value, subtype))
        return ended

    async def _prompted(self, words: str | User, uuid: str) -> tuple[TurnFinished, tuple[Any, ...] | None]:
        """A turn, and where a schema is given the one value that its answer is, () without one: None where the answer
        does not fit, also after the model was told what is wrong."""
        assert self.opened is not None
        conversation, schema = self.opened.conversation, self._schema
        if schema is None:
            return await conversation.prompt(words, uuid), ()
        from agenyx.ui.wire import structured

        user = words if isinstance(words, User) else User((Text(words),), shown=words)
        ended = await conversation.prompt(replace(user, blocks=(*user.blocks, Text(structured.told(schema)))), uuid)
        for left in range(structured.MOST_REPAIRS, -1, -1):
            if ended.outcome.kind != "done":
                return ended, ()
            try:
                return ended, (structured.value_of(ended.text, schema),)
            except structured.Unfit as wrong:
                if not left:
                    outcome = Outcome("failed", f"the answer does not fit the schema: {wrong}")
                    return replace(ended, outcome=outcome), None
                self.projection.again, before = True, ended
                more = await conversation.prompt(User((Text(structured.repair(str(wrong))),)))
                ended = structured.together(before, more)
        return ended, ()

    def rested(self, *, more: bool) -> None:
        """A turn is over; `more`: the next one begins at once."""
        if self.dialect == "agentx" or not more:
            self._tell_state("idle")

    async def _words(self, said: Said) -> tuple[str | User | None, Any, str]:
        """The words for the model, None for none; the data and the text that a slash command answered."""
        if said.verbatim or not said.text.lstrip().startswith("/"):
            return said.text, UNSET, ""
        from agenyx.ui.command import command, shown

        assert self.opened is not None
        conversation = self.opened.conversation
        self.projection.manual = True
        try:
            reply = await command(conversation, self._env, said.text, once=not self._choices.live)
        finally:
            self.projection.manual = False
        if isinstance(reply, str):
            return reply, UNSET, ""
        if text := shown(reply):
            self.put(LocalOutput(text, conversation.session_id, session_id()))
        return reply.prompt, UNSET if reply.data is None else reply.data, text

    async def control(self, subtype: str, request: dict[str, Any]) -> dict[str, Any]:
        await self.open({})
        assert self._desk is not None
        return await handled(self._desk, subtype, request)

    @property
    def directory(self) -> str:
        """That of the session, "" while there is none."""
        return self.opened.conversation.parts.source.session.directory if self.opened is not None else ""

    # --- what goes out ----------------------------------------------------------------------------------------------

    def _emit(self, event: AgentEvent) -> None:
        try:
            match event.body:
                case TurnStarted() if not event.agent and self.opened is not None:
                    if (self.dialect == "sdk" and not self.projection.again) or not self._greeted:
                        self._greeted = True
                        self.put(init(self.opened, self.dialect, decided=self._decided))
                case Notice("warning" | "error", text, fix):
                    self.warn(text, fix)
                case _:
                    pass
            for record in self.projection.records(event, time.monotonic()):
                self.put(record)
            if self._choices.trace is not None:
                self._choices.trace(event, self.projection.view)
        except Exception as error:  # noqa: BLE001 - the rim around showing: it must not change what happens
            self.warn(f"an event could not be told: {type(error).__name__}: {error}", "")

    def _heard(self, number: int, entry: Entry, result: HookResult | None) -> None:
        """A hook began, or has come to something."""
        session, ident, name = self.projection.session, f"hook_{number}", entry.name
        if result is None:
            self.put(HookStarted(ident, name, entry.event, session, session_id()))
            return
        code = None if result.failure else result.code
        good: Literal["success", "error"] = "success" if code == 0 else "error"
        errors = result.failure or result.errors
        self.put(HookResponse(ident, name, entry.event, result.output, errors, code, good, session, session_id()))

    def _tell(self, text: str) -> None:
        self.warn(text, "")

    def _moved(self) -> None:
        """A question was asked or settled."""
        if self.running:
            self._tell_state("requires_action" if self.asks.waiting else "running")

    def _tell_state(self, state: Any) -> None:
        states = True if self.dialect == "agentx" else self._choices.states
        if states is None or state == self._state:
            return
        self._state = state
        marked = UNSET if states else True
        self.put(StateChanged(state, self.projection.session, session_id(), marked))

    def _asks_host(self) -> bool:
        return self._choices.asks or self.dialect == "agentx"

    def _set_mode(self, mode: str) -> None:
        if self.opened is not None:
            set_mode(self.opened.conversation, mode)

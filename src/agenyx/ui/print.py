"""The print surface: one run on plain streams, as a projection of its events.

The answer goes to standard output, once; what happens on the way goes to standard error. On a terminal the answer
appears while it is made. `emit` never waits and never raises.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from agenyx.core.errors import AgenyxError
from agenyx.core.events import (
    AgentEvent,
    CallFinished,
    Notice,
    Outcome,
    Retrying,
    StepStarted,
    TextDelta,
    TurnFinished,
)
from agenyx.core.ids import session_id
from agenyx.ui.activity import call_line, child_line, line
from agenyx.ui.exits import complaint
from agenyx.ui.result import reason, record
from agenyx.ui.streams import Stream, Writer
from agenyx.ui.view import View

if TYPE_CHECKING:
    from agenyx.ui.debug import Debug


class Answer:
    """Text on standard output. `live` shows it while it streams; then the end adds only what is missing."""

    def __init__(self, out: Stream, *, live: bool) -> None:
        self._out, self._live = out, live
        self._open = False  # the cursor stands behind text

    def show(self, event: AgentEvent) -> None:
        if event.agent:
            return
        match event.body:
            case TextDelta(_, text) if self._live and text:
                self._out.write(text)
                self._open = not text.endswith("\n")
            case StepStarted() | Retrying():
                self.break_line()
            case _:
                pass

    def break_line(self) -> None:
        """End the line that streamed text left open, before anything else is written to the screen."""
        if self._open:
            self._out.write("\n")
            self._open = False

    def end(self, text: str, streamed: str) -> None:
        """Make `text` followed by one line feed the last thing on standard output."""
        shown = self._live and streamed and streamed.strip() == text.strip()
        self.break_line()
        if text.strip() and not shown:
            self._out.write(text.rstrip("\n") + "\n")


class Printer:
    """A run on standard output and error. `activity` tells each call; `debug` writes JSON lines instead."""

    def __init__(
        self,
        writer: Writer,
        out: Stream,
        err: Stream,
        *,
        json: bool,
        activity: bool,
        debug: Debug | None,
        clock: Callable[[], float] = time.monotonic,
        new_id: Callable[[], str] = session_id,
    ) -> None:
        self._writer, self._out, self._err = writer, out, err
        self._json, self._activity, self._debug = json, activity and debug is None, debug
        self._clock, self._new_id, self._begun = clock, new_id, clock()
        self._answer = Answer(out, live=out.tty and not json)
        self._ended = False
        self.view = View()

    def emit(self, event: AgentEvent) -> None:
        """Show one event."""
        try:
            known = not isinstance(event.body, CallFinished) or event.body.result.call in self.view.calls
            self.view.apply(event, self._clock())
            self._answer.show(event)
            if self._debug:
                self._err.raw(self._debug.line(event, self.view))
            if self._activity and isinstance(event.body, CallFinished) and not known and not event.agent:
                self._say(call_line(self.view.calls[event.body.result.call]))  # it was refused before it was taken on
            self._tell(event)
        except Exception as error:  # noqa: BLE001 - the rim around showing: it must not change what happens
            self._err.write(complaint(f"an event could not be shown: {type(error).__name__}"))

    def _tell(self, event: AgentEvent) -> None:
        match event.body:
            case Notice("warning" | "error", text, fix) if event.agent:
                self._say(complaint(f"{event.agent}: {text}", fix))
            case body if event.agent:
                if self._activity and (text := child_line(event.agent, body)):
                    self._say(text)
            case Notice("warning" | "error", text, fix):
                self._say(complaint(text, fix))
            case _ if self._activity and (text := line(event.body)):
                self._say(text)
            case _:
                pass

    def _say(self, text: str) -> None:
        self._answer.break_line()
        self._err.write(text)

    def warn(self, message: str, fix: str = "") -> None:
        """Tell the person something that is not an event."""
        self._say(complaint(message, fix))

    def stage(self, message: str, fields: Mapping[str, str | int] | None = None) -> None:
        """Note a stage of the program, where diagnostics were asked for."""
        if self._debug:
            self._err.raw(self._debug.told(message, self.view, fields or {}))

    def note(self, text: str) -> None:
        """Tell what a command says before its turn begins."""
        if text:
            self._say(f"{text}\n")

    def answer(self, text: str, data: Any, session: str) -> TurnFinished:
        """Write the end of a run that was a command, which no model was asked about. `data` as for `result.record`."""
        ended = TurnFinished(Outcome("done"), text, 0, self._clock() - self._begun)
        self.finish(ended, session, data)
        return ended

    async def barrier(self) -> None:
        """Return when everything emitted was written. Raises AgenyxError when standard output is gone."""
        await self._writer.drain()
        if self._out.fd in self._writer.broken:
            raise AgenyxError("standard output is closed")

    def finish(self, ended: TurnFinished | BaseException, session: str = "", data: Any = UNSET) -> None:
        """Write the end of the run: the answer or the record, and why it did not end well.

        What fails after that, on the way out, is told on standard error only: there is one end.
        """
        finished = ended if isinstance(ended, TurnFinished) else None
        if self._ended:
            if isinstance(ended, Exception):
                self.warn(*reason(ended))
            return
        self._ended = True
        if self._json:
            seconds = self._clock() - self._begun
            self._out.raw(record(self.view, ended, seconds, self._new_id(), session, data))
        else:
            self._answer.end(finished.text if finished else "", self.view.streamed)
        if finished is None or finished.outcome.kind != "done":
            self._err.write(complaint(*reason(ended)))

"""Keeps the conversation within the model's window: looks before each request, makes room, and gives up in words.

What it does goes on record, and what it decides by stands on record: a new process decides the same. Room is only made
where it gains something, so there is no loop of summaries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from agenyx.agent.budget import Meter
from agenyx.agent.context import NO_CHOICE, Choice, Levels, estimate, head_size, least, levels, pressure
from agenyx.agent.ports import Emitter, Ports
from agenyx.core.events import Compacted, Failure, Notice, Outcome, PrefixBroke
from agenyx.llm.request import Provider
from agenyx.session import records
from agenyx.session.session import Session
from agenyx.session.view import shown

GAIN = 10  # room is made again when the tenth part of what may be used has come since
TRIES = 2  # summaries with hardly a step between them
FIX = (
    "Begin anew (/clear), hand over less at once, or use a model with a larger window. If its window is larger than "
    "Agenyx knows: agenyx config set context.window TOKENS"
)


class Room:
    """`window` gives the context window in tokens, None when it is not known; it is told how many tokens are in use, as
    it may be costly to find out. `output` is the most that an answer is asked for. `keep` writes results to files, and
    `pages` says that the model can read those."""

    def __init__(
        self,
        session: Session,
        ports: Ports,
        emit: Emitter,
        meter: Meter,
        window: Callable[[int], int | None],
        output: Callable[[], int | None],
        keep: Callable[[str, str], str | None],
        pages: bool,
        choice: Choice = NO_CHOICE,
    ) -> None:
        self._session, self._ports, self._emit, self._meter = session, ports, emit, meter
        self._window, self._output, self._keep, self._pages = window, output, keep, pages
        self.choice = choice
        self._warned = False
        self.instead: Callable[[Failure], bool] | None = None
        """What goes on after a failure that is not about room; True where something does."""

    def levels(self) -> Levels | None:
        """The levels for the model as it is now, None while its window is not known."""
        window = self.choice.window or self._window(pressure(self._session.state))
        return levels(window, self._output(), self.choice) if window else None

    async def fit(self, provider: Provider) -> bool:
        """Look whether the next request fits. True when records were added, so that the state has changed."""
        state = self._session.state
        used = pressure(state)
        found = self.levels()
        if found is None or used < found.warn:
            self._warned = False
            return False
        if used < found.auto:
            self._warn(used, found)
            return False
        gains = not state.floor or used >= state.floor + found.usable // GAIN
        if gains and state.tries < TRIES and (self._prune(used, found) or await self.compact(provider, "", "auto")):
            return True
        if least(state) < found.hard:
            return False  # an estimate may be wrong: the server knows
        return self._give_up(used, found)

    async def relieve(self, provider: Provider, failed: Outcome) -> bool:
        """Make room after `failed`, if that is what it was about: once for a request. True when it is dealt with."""
        if failed.failure is not None and self._unseen(failed.failure):
            return True
        if failed.failure is None or failed.failure.kind != "overflow":
            return failed.failure is not None and self.instead is not None and self.instead(failed.failure)
        if not self._session.state.overflowed and await self.compact(provider, "", "overflow"):
            return True
        return self._give_up(pressure(self._session.state), self.levels(), failed.failure.message)

    def _unseen(self, failure: Failure) -> bool:
        """Go on without the images that the server refused. False where it was not about any."""
        if not any(map(shown, self._session.state.view.entries)):
            return False
        from agenyx.agent.unseen import refused

        if not (media := refused(self._session.state, failure)):
            return False
        self._session.append(records.Unseen(media, failure.message), sync=True)
        self._emit(PrefixBroke("the server refused an image"))
        what = "an image or a document" if len(media) == 1 else f"{len(media)} images or documents"
        text = f"The server refused {what} ({failure.message}); the model is told so in words."
        self._emit(Notice("warning", text, "If it cannot see any: agenyx config set images no"))
        return True

    async def compact(
        self, provider: Provider, focus: str, by: Literal["auto", "overflow", "user"]
    ) -> records.Compacted | None:
        """Summarise the conversation. None when there is nothing that a summary could stand for."""
        from agenyx.agent.compact import Scribe
        from agenyx.agent.remains import compose, plan

        state, found = self._session.state, self.levels()
        before = pressure(state)
        top = min(found.auto, before) if found and by != "overflow" else before
        room = max(top // 2 - head_size(state), top // 8)
        chosen = plan(state.view, room)
        if chosen is None:
            return None
        self._emit(Notice("info", "The conversation is being summarised to make room."))
        if more := await self._ports.compacting(by, focus):
            focus = f"{focus}\n{more}".strip()
        whole = by != "overflow" and (found is None or before <= found.hard)
        scribe = Scribe(provider, self._session.request(), self._emit, self._meter.take)
        written = await scribe.write(chosen.covered, focus, room // 4, whole)
        text = compose(state, chosen, written.text)
        body = records.Compacted(text, chosen.upto, chosen.kept, by, written.by_model, before, 0, written.usage)
        body = self._sized(body)
        self._session.append(body, sync=True)
        self._warned = False
        self._emit(PrefixBroke("compaction"))
        self._emit(Compacted(text))
        await self._ports.compacted(text)
        return body

    def _sized(self, body: records.Compacted) -> records.Compacted:
        """The record with what the next request will take, by the measure of what the last one took."""
        from msgspec.structs import replace

        from agenyx.session.view import View

        state = self._session.state
        after = View()
        after.entries, after.ids = state.view.entries, state.view.ids
        after.compact(body)
        head = head_size(state)
        share = body.before / max(head + estimate(state.view.entries), 1)
        return replace(body, tokens=max(round((head + estimate(after.entries)) * share), 1))

    def _prune(self, used: int, found: Levels) -> bool:
        """Take old results out if that alone makes enough room."""
        from agenyx.agent.prune import freed, old_results, taken_out

        state = self._session.state
        share = used / max(head_size(state) + estimate(state.view.entries), 1)
        results = old_results(state.view.entries, round(found.usable / 4 / share))
        if used - round(freed(results) * share) > found.auto * 3 // 4:
            return False
        shorter = taken_out(results, self._keep, self._pages)
        done = {result.call for result in shorter}
        left = used - round(freed([result for result in results if result.call in done]) * share)
        if left > found.auto * 3 // 4:
            return False
        self._session.append(records.Pruned(shorter, max(left, 1)), sync=True)
        self._warned = False
        self._emit(PrefixBroke(f"{len(shorter)} old results were taken out to make room"))
        return True

    def _warn(self, used: int, found: Levels) -> None:
        if not self._warned:
            self._warned = True
            share = f"{used * 100 // found.usable} % of the model's window is in use"
            self._emit(Notice("info", f"{share}; room will be made in it soon.", "/compact does it now."))

    def _give_up(self, used: int, found: Levels | None, said: str = "") -> bool:
        window = f", and the model takes {found.usable:,}" if found else ""
        text = f"The conversation does not fit the model and cannot be shortened: it has about {used:,} tokens{window}"
        failure = Failure("overflow", f"{text}{f' ({said})' if said else ''}", FIX)
        self._session.append(records.Finished(Outcome("failed", failure.message, failure)), sync=True)
        return True

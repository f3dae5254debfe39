"""Units to the records of a new session. Nothing of what came in acts here: it is text that was said, no rule, no mode.

Whatever the tree was, what goes on record is a valid history: each call has one result, and branches begin at whole
steps.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from msgspec import Struct

from agenyx.app.interchange import blocks
from agenyx.app.interchange.units import Told, Unit
from agenyx.core.events import Outcome
from agenyx.core.messages import Assistant, Media, Text, ToolCall, ToolResult, User
from agenyx.session.records import Accepted, Body, Compacted, Finished, Head, Prompt, Response, Result
from agenyx.session.session import Session

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LOST = "The transcript that this session was made from has no result of this call."
_ENDS = "The transcript ends here."
_KEPT = 64  # prompts that stay word for word behind a summary


class _Placed(Struct):
    """Where a unit stands in the records: its last one, the one that completed its entry, and its turn."""

    tip: str
    done: str
    turn: str
    open: bool  # nothing was typed in the turn yet
    over: bool = False


class Incoming:
    """Writes into `session`, whose last record is what everything follows. `now` is told the time of each unit."""

    def __init__(self, session: Session, now: Callable[[float], None]) -> None:
        self._session, self._now = session, now
        self._names = set[str]()
        self._ids: dict[str, str] = {}  # the record of an entry by the uuids of its lines
        self.calls: dict[str, str] = {}
        """What calls are named here, by the id that they had; of two with one id the first."""
        self.prompts = self.steps = self.lost = 0

    def write(self, told: Told) -> None:
        """All units, the branch of the leaf last. Raises StoreError."""
        begin = self._session.state.head
        placed = {-1: _Placed(begin, "", "", True)}
        below: dict[int, list[int]] = {}
        for number, unit in enumerate(told.units):
            below.setdefault(unit.parent, []).append(number)
        active, at = set[int](), told.leaf
        while at >= 0:
            active.add(at)
            at = told.units[at].parent
        waiting = sorted(below.get(-1, ()), key=lambda one: (one not in active, -one))
        while waiting:
            number = waiting.pop()
            unit, children = told.units[number], below.get(number, ())
            above = placed[unit.parent]
            if self._session.state.head != above.tip:
                self._append(Head(above.tip, "switch"), turn=above.turn)
            ends = not children or any(told.units[one].origin == "typed" for one in children)
            placed[number] = self._unit(unit, above, ends)
            waiting += sorted(children, key=lambda one: (one not in active, -one))
        if self._session.state.head != (tip := placed[told.leaf].tip):
            self._append(Head(tip, "switch"), turn=placed[told.leaf].turn)
        if not placed[told.leaf].over and placed[told.leaf].turn:
            self._append(Finished(Outcome("stopped", _ENDS)), turn=placed[told.leaf].turn)

    def _keep(self, data: bytes, name: str) -> Media | str | None:
        return self._session.keep(data, name, ("images", "documents"))

    def _append(self, *bodies: Body, turn: str) -> str:
        """The id of the last record."""
        self._session.append(*(self._session.masker.value(body) for body in bodies), turn=turn)
        return self._session.state.head

    def _unit(self, unit: Unit, above: _Placed, ends: bool) -> _Placed:
        self._now(unit.at)
        if not unit.says:
            return above
        match unit.kind:
            case "user":
                here = self._user(unit, above)
            case "step":
                here = self._step(unit, above)
            case "summary":
                here = self._summary(unit, above)
        self._ids.update(dict.fromkeys(unit.uuids, here.done))
        if ends and not here.open:
            over = unit.kind == "step" and not unit.calls
            outcome = Outcome("done") if over else Outcome("stopped", _ENDS)
            here.tip, here.over = self._append(Finished(outcome), turn=here.turn), True
        return here

    def _user(self, unit: Unit, above: _Placed) -> _Placed:
        said = blocks.spoken(unit.content, self._keep)
        typed = unit.origin == "typed"
        turn = above.turn if above.turn and (above.open or not typed) else self._session.ids.new("turn")
        user = User(said, unit.origin, self._session.ids.new("prompt") if typed else "")
        self.prompts += typed
        done = self._append(Prompt(user), turn=turn)
        return _Placed(done, done, turn, above.open and not typed)

    def _step(self, unit: Unit, above: _Placed) -> _Placed:
        session, results = self._session, list[Body]()
        turn = above.turn or session.ids.new("turn")
        names: dict[str, str] = {}

        def named(call: str) -> str:
            name = call if _ID.fullmatch(call) and call not in self._names else session.ids.new("call")
            self._names.add(name)
            self.calls.setdefault(call, name)
            names[name] = call
            return name

        said = blocks.answered(unit.content, named)
        made = [block for block in said if isinstance(block, ToolCall)]
        stop = blocks.stopped(unit.stop, bool(made))
        there = {was: name for name, was in names.items()}
        for call, outcome in unit.results.items():
            results.append(Result(blocks.result(there[call], outcome.block, outcome.told, self._keep)))
        for call in made:
            if names[call.id] not in unit.results:
                self.lost += 1
                results.append(Result(ToolResult(call.id, "interrupted", (Text(_LOST),))))
        self.steps += 1
        response = Response(Assistant(said, stop, unit.model), blocks.counted(unit.usage), unit.key[0][:200])
        done = self._append(response, *(Accepted(call.id) for call in made), *results, turn=turn)
        return _Placed(done, done, turn, False)

    def _summary(self, unit: Unit, above: _Placed) -> _Placed:
        """What it stands for is everything before, unless its mark says up to where, and what stays beside it."""
        text = "\n".join(block.text for block in blocks.spoken(unit.content, _none) if isinstance(block, Text))
        turn = above.turn or self._session.ids.new("turn")
        upto = self._ids.get(blocks.words(unit.mark.get("upto")), above.done)
        told: Any = unit.mark.get("kept")
        listed = cast("list[Any]", told) if isinstance(told, list) else []
        kept = [self._ids.get(blocks.words(one), "") for one in listed[:_KEPT]]
        before = unit.mark.get("preTokens")
        body = Compacted(
            text,
            upto,
            tuple(one for one in kept if one),
            "user" if unit.mark.get("trigger") == "manual" else "auto",
            before=before if type(before) is int and 0 <= before < 1 << 31 else 0,
        )
        done = self._append(body, turn=turn)
        return _Placed(done, upto, turn, above.open)


def _none(_data: bytes, _name: str) -> None:
    return None

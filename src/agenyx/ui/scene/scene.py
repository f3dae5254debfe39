"""A conversation as blocks, made from its events. What a surface with a memory of its own draws from.

It writes nothing, asks nobody, and knows no toolkit. `changed` grows whenever anything did.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from agenyx.core.events import (
    AgentEvent,
    ApprovalAsked,
    ApprovalSettled,
    Body,
    CallAccepted,
    CallDraft,
    CallFinished,
    Compacted,
    Done,
    EffectStarted,
    Failure,
    ModeChanged,
    Notice,
    Output,
    PrefixBroke,
    ReasoningDelta,
    Retrying,
    StepStarted,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from agenyx.core.json import scrub
from agenyx.ui.activity import line
from agenyx.ui.scene.blocks import (
    Answer,
    AnyBlock,
    Block,
    Card,
    Change,
    Complaint,
    End,
    Mark,
    Note,
    Said,
    Stage,
    Thought,
    Typed,
)
from agenyx.ui.scene.open import Calls, Open, ended, slim
from agenyx.ui.scene.pulse import TAIL, Pulse
from agenyx.ui.scene.shelf import Blocks


class Scene:
    """`blocks` from the oldest on; only those at the end are ever changed, and those of calls that are not over.

    `pulse` is what goes on now. `files` maps each path that a call changed to how many calls did, in the order of the
    last change. `begun` counts the conversations that were shown: with another one all blocks are others.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.blocks = Blocks()
        self.pulse = Pulse(clock)
        self.files: dict[str, int] = {}
        self.changed = self.begun = 0
        self._keys = 0
        self._older: Callable[[], list[Block]] | None = None
        self._open: dict[str, Open] = {}
        self._calls = Calls()

    # --- what the person and the program say -------------------------------------------------------------------------

    def typed(self, text: str, *, steer: bool = False) -> None:
        """What was sent: the input of a turn, or a word to the one that runs."""
        self._add("", Typed(key=self.key(), text=scrub(text), how="steer" if steer else "prompt"))

    def say(self, text: str, style: str = "") -> None:
        self._add("", Said(key=self.key(), text=scrub(text), style=style))

    def complain(self, message: str, fix: str = "") -> None:
        self._add("", Complaint(key=self.key(), message=scrub(message), fix=scrub(fix)))

    def diff(self, text: str) -> None:
        self._add("", Change(key=self.key(), text=scrub(text)))

    # --- another conversation ----------------------------------------------------------------------------------------

    def restart(self, blocks: Iterable[Block] = (), older: Callable[[], list[Block]] | None = None) -> None:
        """Show another conversation: nothing, or these blocks of its history, whose keys come from `key`.

        `older` gives those before them, some at a time, [] when there are no more. Cards that are not over wait for
        their events.
        """
        self.blocks = Blocks(blocks)
        self._older = older
        self._open.clear()
        self._calls = Calls()
        for index in range(self.blocks.live, len(self.blocks)):
            block = self.blocks[index]
            if isinstance(block, Card) and not block.over and block.call is not None:
                self._calls.take("", block.call, block)
        self.files.clear()
        self.pulse = Pulse(self._clock)
        self.begun += 1
        self.changed += 1

    @property
    def has_older(self) -> bool:
        return self._older is not None

    def more(self) -> int:
        """Put older blocks before the first one; returns how many."""
        older = self._older() if self._older is not None else []
        if not older:
            self._older = None
            return 0
        self.blocks.put_before(older)
        self.changed += 1
        return len(older)

    def key(self) -> int:
        """A key that no block has."""
        self._keys += 1
        return self._keys

    # --- what happens ------------------------------------------------------------------------------------------------

    def apply(self, event: AgentEvent) -> None:
        """Take one event in."""
        self.pulse.apply(event)
        self.changed += 1
        body, agent = event.body, event.agent
        match body:
            case TextDelta(_, text):
                self._piece(agent, Answer, text)
            case ReasoningDelta(_, text):
                self._piece(agent, Thought, text)
            case CallDraft(index, name, text):
                self._draft(agent, index, name, text)
            case Done():
                self._done(agent, body)
            case Failure():
                self._settle(agent)
                self._unrun(agent)
            case Retrying():
                self._withdraw(agent)
                self._note(agent, body)
            case TurnStarted():
                self._begin(agent)
            case StepStarted():
                self._settle(agent)
                self._unrun(agent)
                self._of(agent).said = False
            case CallAccepted():
                self._accepted(agent, body)
            case ApprovalAsked(approval):
                self._calls.ask(approval.id, approval.call.id)
                self._stage(approval.call.id, "asked")
            case ApprovalSettled(decision):
                self._stage(self._calls.answered(decision.approval), "accepted")
            case EffectStarted(calls):
                for call in calls:
                    self._stage(call, "running")
            case Output(call, data):
                self._output(call, data)
            case CallFinished():
                self._finished(agent, body)
            case TurnFinished():
                self._over(agent, body)
            case Compacted(summary):
                self._add(agent, Mark(key=self.key(), summary=summary))
            case Notice() | PrefixBroke() | ModeChanged():
                self._note(agent, body)
            case _:
                pass

    # --- text and calls that stream ----------------------------------------------------------------------------------

    def _begin(self, agent: str) -> None:
        """A turn begins. A subagent has a card to show it in, which is open again where it had its result already."""
        state = self._of(agent)
        state.said = False
        if agent and (owner := self._owner(agent)) is not None:
            owner.over = False
            self._touch(agent)

    def _piece(self, agent: str, kind: type[Answer] | type[Thought], text: str) -> None:
        state = self._of(agent)
        block = state.text
        if not isinstance(block, kind):
            self._settle(agent)
            block = kind(key=self.key(), over=False, pieces=[])
            self._add(agent, block)
            state.text, state.began = block, self._clock()
            state.response.append(block)
        block.pieces.append(text)
        state.said = state.said or kind is Answer
        self._touch(agent, block)

    def _settle(self, agent: str) -> None:
        """The text that streamed is whole."""
        state = self._of(agent)
        if (block := state.text) is not None:
            block.pieces[:] = ["".join(block.pieces)]
            block.over = True
            if isinstance(block, Thought):
                block.seconds = self._clock() - state.began
            state.text = None
            self._touch(agent, block)

    def _draft(self, agent: str, index: int, name: str, text: str) -> None:
        state = self._of(agent)
        self._settle(agent)
        card = state.drafts.get(index)
        if card is None:
            card = state.drafts[index] = self._card(agent, name)
            state.response.append(card)
        card.name = card.name or name
        card.draft.append(text)
        self._touch(agent, card)

    def _done(self, agent: str, done: Done) -> None:
        """The response is whole: each of its calls has a card, in their order, whether it streamed or not."""
        state = self._of(agent)
        self._settle(agent)
        if not state.said and done.assistant.text.strip():
            self._add(agent, Answer(key=self.key(), pieces=[done.assistant.text]))
            state.said = True
        for place, call in enumerate(done.assistant.blocks):
            if call in done.assistant.calls:
                card = state.drafted(place, call.name) or self._card(agent, call.name)
                card.name, card.call, card.draft, card.stage = call.name, call, [], "accepted"
                state.proposed.append(card)
                self._touch(agent, card)
        self._drop(agent, state.drafts.values())
        state.drafts.clear()
        state.response.clear()

    def _withdraw(self, agent: str) -> None:
        """What streamed so far is said again from the start."""
        state = self._of(agent)
        self._drop(agent, state.response)
        state.text, state.said = None, False
        state.drafts.clear()
        state.response.clear()

    def _unrun(self, agent: str) -> None:
        """Calls of the response before that were never taken on."""
        state = self._of(agent)
        for card in (*state.drafts.values(), *state.proposed):
            ended(card, "cancelled", 0.0)
            self._touch(agent, card)
        state.drafts.clear()
        state.proposed.clear()
        state.response.clear()

    # --- calls -------------------------------------------------------------------------------------------------------

    def _card(self, agent: str, name: str) -> Card:
        card = Card(key=self.key(), over=False, name=name, draft=[], inner=[], began=self._clock())
        self._add(agent, card)
        return card

    def _accepted(self, agent: str, body: CallAccepted) -> None:
        call, state = body.call, self._of(agent)
        self._settle(agent)
        card = self._calls.card(call.id) or state.taken(call.name, call.wire_id) or self._card(agent, call.name)
        card.name, card.call, card.effects, card.draft = call.name, call, body.effects, []
        card.stage = "accepted" if card.stage == "draft" else card.stage
        self._calls.take(agent, call, card)
        self._touch(agent, card)

    def _stage(self, call: str, stage: Stage) -> None:
        card = self._calls.card(call)
        if card is None or card.stage == "over":
            return
        card.stage = stage
        if stage == "running":
            card.began = self._clock()
        self._touch(self._calls.agent(call), card)

    def _output(self, call: str, data: bytes) -> None:
        card = self._calls.card(call)
        if card is not None and card.stage != "over":
            card.output = (card.output + data)[-TAIL:]
            card.printed += len(data)
            self._touch(self._calls.agent(call), card)

    def _finished(self, agent: str, body: CallFinished) -> None:
        result, state = body.result, self._of(agent)
        card = self._calls.card(result.call) or state.taken(body.name) or self._card(agent, body.name)
        self._calls.end(result.call)
        if result.status == "ok" and card.effects is not None:
            for ref in (*card.effects.writes, *card.effects.removes):
                self.files[ref.shown] = self.files.pop(ref.shown, 0) + 1
        ended(card, result.status, body.seconds)
        card.result = result
        card.over = not any(other.owner is card and other.busy for other in self._open.values())
        self._touch(agent, card)

    def _over(self, agent: str, finished: TurnFinished) -> None:
        waiting = finished.outcome.kind == "waiting"  # its calls go on another day
        self._settle(agent)
        state = self._of(agent)
        if not waiting:
            self._unrun(agent)
            for card in self._calls.left(agent):
                ended(card, "cancelled", self._clock() - card.began)
                self._touch(agent, card)
        if agent:
            self._left(agent, finished)
            return
        if finished.text.strip() and not state.said:
            self._add(agent, Answer(key=self.key(), pieces=[finished.text]))
        self._add(agent, End(key=self.key(), finished=slim(finished)))

    def _left(self, agent: str, finished: TurnFinished) -> None:
        """A subagent is done."""
        outcome = finished.outcome
        if outcome.kind not in ("done", "waiting"):
            text = outcome.message or outcome.kind.replace("_", " ")
            self._add(agent, Note(key=self.key(), text=text, level="warning"))
        owner = self._owner(agent)
        self._touch(agent)
        self._open.pop(agent, None)
        if owner is not None and owner.stage == "over":
            owner.over = not any(other.owner is owner and other.busy for other in self._open.values())

    def _note(self, agent: str, body: Body) -> None:
        self._settle(agent)
        match body:
            case Notice(level, text, fix):
                note = Note(key=self.key(), text=text, level=level, fix=fix)
            case _:
                level = "warning" if isinstance(body, Retrying) else "info"
                note = Note(key=self.key(), text=line(body).removeprefix("! ").rstrip("\n"), level=level)
        self._add(agent, note)

    # --- bookkeeping -------------------------------------------------------------------------------------------------

    def _owner(self, agent: str) -> Card | None:
        """The card of the call that this subagent does, where it still stands among the blocks that may change."""
        state = self._of(agent)
        if state.owner is None:
            state.owner = self._calls.owner(agent)
        card = state.owner
        return card if card is not None and self.blocks.holds(self._outermost(agent, card)) else None

    def _outermost(self, agent: str, card: Card) -> Card:
        above = self._calls.agent_of(card)
        outer = self._open[above].owner if above and above != agent and above in self._open else None
        return card if outer is None else self._outermost(above, outer)

    def _of(self, agent: str) -> Open:
        if agent not in self._open:
            self._open[agent] = Open(busy=bool(agent))
        return self._open[agent]

    def _add(self, agent: str, block: AnyBlock) -> None:
        self._settle(agent)  # what is said beside a running answer stands below what it said so far
        owner = self._owner(agent) if agent else None
        if owner is None:
            self.blocks.append(block)
        else:
            owner.inner.append(block)
        self._touch(agent)

    def _drop(self, agent: str, blocks: Iterable[Block]) -> None:
        owner = self._owner(agent) if agent else None
        for block in tuple(blocks):
            if owner is None:
                self.blocks.discard(block)
            else:
                owner.inner[:] = [one for one in owner.inner if one is not block]
        self._touch(agent)

    def _touch(self, agent: str, block: Block | None = None) -> None:
        """Something of this agent changed: the block, and every card that it stands in."""
        self.changed += 1
        if block is not None:
            block.version += 1
        seen = set[str]()
        while agent and agent not in seen:
            seen.add(agent)
            owner = self._of(agent).owner
            if owner is None:
                return
            owner.version += 1
            agent = self._calls.agent_of(owner)

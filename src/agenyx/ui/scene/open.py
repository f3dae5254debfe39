"""What of a conversation is not over: text and calls while they stream, calls that wait or run, by agent.

Part of the scene; nothing of it is shown by itself.
"""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from agenyx.core.events import TurnFinished
from agenyx.core.ids import child_id
from agenyx.core.messages import Status, ToolCall
from agenyx.core.tools import Effects
from agenyx.ui.scene.blocks import Answer, AnyBlock, Card, Thought

_REMEMBERED = 256  # calls whose subagent may still be heard of for the first time


class Open(Struct):
    """Of one agent. `drafts` are calls that stream, by their place in the response; `proposed` those of a whole
    response that were not taken on yet, in their order. `response` are the blocks of the response that streams; `said`:
    its text was shown. `owner` is the card of the call that the agent does; it is `busy` until its turn is over.
    """

    busy: bool
    text: Answer | Thought | None = None
    drafts: dict[int, Card] = field(default_factory=dict[int, Card])
    proposed: list[Card] = field(default_factory=list[Card])
    response: list[AnyBlock] = field(default_factory=list[AnyBlock])
    owner: Card | None = None
    said: bool = False
    began: float = 0.0

    def drafted(self, place: int, name: str) -> Card | None:
        """Take the draft of the call at this place of the response, or else the first one of its name."""
        card = self.drafts.get(place)
        if card is None or card.name not in ("", name):
            place = next((at for at, other in sorted(self.drafts.items()) if other.name == name), -1)
        return self.drafts.pop(place, None)

    def taken(self, name: str, wire: str = "") -> Card | None:
        """Take the card of a call that is taken on, or refused before: by its wire id, or the first of its name."""
        named = [card for card in self.proposed if card.name == name]
        exact = (card for card in named if wire and card.call is not None and card.call.wire_id == wire)
        card = next(exact, named[0] if named else None)
        if card is not None:
            self.proposed = [other for other in self.proposed if other is not card]
            return card
        return self.drafted(-1, name)


class Calls:
    """The cards of calls that were taken on and have no result, by the id of the call, with whose they are.

    Also which card belongs to which subagent, for the last calls.
    """

    def __init__(self) -> None:
        self._open: dict[str, tuple[str, Card]] = {}
        self._owners: dict[str, tuple[str, Card]] = {}  # by the id of the child
        self._asked: dict[str, str] = {}  # calls by the id of the question about them

    def take(self, agent: str, call: ToolCall, card: Card) -> None:
        self._open[call.id] = (agent, card)
        self._owners[child_id(call.id)] = (agent, card)
        if len(self._owners) > _REMEMBERED:
            del self._owners[next(iter(self._owners))]

    def card(self, call: str) -> Card | None:
        return self._open[call][1] if call in self._open else None

    def agent(self, call: str) -> str:
        """Whose call it is."""
        return self._open[call][0] if call in self._open else ""

    def ask(self, approval: str, call: str) -> None:
        self._asked[approval] = call

    def answered(self, approval: str) -> str:
        """Take the call that a question was about, "" where none is known."""
        return self._asked.pop(approval, "")

    def end(self, call: str) -> None:
        self._open.pop(call, None)

    def left(self, agent: str) -> list[Card]:
        """Take what an agent leaves open."""
        cards = [card for owner, card in self._open.values() if owner == agent]
        self._open = {call: held for call, held in self._open.items() if held[0] != agent}
        return cards

    def owner(self, agent: str) -> Card | None:
        """The card of the call that a subagent does, by its path."""
        found = self._owners.get(agent.rpartition("/")[2])
        return found[1] if found is not None else None

    def agent_of(self, card: Card) -> str:
        """Whose call a card is."""
        return next((agent for agent, other in self._owners.values() if other is card), "")


def ended(card: Card, status: Status, seconds: float) -> None:
    """The call is over: only what people are shown of it stays."""
    card.stage, card.over, card.draft, card.output = "over", True, [], b""
    card.status, card.seconds = status, seconds
    if card.effects is not None:
        effects = card.effects
        card.effects = Effects(
            writes=effects.writes, removes=effects.removes, script=effects.script, preview=effects.preview
        )


def slim(finished: TurnFinished) -> TurnFinished:
    """Without what stands elsewhere."""
    return replace(finished, text="", waiting=())

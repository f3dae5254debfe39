"""The tree that the records of a session make. Pure: records in, the state of one branch or the list of turns out.

Each record follows another one by its `parent`; a Head record says what the next one follows. One whose parent was
lost follows what stood before it, so that a damaged line costs no more than itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from agenyx.core.errors import AgenyxError
from agenyx.core.events import Usage
from agenyx.session.diagnostics import tell
from agenyx.session.records import Compacted, Head, Prompt, Record, Response, Title
from agenyx.session.state import State

_START = -1


class Links:
    """Which record follows which. Feed it all records in file order; places count from 0."""

    def __init__(self) -> None:
        self.tip = _START
        """The place of the record that the next one follows; -1 before the first."""
        self.ids: list[str] = []
        self.before: list[int] = []
        self._place: dict[str, int] = {}
        self._head = ""  # what the next record is to name as its parent

    def add(self, record: Record) -> bool:
        """Take the next record. False for a Head whose record was lost: it moves nothing.

        A Head stands on its branch, between the record that it goes to and what is appended next.
        """
        place, body, found = len(self.ids), record.body, True
        if isinstance(body, Head):
            to = self.at(body.to)
            found, before = to is not None, self.tip if to is None else to
            self._head = self._head if to is None else body.to
        else:
            before = self.tip if record.parent == self._head else self._place.get(record.parent, self.tip)
            self._place[record.id] = place
            self._head = record.id
        self.ids.append(record.id)
        self.before.append(before)
        self.tip = place
        return found

    def at(self, record: str) -> int | None:
        """The place of the record with this id, None if there is none; the start for ""."""
        return self._place.get(record) if record else _START

    def path(self, place: int) -> Iterator[int]:
        """The places from this one back to the start."""
        while place != _START:
            yield place
            place = self.before[place]


def fold(read: Callable[[], Iterable[Record]], to: str | None = None) -> State:
    """The state of the branch that ends at the record `to`; without it, of the branch at the head.

    `read` gives all records in file order, anew each time that it is called: a session without branches is read once.
    Raises AgenyxError where there is no such record.
    """
    if to is None and (state := _straight(read())) is not None:
        return state
    links, problems, seq, usage = Links(), list[str](), 0, None
    records = list(read())  # most of what they hold the state keeps anyway; reading them twice would take longer
    for record in records:
        if not links.add(record):
            tell(problems, "missing_parent", f"record {record.seq} goes back to a record that is not there")
        seq = record.seq
        if isinstance(record.body, Response | Compacted) and record.body.usage is not None:
            usage = _sum(usage, record.body.usage)
    place = links.tip if to is None else links.at(to)
    if place is None:
        raise AgenyxError("the session has no such point", "See /tree for its turns.")
    taken = set(links.path(place))
    state = State()
    for here, record in enumerate(records):
        if here in taken:
            state.apply(record)
        elif isinstance(record.body, Title):
            state.title = record.body.text  # it names the session, not a branch
    # Numbers go on, and what was spent was spent, whatever branch is looked at.
    state.seq, state.usage = seq, usage
    state.problems[:0] = problems
    return state


def _straight(records: Iterable[Record]) -> State | None:
    """The state where each record follows the one before it, else None."""
    state = State()
    for record in records:
        if record.parent != state.head or isinstance(record.body, Head):
            return None
        state.apply(record)
    return state


def _sum(one: Usage | None, more: Usage) -> Usage:
    return more if one is None else one + more


class Turn(Struct):
    """One typed prompt and what came of it. `number` counts from 1 in the order of the file.

    `before` and `end` are ids of records: the last one before the prompt, and the last one of the turn so far. `after`
    is the number of the turn that it follows, 0 for none; `branch` the name of its branch, "" for none. `active`: it is
    on the branch at the head.
    """

    number: int
    id: str
    at: float
    text: str
    before: str
    end: str
    after: int
    branch: str
    active: bool = False


class Tree(Struct, frozen=True):
    """All turns of a session. `head` is the number of the turn after which the head stands, 0 before all.

    `branch` is the name of the branch there.
    """

    turns: tuple[Turn, ...]
    head: int
    branch: str

    def turn(self, number: int) -> Turn | None:
        return self.turns[number - 1] if 0 < number <= len(self.turns) else None

    @property
    def leaves(self) -> tuple[Turn, ...]:
        """The turns that none follows."""
        followed = {turn.after for turn in self.turns}
        return tuple(turn for turn in self.turns if turn.number not in followed)

    @property
    def active(self) -> tuple[Turn, ...]:
        """The turns on the branch at the head, the first one first."""
        return tuple(turn for turn in self.turns if turn.active)

    def tip(self, branch: str) -> Turn | None:
        """The last turn of the branch with this name; of two that are called the same, of the newer one."""
        return next((turn for turn in reversed(self.turns) if branch and turn.branch == branch), None)


def tree_of(records: Iterable[Record]) -> Tree:
    """The turns that the records make."""
    links, turns, name = Links(), list[Turn](), ""
    of = list[int]()  # the number of the turn that each record belongs to or follows
    for record in records:
        links.add(record)
        place, body = len(of), record.body
        above = links.before[place]
        number = of[above] if above != _START else 0
        if isinstance(body, Head):
            of.append(number)
            name = body.title if body.reason == "branch" else ""
            continue
        if isinstance(body, Prompt) and body.user.origin == "typed":
            before = next((links.ids[at] for at in links.path(above) if links.at(links.ids[at]) is not None), "")
            branch = name or (turns[number - 1].branch if number else "")
            turn = Turn(len(turns) + 1, record.turn, record.at, body.user.said, before, record.id, number, branch)
            turns.append(turn)
            number, name = turn.number, ""
        elif number and record.turn == turns[number - 1].id:
            turns[number - 1].end = record.id
        of.append(number)
    head = number = of[links.tip] if links.tip != _START else 0
    while number:
        turns[number - 1].active = True
        number = turns[number - 1].after
    return Tree(tuple(turns), head, name or (turns[head - 1].branch if head else ""))

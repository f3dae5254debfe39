"""The blocks of a conversation that was had before, from its stored entries. Pure.

What the records do not tell is not shown: how long calls took, what stood in notices. The newest entries are made into
blocks first, older ones when they are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count

from agenyx.core.approval import Approval
from agenyx.core.messages import Entry, Media, Reasoning, Step, Summary, Text, ToolCall, ToolResult, User
from agenyx.session.state import State
from agenyx.ui.scene.blocks import Answer, Block, Card, Mark, Note, Stage, Thought, Typed

FIRST = 2_000  # blocks that are made at once; a screen shows some dozens
MORE = 500


def blocks_of(entries: Iterable[Entry], first_key: int = 1) -> list[Block]:
    """The blocks of entries, from the oldest on. `first_key` is the key of the first, the others follow."""
    keys = count(first_key)
    return [block for entry in entries for block in _blocks(entry, lambda: next(keys))]


class Past:
    """The entries of a conversation, taken from their end. `marked` is how many of them stand in requests as a
    summary only, `summary` its text."""

    def __init__(self, entries: Sequence[Entry], key: Callable[[], int], summary: str = "", marked: int = 0) -> None:
        self._entries, self._key = tuple(entries), key
        self._left = len(self._entries)
        self._summary, self._marked = summary, marked

    def take(self, most: int = MORE) -> list[Block]:
        """The blocks before those that were taken, at least one entry and about `most` blocks; [] for none left."""
        taken: list[list[Block]] = []
        size = 0
        while self._left and size < most:
            if self._left == self._marked and self._summary:
                taken.append([Mark(key=self._key(), summary=self._summary)])
                self._summary = ""
                size += 1
            self._left -= 1
            made = list(_blocks(self._entries[self._left], self._key))
            taken.append(made)
            size += len(made)
        return [block for made in reversed(taken) for block in made]


def past_of(state: State, key: Callable[[], int]) -> Past:
    """The past of a session as it is now: of the branch that goes on, with the summary where it was made."""
    view, summary, since = state.view, "", 0
    if view.entries and isinstance(first := view.entries[0], Summary):
        summary, since = first.text, sum(record not in first.kept for record in view.ids[1:])
    return Past(state.entries, key, summary, len(state.entries) - since)


def waiting_of(state: State, key: Callable[[], int]) -> list[Block]:
    """The cards of the calls of a session that are not all settled."""
    return waiting(((call.call, call.approval, call.result) for call in state.pending.values()), key)


def waiting(
    calls: Iterable[tuple[ToolCall, Approval | None, ToolResult | None]], key: Callable[[], int]
) -> list[Block]:
    """The cards of a response whose calls are not all settled: each with its question and result, as far as there are.

    Those that are open take up the events of their calls, where the scene is begun with them.
    """
    found: list[Block] = []
    for call, approval, result in calls:
        if result is not None:
            found.append(_card(key(), call, result))
        else:
            stage: Stage = "accepted" if approval is None else "asked"
            effects = None if approval is None else approval.effects
            found.append(
                Card(key=key(), over=False, name=call.name, stage=stage, draft=[], call=call, effects=effects, inner=[])
            )
    return found


def _blocks(entry: Entry, key: Callable[[], int]) -> Iterator[Block]:
    match entry:
        case User(origin="typed" | "steer" | "command"):
            text = entry.said + "".join(f"\n[{one.kind} {one.name}]" for one in entry.blocks if isinstance(one, Media))
            yield Typed(key=key(), text=text, how="steer" if entry.origin == "steer" else "prompt")
        case User():
            return  # words of the program for the model
        case Summary(text=text):
            yield Mark(key=key(), summary=text)
        case Step():
            yield from _step(entry, key)


def _step(step: Step, key: Callable[[], int]) -> Iterator[Block]:
    results = {result.call: result for result in step.results}
    for block in step.assistant.blocks:
        match block:
            case Text(text=text) if text.strip():
                yield Answer(key=key(), pieces=[text])
            case Reasoning(text=text) if text.strip():
                yield Thought(key=key(), pieces=[text])
            case ToolCall():
                yield _card(key(), block, results[block.id])
            case _:
                pass
    if step.assistant.stop == "cut":
        yield Note(key=key(), text="This answer broke off: the connection was lost, or the turn was stopped.")


def _card(key: int, call: ToolCall, result: ToolResult) -> Card:
    return Card(
        key=key, name=call.name, stage="over", draft=[], call=call, status=result.status, result=result, inner=[]
    )

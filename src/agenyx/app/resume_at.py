"""`--resume-session-at`: which record a message that a host names stands for, and what would be left behind.

A session goes on after a whole step only: whoever names one part of a step gets all of it.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from agenyx.core import message_ids
from agenyx.core.errors import UsageError
from agenyx.session.records import Finished, Head, Prompt, Record, Response, Result
from agenyx.session.session import Session
from agenyx.session.tree import tree_of

REFUSED = "Resume rejected by --resume-drops-turn:"


class _Step(Struct):
    turn: str
    end: str  # the last record that belongs to it
    calls: set[str]


def find(records: Iterable[Record], active: Iterable[str], uuid: str, drops: str = "") -> str:
    """The id of the record that the session goes on from. `active` are the ids of the turns on its branch.

    With `drops`, the id of a prompt, only the turn of that prompt may be left behind. Raises UsageError.
    """
    steps, order, prompts = dict[str, _Step](), list[str](), dict[str, str]()
    counts, open_, found = dict[str, int](), list[_Step](), list[_Step]()
    for record in records:
        body = record.body
        match body:
            case Prompt(user) if user.origin == "typed":
                prompts[user.prompt_id] = record.turn
                order.append(record.turn)
                open_ = []
            case Response(assistant):
                number = counts[record.turn] = counts.get(record.turn, 0) + 1
                step = _Step(record.turn, record.id, {call.id for call in assistant.calls})
                steps[message_ids.said(record.turn, number)] = step
                for call in step.calls:
                    steps[message_ids.called(call)] = steps[message_ids.answered(call)] = step
                open_ = [step]
                found.append(step)
            case Prompt() | Head():
                open_ = []  # what was told to the turn comes after the step
            case Result(result) if open_ and result.call in open_[0].calls:
                open_[0].end = record.id
            case Finished() if open_ and not open_[0].calls and record.turn == open_[0].turn:
                open_[0].end = record.id  # the end of the turn belongs to its last answer
            case _:
                pass
    if uuid in prompts:
        raise UsageError(
            f"--resume-session-at {uuid} is a prompt, and a session goes on after an answer",
            "Name the last message before it, or the answer to it.",
        )
    if uuid not in steps:
        raise UsageError(
            f"--resume-session-at {uuid} is no message of this session", "Name the uuid of an assistant record."
        )
    step = steps[uuid]
    if drops:
        _guard(step, found, [turn for turn in order if turn in set(active)], prompts, drops)
    return step.end


def _guard(step: _Step, found: list[_Step], active: list[str], prompts: dict[str, str], drops: str) -> None:
    """Raises UsageError where more than the turn of the prompt `drops` would be left behind."""
    if drops not in prompts:
        raise UsageError(f"{REFUSED} {drops} is no prompt of this session", "")
    later = active[active.index(step.turn) + 1 :] if step.turn in active else []
    if [one for one in found if one.turn == step.turn][-1] is not step:
        later = [step.turn, *later]  # something of its own turn would go as well
    if others := [turn for turn in later if turn != prompts[drops]]:
        raise UsageError(f"{REFUSED} {len(others)} other turns would be left behind", "Name a later message.")


def go_back(session: Session, uuid: str, drops: str = "") -> None:
    """Have a session that was opened go on after a message. Raises UsageError, and AgenyxError where a call there has
    no result; then nothing has moved."""
    active = [turn.id for turn in tree_of(session.records()).active]
    to = find(session.records(), active, uuid, drops)
    if to != session.state.head:
        session.move(Head(to, "rewind"))

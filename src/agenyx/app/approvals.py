"""Questions that wait in stored sessions: found, and answered by whoever comes first. Prints nothing, asks nobody.

An answer is a record, written under the lock of its session; whoever opens the session next acts on it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, cast

from msgspec import Struct

from agenyx.agent.asking import changes
from agenyx.config.secrets import masker
from agenyx.core import json
from agenyx.core.approval import Approval, Decision
from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.events import Outcome
from agenyx.core.ids import RandomIds, wall_clock
from agenyx.core.messages import Text, ToolResult
from agenyx.core.tools import Inquiry
from agenyx.session import load
from agenyx.session.records import Asked, Body, Decided, Finished, Reader, Result
from agenyx.session.session import Session
from agenyx.session.state import CallState, State
from agenyx.session.store import INTENT, TRANSCRIPT, UNFINISHED, FileStore, SessionLocked
from agenyx.tools.answers import edited
from agenyx.tools.builtin import builtin_tools
from agenyx.tools.registry import Registry, parse_args

_TAIL = 64 << 10  # bytes of a transcript's end in which its last record is looked for
_SHORT = 8  # characters: the least of an id that may stand for it
_PATIENCE = 2.0  # seconds
_STOPPED = "The turn was stopped before this call ran."


class Question(Struct, frozen=True):
    """A question and where it stands. `decision` is the answer that it got, None while it waits."""

    approval: Approval
    session: str
    directory: str
    workspace: str
    decision: Decision | None = None
    waiting: bool = True


def waiting(home: str, workspace: str = "") -> list[Question]:
    """What waits for an answer, the oldest first: everywhere, or in the sessions of one workspace."""
    found, reader = list[Question](), Reader()
    for directory in _directories(home, load.sessions_of(home, workspace) if workspace else ""):
        if _ended(directory, reader):
            continue
        with suppress(AgenyxError):  # a session that cannot be read has nothing that could be answered
            state = load.load(directory)
            found += [_question(approval, directory, state) for approval in state.questions]
    return sorted(found, key=lambda question: question.approval.asked_at)


def find(home: str, name: str) -> Question:
    """The question with this id, or the only waiting one whose id ends so or begins so. Raises UsageError."""
    if not (name.isascii() and name.replace("_", "").isalnum()):
        raise UsageError(f"{name!r} is not the id of a question", "See: agenyx approvals list --all")
    open_ = waiting(home)
    same = [question for question in open_ if question.approval.id == name]
    if not same and len(name.removeprefix("apr_")) >= _SHORT:
        same = [q for q in open_ if q.approval.id.startswith(name) or q.approval.id.endswith(name)]
    if len(same) == 1:
        return same[0]
    if same:
        raise UsageError(f"{len(same)} waiting questions have an id like {name}", "Give the whole id.")
    for directory in _directories(home):
        if answered := _answered(directory, name):
            return answered
    raise UsageError(f"there is no question {name}", "See: agenyx approvals list --all")


async def changed(question: Question) -> tuple[str, ...]:
    """The files of the call that hold something else than when it was asked."""
    return await changes(question.approval, {})


def check_edit(question: Question, text: str) -> str:
    """The arguments that a person wants instead, as compact JSON text. Raises UsageError when the tool has no such."""
    asked = question.approval
    tool = Registry(builtin_tools()).find(asked.call.name)
    try:
        value: Any = json.decode(text)
        if asked.effects.inquiry is not None:
            return _answer(question, asked.effects.inquiry, value)
        if not isinstance(value, dict):
            raise UsageError("--edit needs all arguments of the call as one JSON object", "Nothing was answered.")
        args = json.encode(cast("dict[str, Any]", value)).decode()
        if tool is not None:
            parse_args(tool, args)
    except json.JsonError as error:
        raise UsageError(
            f"--edit does not hold arguments of {question.approval.call.name}: {error}",
            f"Nothing was answered. See: agenyx approvals show {question.approval.id}",
        ) from None
    return args


def _answer(question: Question, inquiry: Inquiry, value: object) -> str:
    asked = question.approval
    try:
        return edited(inquiry, asked.call.args if asked.args is None else asked.args, value)
    except ValueError as error:
        raise UsageError(
            f"--edit does not hold an answer: {error}", f"Nothing was answered. See: agenyx approvals show {asked.id}"
        ) from None


def check_answered(question: Question, words: str) -> None:
    """Raises UsageError where a yes alone is no answer; `words` is how one is given."""
    inquiry = question.approval.effects.inquiry
    if inquiry is not None and inquiry.argument == "answers":
        raise UsageError("a question needs an answer, not a yes", f"For example: allow {question.approval.id}{words}")


def check_workspace(question: Question) -> None:
    """Raises AgenyxError when the call could not run any more."""
    if not os.path.isdir(question.workspace):
        raise AgenyxError(
            f"the workspace {question.workspace} of this session is not there any more",
            "The question still waits. Put the directory back and answer then, or deny it.",
        )


def answer(home: str, env: Mapping[str, str], question: Question, decision: Decision) -> str:
    """Put the decision on record; a rule that was chosen for good is kept as well. Returns a problem to tell, or "".

    Raises AgenyxError when another process uses the session, or when an earlier answer counts: it is named then.
    """
    session = _open(question.directory)
    try:
        session.masker = masker(env)
        pending = session.state.pending.values()
        call = next((c for c in pending if c.waiting and c.approval and c.approval.id == decision.approval), None)
        if call is None:
            raise AgenyxError(*told(_answered(question.directory, decision.approval) or question))
        decide(session, call, decision)
    finally:
        session.close()
    if decision.scope == "saved":
        from agenyx.app.rules import remember

        return remember(home, question.approval.verdict.offer)
    return ""


def decide(session: Session, call: CallState, decision: Decision) -> None:
    """Put the answer to the question about a call on record; one that stops ends the turn. Raises StoreError."""
    bodies: list[Body] = [Decided(decision)]
    if decision.stop:
        for other in session.state.pending.values():
            if other is call:
                no = Text(f"Denied: {decision.message or 'the user said no.'}")
                bodies.append(Result(ToolResult(other.call.id, "denied", (no,))))
            elif other.result is None:
                bodies.append(Result(ToolResult(other.call.id, "cancelled", (Text(_STOPPED),))))
        bodies.append(Finished(Outcome("stopped", decision.message or "Stopped by the user.")))
    session.append(*bodies, sync=True)


def told(question: Question) -> tuple[str, str]:
    """Why a question takes no answer any more: the sentence, and what to do instead."""
    said, see = question.decision, f"See: agenyx approvals show {question.approval.id}"
    if said is None:
        return "this question does not wait any more: the turn went on without an answer", see
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(said.at))
    word = "allowed" if said.choice == "allow" else "denied"
    return f"this question was answered before: {word} by {said.by or 'the user'} at {when}", see


def _open(directory: str) -> Session:
    """The session, locked. Another answer takes moments, so it is waited for. Raises AgenyxError."""
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            store = FileStore(directory)
            break
        except SessionLocked:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)
        except OSError as error:
            raise AgenyxError(f"the session cannot be written: {error.strerror}", "Nothing was answered.") from error
    try:
        state = load.load(directory)  # after the lock, so that nobody writes meanwhile
    except BaseException:
        store.close()
        raise
    return Session(os.path.basename(directory), store, state, directory, RandomIds(), wall_clock)


def _question(approval: Approval, directory: str, state: State) -> Question:
    workspace = state.opened.workspace if state.opened else ""
    return Question(approval, os.path.basename(directory), directory, workspace)


def _directories(home: str, top: str = "") -> Iterator[str]:
    """The folders of stored sessions: all, or those below `top`."""
    sessions = os.path.join(home, "sessions")
    for parent in [top] if top else [os.path.join(sessions, name) for name in _names(sessions)]:
        for name in _names(parent):
            inside = _names(os.path.join(parent, name))
            if TRANSCRIPT in inside and INTENT not in inside and UNFINISHED not in inside:
                yield os.path.join(parent, name)


def _names(directory: str) -> list[str]:
    try:
        return sorted(os.listdir(directory))
    except OSError:
        return []


def _ended(directory: str, reader: Reader) -> bool:
    """Whether the last record ends a turn, so that nothing waits. Says no where that is not plain to see."""
    try:
        with open(os.path.join(directory, TRANSCRIPT), "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            lines = file.read().splitlines()
        return bool(lines) and isinstance(reader.decode(lines[-1]).body, Finished)
    except (OSError, json.JsonError):
        return False


def _answered(directory: str, name: str) -> Question | None:
    """The question of this id in the records of a session, with the first decision that it got."""
    try:
        with open(os.path.join(directory, TRANSCRIPT), "rb") as file:
            lines = [line for line in file if name.encode() in line]
    except OSError:
        return None
    reader, asked, said = Reader(), None, None
    for line in lines:
        with suppress(json.JsonError):
            match reader.decode(line).body:
                case Asked(approval) if approval.id == name:
                    asked = approval
                case Decided(decision) if decision.approval == name and said is None:
                    said = decision
                case _:
                    pass
    if asked is None:
        return None
    with suppress(AgenyxError):
        state = load.load(directory)
        question = _question(asked, directory, state)
        return Question(asked, question.session, directory, question.workspace, said, waiting=False)
    return None

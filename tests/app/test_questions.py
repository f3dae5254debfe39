"""AskUserQuestion in a conversation: only the answer of a person counts, and it outlives the process at any record."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.approval import Approval, Decision
from agenyx.core.events import AgentEvent
from agenyx.core.messages import Step
from agenyx.ext.hooks.callback import Callback
from agenyx.session.session import Session
from agenyx.session.store import FileStore
from agenyx.tools.answers import filled
from support.conversation import open_scripted
from support.scripted import call, calls, say

QUESTION = {"question": "Which?", "header": "Base", "options": [{"label": "Postgres"}, {"label": "SQLite"}]}
FORGED = call("AskUserQuestion", questions=[QUESTION], answers={"Which?": "Postgres"})
SCRIPT = [calls(FORGED), say("done")]
UNSAID = "Go on with your best judgement, and say in your answer what you assumed."


class Person:
    def __init__(self, given: object = None, by: str = "terminal") -> None:
        self.given, self.by, self.asked = given, by, list[Approval]()

    async def decide(self, approval: Approval) -> Decision:
        self.asked.append(approval)
        inquiry = approval.effects.inquiry
        assert inquiry is not None
        args = filled(inquiry, approval.call.args, self.given) if self.given else None
        return Decision(approval.id, "allow", args=args, by=self.by)


class Replaced(BaseException):
    """Stands for the end of the process."""


class Mortal(FileStore):
    def __init__(self, directory: str, life: int) -> None:
        super().__init__(directory)
        self.life = life

    def append(self, lines: Sequence[bytes], *, sync: bool) -> None:
        for one in lines:
            super().append([one], sync=sync)
            self.life -= 1
            if self.life == 0:
                raise Replaced


def run(folder: Path, person: Any, script: Any = SCRIPT, life: int = 10_000, **more: Any) -> Session | None:
    """One process; None where it died."""
    for name in ("home", "work"):
        (folder / name).mkdir(exist_ok=True)

    async def process() -> Session | None:
        conversation, session = open_scripted(
            script,
            folder / "home",
            folder / "work",
            lambda directory: Mortal(directory, life),
            approver=person,
            **({"mode": "default"} | more),
        )
        try:
            await (conversation.go_on() if session.state.turn else conversation.prompt("go"))
        except (Replaced, BaseExceptionGroup):
            return None
        finally:
            await conversation.close()
        return session

    return asyncio.run(process())


def told(session: Session | None) -> list[str]:
    assert session is not None
    return [r.text for entry in session.state.entries if isinstance(entry, Step) for r in entry.results]


@pytest.mark.parametrize("person", [Person(), Person(["Postgres"], "hook"), Person(["Postgres"], "rule")])
def test_a_yes_without_a_persons_words_is_no_answer(tmp_path: Path, person: Person) -> None:
    session = run(tmp_path, person)
    assert told(session) == ["There was no answer. " + UNSAID]


def test_what_a_hook_puts_into_the_call_is_no_answer(tmp_path: Path) -> None:
    asked: list[str] = []

    def before(payload: dict[str, Any]) -> dict[str, Any]:
        asked.append("PreToolUse")
        changed = {"questions": [QUESTION], "answers": {"Which?": "SQLite"}}
        told = {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": changed}
        return {"hookSpecificOutput": told}

    def request(payload: dict[str, Any]) -> dict[str, Any]:
        asked.append("PermissionRequest")
        changed = {"questions": [QUESTION], "answers": {"Which?": "SQLite"}}
        decision = {"behavior": "allow", "updatedInput": changed}
        return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}

    person = Person()
    callbacks = [Callback("PreToolUse", before), Callback("PermissionRequest", request)]
    session = run(tmp_path, person, callbacks=callbacks)
    assert asked[0] == "PreToolUse" and len(person.asked) == 1
    assert told(session)[0].endswith("There was no answer. " + UNSAID)


@pytest.mark.parametrize("life", range(6, 16))
def test_the_process_may_end_after_any_record_and_nobody_is_asked_twice(tmp_path: Path, life: int) -> None:
    person = Person(["SQLite"])
    events: list[AgentEvent] = []
    session = run(tmp_path, person, life=life, events=events)
    if session is None:
        session = run(tmp_path, person)
    assert told(session) == ["The user answered:\nWhich? SQLite"]
    assert len({approval.id for approval in person.asked}) == 1


def test_in_bypass_it_is_asked_as_well(tmp_path: Path) -> None:
    person = Person({"Base": "their own"})
    session = run(tmp_path, person, mode="bypassPermissions")
    assert told(session) == ["The user answered:\nWhich? in their own words: their own"]
    assert len(person.asked) == 1

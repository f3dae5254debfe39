"""ExitPlanMode in the engine: whose answer counts, what of it outlives a crash, and which plan was the last."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from agenyx.agent.planmode import last_plan
from agenyx.core import json
from agenyx.core.approval import Approval, Decision
from agenyx.core.events import AgentEvent, ModeChanged
from agenyx.core.messages import Step, User
from agenyx.core.verdict import Mode
from agenyx.session.session import Session
from agenyx.session.store import FileStore
from agenyx.tools.answers import filled
from support.conversation import open_scripted
from support.scripted import call, calls, say

EDIT = call("Write", file_path="made.txt", content="one\n")
SCRIPT = [calls(call("ExitPlanMode", plan="first do this"), EDIT), say("done")]


class Person:
    """Approves plans with this mode; "" is a yes and no more. Everything else is denied."""

    def __init__(self, mode: str = "", by: str = "terminal") -> None:
        self.mode, self.by, self.asked = mode, by, list[Approval]()

    async def decide(self, approval: Approval) -> Decision:
        self.asked.append(approval)
        inquiry = approval.effects.inquiry
        if inquiry is None:
            return Decision(approval.id, "deny", by="terminal")
        args = filled(inquiry, approval.call.args, self.mode) if self.mode else None
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


def run(
    folder: Path,
    person: Person,
    script: Sequence[object] = SCRIPT,
    life: int = 10_000,
    events: list[AgentEvent] | None = None,
    start: Mode = "plan",
) -> Session | None:
    """One process; None where it died."""
    for name in ("home", "work"):
        (folder / name).mkdir(exist_ok=True)

    async def process() -> Session | None:
        conversation, session = open_scripted(
            script,  # type: ignore[arg-type]
            folder / "home",
            folder / "work",
            lambda directory: Mortal(directory, life),
            approver=person,
            mode=start,
            events=events,
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


def test_the_mode_holds_for_later_calls_of_the_same_response_and_is_told_once(tmp_path: Path) -> None:
    events: list[AgentEvent] = []
    session = run(tmp_path, Person("acceptEdits"), events=events)
    assert session is not None
    assert (tmp_path / "work/made.txt").exists() and session.state.terms.mode == "acceptEdits"
    assert [e.body.mode for e in events if isinstance(e.body, ModeChanged)] == ["acceptEdits"]
    notices = [e.text for e in session.state.entries if isinstance(e, User) and e.origin == "notice"]
    assert not any("switched the mode" in text for text in notices), "the result of the call says it"


@pytest.mark.parametrize("by", ["hook", "rule"])
def test_only_a_persons_answer_has_a_mode(tmp_path: Path, by: str) -> None:
    session = run(tmp_path, Person("acceptEdits", by))
    assert session is not None and session.state.terms.mode == "default"
    assert not (tmp_path / "work/made.txt").exists()


def test_a_mode_that_is_none_of_those_offered_counts_as_the_careful_one(tmp_path: Path) -> None:
    class Forged(Person):
        async def decide(self, approval: Approval) -> Decision:
            if approval.effects.inquiry is None:
                return Decision(approval.id, "deny", by="terminal")
            args = json.encode({"plan": "x", "mode": "bypassPermissions"}).decode()
            return Decision(approval.id, "allow", args=args, by="terminal")

    session = run(tmp_path, Forged())
    assert session is not None and session.state.terms.mode == "default"


@pytest.mark.parametrize("life", range(6, 20))
def test_the_process_may_end_after_any_record_and_the_answer_counts(tmp_path: Path, life: int) -> None:
    person = Person("acceptEdits")
    session = run(tmp_path, person, life=life)
    if session is None:
        session = run(tmp_path, person, start="default")  # the next process is told nothing of the mode
    assert session is not None and session.state.terms.mode == "acceptEdits"
    said = told(session)
    assert said[0].startswith("The user approved the plan. The mode is acceptEdits now.")
    assert (tmp_path / "work/made.txt").exists() or "stopped while this call ran" in said[1]
    asked = {approval.id for approval in person.asked}
    assert len(asked) == 1, "and nobody was asked twice"


def test_two_plans_in_one_response(tmp_path: Path) -> None:
    script = [calls(call("ExitPlanMode", "a", plan="one"), call("ExitPlanMode", "b", plan="two")), say("done")]
    session = run(tmp_path, Person("default"), script)
    assert session is not None
    assert all(text.startswith("The user approved the plan. The mode is default") for text in told(session))
    assert last_plan(session.state) == "two"


def test_an_empty_plan_asks_nobody(tmp_path: Path) -> None:
    person = Person("default")
    session = run(tmp_path, person, [calls(call("ExitPlanMode", plan=" ")), say("done")])
    assert told(session) == ["The plan is empty: there is nothing that the user could approve."]
    assert person.asked == [] and session is not None and last_plan(session.state) == " "

"""Hooks beside the calls: questions that a person and hooks race for, summaries, notifications, subagents."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from agenyx.agent.child_hooks import ChildHooks, child_ports, subagent_started
from agenyx.agent.occasions import Occasions
from agenyx.agent.ports import Deferred, Emitter, Ports
from agenyx.core.approval import Approval, Decision
from agenyx.core.errors import UsageError
from agenyx.core.events import AgentEvent, Notice
from agenyx.core.hooks import NOTHING, Event, Fired, Said
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Effects, PathRef
from agenyx.core.verdict import Reason, Rule, Verdict
from agenyx.session.records import Opened
from agenyx.session.session import Session
from agenyx.session.state import State
from agenyx.session.store import MemoryStore
from support.parts import Answers, CountingIds


class Plays:
    """Hooks that play answers, at once or after an event."""

    def __init__(self, **answers: Said) -> None:
        self.answers, self.fired = answers, list[Fired]()
        self.gate: asyncio.Event | None = None
        self.begun = asyncio.Event()
        self.ended = False

    def wants(self, event: Event) -> bool:
        return event in self.answers

    async def fire(self, fired: Fired, effects: Callable[[], Awaitable[Effects]] | None = None) -> Said:
        self.fired.append(fired)
        self.begun.set()
        try:
            if self.gate is not None:
                await self.gate.wait()
        finally:
            self.ended = True
        return self.answers.get(fired.event, NOTHING)


class Person:
    """Answers when the event is set; knows whether the question was taken back."""

    def __init__(self, choice: Any = "allow", *, now: bool = False, by: str = "test", later: bool = False) -> None:
        self.event, self.taken_back = asyncio.Event(), False
        self._choice, self._by, self._later = choice, by, later
        if now:
            self.event.set()

    async def decide(self, approval: Approval) -> Decision:
        try:
            await self.event.wait()
        except asyncio.CancelledError:
            self.taken_back = True
            raise
        if self._later:
            raise Deferred
        return Decision(approval.id, self._choice, by=self._by)


class Made:
    def __init__(self, hooks: Plays, **more: Any) -> None:
        self.events: list[AgentEvent] = []
        self.session = Session("s", MemoryStore(), State(), "/dev/null/none", CountingIds(), lambda: 1.0)
        emit = Emitter("s", self.events.append)
        self.occasions = Occasions(self.session, hooks, emit, lambda name, args: (name, args), **more)

    def notices(self) -> list[str]:
        return [event.body.text for event in self.events if isinstance(event.body, Notice)]


def approval(*reasons: Reason, effects: Effects = Effects(), offer: tuple[Rule, ...] = ()) -> Approval:
    verdict = Verdict("ask", reasons or (Reason("default", "no rule allows it"),), offer=offer)
    return Approval("apr_1", ToolCall("call_1", "w", "Bash", '{"command":"ls"}'), verdict, effects)


def ask(hooks: Plays, person: Any, asked: Approval | None = None) -> Decision:
    return asyncio.run(Made(hooks).occasions.asking(person).decide(asked or approval()))


YES, NO = Said("allow", "fine", ran=1), Said("deny", "never", ran=1)


def test_without_such_hooks_the_person_is_asked_as_before() -> None:
    person = Answers("allow")
    assert ask(Plays(), person).choice == "allow"


def test_the_hook_answers_first_and_the_question_is_taken_back() -> None:
    async def scenario() -> None:
        person = Person()
        said = await Made(Plays(PermissionRequest=YES)).occasions.asking(person).decide(approval())
        assert (said.choice, said.by, person.taken_back) == ("allow", "hook", True)

    asyncio.run(scenario())


def test_the_person_answers_first_and_the_hook_is_let_go() -> None:
    async def scenario() -> None:
        hooks, person = Plays(PermissionRequest=NO), Person(now=True)
        hooks.gate = asyncio.Event()
        said = await Made(hooks).occasions.asking(person).decide(approval())
        assert (said.choice, said.by, hooks.ended) == ("allow", "test", True)

    asyncio.run(scenario())


def test_a_hook_without_an_opinion_leaves_it_to_the_person() -> None:
    assert ask(Plays(PermissionRequest=Said(ran=1)), Answers("allow")).by == "test"


@pytest.mark.parametrize("person", [{"by": "headless"}, {"later": True}])
def test_where_nobody_answers_now_the_hook_is_heard_to_its_end(person: dict[str, Any]) -> None:
    async def scenario() -> None:
        hooks = Plays(PermissionRequest=YES)
        hooks.gate = asyncio.Event()
        deciding = asyncio.ensure_future(
            Made(hooks).occasions.asking(Person("deny", now=True, **person)).decide(approval())
        )
        await hooks.begun.wait()
        assert not deciding.done()
        hooks.gate.set()
        assert (await deciding).by == "hook"

    asyncio.run(scenario())


def test_where_nobody_answers_and_no_hook_either_it_stays_so() -> None:
    async def scenario() -> None:
        hooks = Plays(PermissionRequest=Said(ran=1))
        assert (
            await Made(hooks).occasions.asking(Person("deny", now=True, by="headless")).decide(approval())
        ).choice == ("deny")
        with pytest.raises(Deferred):
            await Made(hooks).occasions.asking(Person(now=True, later=True)).decide(approval())

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "asked",
    [
        approval(Reason("rule", "your rule asks")),
        approval(Reason("safety", "it formats a disk")),
        approval(Reason("hook", "a hook asks")),
        approval(effects=Effects(interact=True)),
        approval(effects=Effects(writes=(PathRef(".env", b"/w/.env", "/w", protected="secrets"),))),
    ],
)
def test_a_yes_of_a_hook_does_not_answer_what_is_put_before_a_person(asked: Approval) -> None:
    assert ask(Plays(PermissionRequest=YES), Answers("deny"), asked).by == "test"
    assert ask(Plays(PermissionRequest=NO), Person("allow"), asked).choice == "deny", "a no always counts"


def test_what_the_hook_is_told_and_what_it_may_change() -> None:
    hooks = Plays(PermissionRequest=Said("allow", args='{"command":"pwd"}', ran=1))
    said = ask(hooks, Person(), approval(offer=(Rule("allow", "Bash", "ls"),)))
    assert said.args == '{"command":"pwd"}'
    (fired,) = hooks.fired
    assert (fired.subject, fired.data["tool_input"]) == ("Bash", {"command": "ls"})
    assert fired.data["permission_suggestions"] == ["Bash(ls)"]


def test_a_no_may_stop_the_turn() -> None:
    said = ask(Plays(PermissionRequest=Said("deny", "enough", stop=True, ran=1)), Person())
    assert (said.choice, said.stop, "enough" in said.message) == ("deny", True, True)


def test_the_question_is_cancelled_with_the_turn() -> None:
    async def scenario() -> None:
        hooks, person = Plays(PermissionRequest=YES), Person()
        hooks.gate = asyncio.Event()
        task = asyncio.ensure_future(Made(hooks).occasions.asking(person).decide(approval()))
        await hooks.begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert person.taken_back
        assert hooks.ended

    asyncio.run(scenario())


def during(made: Made, work: Callable[[Occasions], Coroutine[Any, Any, Any]]) -> Any:
    async def scenario() -> Any:
        found = await work(made.occasions)
        await asyncio.sleep(0)
        await made.occasions.end("other")
        return found

    return asyncio.run(scenario())


def test_a_person_who_has_to_answer_is_told_by_a_notification() -> None:
    hooks = Plays(Notification=Said(ran=1))

    async def work(occasions: Occasions) -> None:
        person = Person()
        deciding = asyncio.ensure_future(occasions.asking(person).decide(approval()))
        await hooks.begun.wait()
        person.event.set()
        await deciding

    during(Made(hooks), work)
    (fired,) = hooks.fired
    assert (fired.subject, fired.data["notification_type"]) == ("permission_prompt", "permission_prompt")
    assert "Bash" in fired.data["message"]


def test_where_nobody_is_asked_nobody_is_told() -> None:
    hooks = Plays(Notification=Said(ran=1))
    ask(hooks, Answers("deny"))
    assert not hooks.fired


def test_a_person_who_is_waited_for_is_told_after_a_while_unless_they_go_on() -> None:
    hooks = Plays(Notification=Said(ran=1))

    async def work(occasions: Occasions) -> None:
        occasions.idle()
        occasions.busy()
        occasions.idle()
        await hooks.begun.wait()

    during(Made(hooks, idle=0.01), work)
    assert [fired.subject for fired in hooks.fired] == ["idle_prompt"]


def test_a_session_begins_and_ends_once() -> None:
    hooks = Plays(SessionStart=Said(context=("hello",), ran=1), SessionEnd=Said(ran=1))

    async def work(occasions: Occasions) -> list[Any]:
        return [await occasions.begin("startup", "m"), await occasions.begin("startup", "m")]

    first, second = during(Made(hooks), work)
    assert [user.text for user in first] == ['<hook_context event="SessionStart">\nhello\n</hook_context>']
    assert second == []
    assert [fired.event for fired in hooks.fired] == ["SessionStart", "SessionEnd"]


def test_a_session_that_never_began_does_not_end() -> None:
    hooks = Plays(SessionEnd=Said(ran=1))

    async def work(occasions: Occasions) -> None:
        pass

    during(Made(hooks), work)
    assert not hooks.fired


def test_a_hook_may_add_to_a_summary_or_hold_back_one_that_the_user_wanted() -> None:
    adds = Made(Plays(PreCompact=Said(context=("keep the plan",), ran=1)))
    assert during(adds, lambda occasions: occasions.compacting("user", "focus")) == "keep the plan"
    holds = Made(Plays(PreCompact=Said("deny", "not now", ran=1)))
    with pytest.raises(UsageError, match="not now"):
        during(holds, lambda occasions: occasions.compacting("user", ""))
    assert during(holds, lambda occasions: occasions.compacting("overflow", "")) == ""
    assert "It was made nevertheless" in holds.notices()[0]


def test_after_a_summary_hooks_begin_the_session_anew() -> None:
    hooks = Plays(PostCompact=Said(ran=1), SessionStart=Said(context=("read the plan",), ran=1))
    made = Made(hooks)
    made.session.append(Opened("s", "/w", "test"))
    during(made, lambda occasions: occasions.compacted("a summary"))
    assert [(fired.event, fired.subject) for fired in hooks.fired] == [
        ("PostCompact", "auto"),
        ("SessionStart", "compact"),
    ]
    assert "read the plan" in made.session.state.told[0]


def test_a_subagent_has_the_same_hooks_under_its_own_name() -> None:
    hooks = Plays(SubagentStop=NO, PreToolUse=NO, SubagentStart=Said(context=("be quick",), ran=1))
    child = ChildHooks(hooks, "a1", "explore", "/s/transcript.jsonl")
    assert child.wants("Stop")
    assert child.wants("PreToolUse")
    assert asyncio.run(child.fire(Fired("Stop", "", {"stop_hook_active": False}))).decision == "deny"
    asyncio.run(child.fire(Fired("PreToolUse", "Bash")))
    stop, call = hooks.fired
    assert (stop.event, stop.subject, stop.data["agent_transcript_path"]) == (
        "SubagentStop",
        "explore",
        "/s/transcript.jsonl",
    )
    assert (call.data["agent_id"], call.data["agent_type"]) == ("a1", "explore")
    events: list[AgentEvent] = []
    (user,) = asyncio.run(subagent_started(hooks, Emitter("s", events.append), "a1", "explore"))
    assert "be quick" in user.text
    ports = child_ports(Ports(Answers(), events.append, hooks=hooks), "a1", "explore")
    assert asyncio.run(ports.compacting("auto", "")) == ""

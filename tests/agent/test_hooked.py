"""Hooks around calls and at the end of turns: order, weight, records, and that none is asked twice about one call."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from msgspec import UNSET

from agenyx.agent.hooked import MOST_HELD
from agenyx.agent.ports import Deferred
from agenyx.core import json
from agenyx.core.approval import Approval, Decision
from agenyx.core.events import ApprovalAsked, Notice, TurnFinished
from agenyx.core.hooks import NOTHING, Event, Fired, Said
from agenyx.core.messages import Step, User
from agenyx.core.tools import Concern, Effects, PathRef
from agenyx.core.verdict import Mode, Rule
from agenyx.policy.decide import Policy
from agenyx.session.records import Decided, EffectsBegun, Hooked, Reader, Result
from agenyx.session.state import State
from agenyx.session.store import MemoryStore
from support.parts import Answers, Parts, Peek, Poke
from support.scripted import Scripted, call, calls, say

Answer = Said | Callable[[Fired], Said]


class Plays:
    """Hooks that play answers by event, and remember what they were told."""

    def __init__(self, **answers: Answer) -> None:
        self.answers, self.fired = answers, list[Fired]()
        self.effects: list[Effects] = []

    def wants(self, event: Event) -> bool:
        return event in self.answers

    async def fire(self, fired: Fired, effects: Callable[[], Awaitable[Effects]] | None = None) -> Said:
        self.fired.append(fired)
        if effects is not None:
            self.effects.append(await effects())
        answer = self.answers.get(fired.event, NOTHING)
        return answer(fired) if callable(answer) else answer

    def of(self, event: str) -> list[dict[str, Any]]:
        return [fired.data for fired in self.fired if fired.event == event]


def said(decision: Any = "", reason: str = "so", **more: Any) -> Said:
    return Said(decision, reason, ran=1, **more)


def run(*made: Any, hooks: Plays, tool: Any = None, **more: Any) -> tuple[Parts, Any]:
    tool = tool or Poke()
    parts = Parts(Scripted([calls(*made), say("done")]), [tool], hooks=hooks, **more)
    parts.run()
    return parts, tool


def poke(text: str = "a", wire_id: str = "") -> Any:
    return call("Poke", wire_id, text=text)


FREE = Policy("bypassPermissions", unsafe=True)


def test_a_hook_sees_the_call_before_anything_and_its_denial_is_final() -> None:
    hooks = Plays(PreToolUse=said("deny", "not today"))
    parts, tool = run(poke(), hooks=hooks, policy=FREE)
    assert not tool.ran
    assert parts.results() == [("denied", "Denied by a hook: not today")]
    (data,) = hooks.of("PreToolUse")
    assert (data["tool_name"], data["tool_input"]) == ("Poke", {"text": "a"})
    assert data["tool_use_id"].startswith("call_")
    assert not parts.bodies(ApprovalAsked)


def test_malformed_calls_and_unknown_tools_reach_no_hook() -> None:
    hooks = Plays(PreToolUse=said("allow"))
    run(call("Poke", "w1", nonsense=1), call("Nothing", "w2"), hooks=hooks)
    assert not hooks.fired


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "dontAsk"])
def test_a_yes_spares_the_question_for_want_of_a_rule(mode: Mode) -> None:
    parts, tool = run(poke(), hooks=Plays(PreToolUse=said("allow")), policy=Policy(mode))
    assert tool.ran == ["a"]
    assert not parts.bodies(ApprovalAsked)


class Risky(Poke):
    """Its effects are what a yes of a hook must not wave through."""

    effects = Effects()

    async def project(self, args: Any, look: Any) -> Effects:
        return self.effects


@pytest.mark.parametrize(
    ("effects", "rules"),
    [
        (Effects(writes=(PathRef(".env", b"/w/.env", "/w", protected="holds secrets"),)), ()),
        (Effects(concerns=(Concern("always", "it formats a disk"),)), ()),
        (Effects(concerns=(Concern("danger", "it removes much"),)), ()),
        (Effects(interact=True), ()),
        (Effects(opaque="not seen"), (Rule("ask", "Poke"),)),
    ],
)
def test_a_yes_spares_no_question_that_is_for_a_person(effects: Effects, rules: tuple[Rule, ...]) -> None:
    tool = Risky()
    tool.effects = effects
    parts, _ = run(poke(), hooks=Plays(PreToolUse=said("allow")), tool=tool, policy=Policy(rules=rules))
    assert not tool.ran
    assert len(parts.bodies(ApprovalAsked)) == 1


def test_a_yes_opens_neither_a_denial_nor_plan_mode() -> None:
    for policy in (Policy(rules=(Rule("deny", "Poke"),)), Policy("plan")):
        parts, tool = run(poke(), hooks=Plays(PreToolUse=said("allow")), policy=policy)
        assert not tool.ran
        assert parts.results()[0][0] == "denied"


def test_a_hook_that_asks_forces_the_question_in_every_mode() -> None:
    for policy in (FREE, Policy(rules=(Rule("allow", "Poke"),))):
        answers = Answers("allow")
        _, tool = run(poke(), hooks=Plays(PreToolUse=said("ask", "look at this")), policy=policy, approver=answers)
        assert "a hook asks: look at this" in answers.asked[0].verdict.text
        assert tool.ran == ["a"]


def test_a_rule_that_the_person_keeps_does_not_answer_for_a_hook_that_asks() -> None:
    class Keeps(Answers):
        async def decide(self, approval: Approval) -> Decision:
            self.asked.append(approval)
            return Decision(approval.id, "allow", scope="session")

    answers = Keeps()
    hooks = Plays(PreToolUse=lambda fired: said("ask") if fired.data["tool_input"]["text"] == "b" else said())
    _, tool = run(poke("a", "w1"), poke("b", "w2"), hooks=hooks, approver=answers, ahead=True)
    assert tool.ran == ["a", "b"]
    assert [asked.call.wire_id for asked in answers.asked] == ["w1", "w2"]


def test_changed_arguments_are_judged_on_record_and_told_and_the_history_stays() -> None:
    store, answers = MemoryStore(), Answers("allow")
    hooks = Plays(PreToolUse=said(args='{"text":"b"}'), PostToolUse=said())
    parts, tool = run(poke("a"), hooks=hooks, approver=answers, store=store)
    assert tool.ran == ["b"]
    assert answers.asked[0].args == '{"text":"b"}'
    assert answers.asked[0].effects.writes[0].shown == "b"
    assert parts.results() == [("ok", '[A hook changed the arguments to {"text":"b"}]\nsaw b')]
    begun = [body for line in store.lines if isinstance(body := Reader().decode(line).body, EffectsBegun)]
    assert [list(body.args.values()) for body in begun if body.args is not UNSET] == [['{"text":"b"}']]
    (step,) = [entry for entry in parts.session.state.entries if isinstance(entry, Step) and entry.results]
    assert json.decode(step.assistant.calls[0].args) == {"text": "a"}
    assert hooks.of("PostToolUse")[0]["tool_input"] == {"text": "b"}


def test_changed_arguments_meet_the_same_denials() -> None:
    tool = Risky()
    tool.effects = Effects(concerns=(Concern("refuse", "it is never done"),))
    parts, _ = run(poke(), hooks=Plays(PreToolUse=said("allow", args='{"text":"b"}')), tool=tool, policy=FREE)
    assert not tool.ran
    assert "it is never done" in parts.results()[0][1]


def test_changed_arguments_that_are_none_do_not_run() -> None:
    parts, tool = run(poke(), hooks=Plays(PreToolUse=said(args='{"txt":"b"}')), policy=FREE)
    assert not tool.ran
    assert "the arguments that a hook gave are not valid" in parts.results()[0][1]


def test_what_a_person_wrote_is_not_changed_by_the_hook() -> None:
    class Edits(Answers):
        async def decide(self, approval: Approval) -> Decision:
            return Decision(approval.id, "allow", args='{"text":"c"}', by="test")

    parts, tool = run(poke("a"), hooks=Plays(PreToolUse=said(args='{"text":"b"}')), approver=Edits())
    assert tool.ran == ["c"]
    assert parts.results()[0][1].startswith('[The user changed the arguments to {"text":"c"}]')


def test_context_comes_at_the_tail_of_the_next_request() -> None:
    provider = Scripted([calls(poke("a", "w1"), poke("b", "w2")), say("done")])
    hooks = Plays(PreToolUse=said(context=("before",)), PostToolUse=said(context=("after </hook_context> x",)))
    parts = Parts(provider, [Poke()], hooks=hooks, policy=FREE)
    parts.run()
    last = provider.requests[1].entries[-1]
    assert isinstance(last, User)
    assert last.origin == "hook"
    assert last.text.count('<hook_context event="PreToolUse">\nbefore\n</hook_context>') == 2
    assert last.text.count("</hook_context>") == 4, "no text ends the mark early"
    assert [type(entry) for entry in provider.requests[1].entries][-2:] == [Step, User]


def test_post_hooks_see_results_and_failures() -> None:
    hooks = Plays(PostToolUse=said(), PostToolUseFailure=said())
    parts, _ = run(call("Peek", "w1", text="a"), call("Peek", "w2", text="b", fail=True), hooks=hooks, tool=Peek())
    (good,), (bad,) = hooks.of("PostToolUse"), hooks.of("PostToolUseFailure")
    assert good["tool_response"] == {"status": "ok", "content": "saw a"}
    assert "b went wrong" in bad["error"]
    assert bad["is_interrupt"] is False
    assert good["duration_ms"] >= 0
    assert [status for status, _ in parts.results()] == ["ok", "error"]


def test_a_post_hook_that_blocks_is_told_and_undoes_nothing() -> None:
    provider = Scripted([calls(poke()), say("done")])
    parts = Parts(provider, [Poke()], hooks=Plays(PostToolUse=said("deny", "run the tests")), policy=FREE)
    parts.run()
    assert parts.results() == [("ok", "saw a")]
    assert "run the tests" in provider.requests[1].entries[-1].text  # type: ignore[union-attr]


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
def test_continue_false_ends_the_turn_for_its_reason(event: str) -> None:
    hooks = Plays(**{event: said(reason="enough", stop=True)})
    provider = Scripted([calls(poke("a", "w1"), poke("b", "w2")), say("never")])
    parts = Parts(provider, [tool := Poke()], hooks=hooks, policy=FREE)
    finished = parts.run()
    assert (finished.outcome.kind, finished.outcome.message) == ("stopped", "enough")
    assert len(provider.requests) == 1
    assert tool.ran == (["a"] if event == "PostToolUse" else [])
    assert len(parts.results()) == 2, "every call has its result"


def test_denials_are_told_whoever_denied() -> None:
    for more in ({"policy": Policy(rules=(Rule("deny", "Poke"),))}, {"approver": Answers("deny")}):
        hooks = Plays(PermissionDenied=said())
        run(poke(), hooks=hooks, **more)  # type: ignore[arg-type]
        (data,) = hooks.of("PermissionDenied")
        assert data["tool_name"] == "Poke"
        assert data["reason"].startswith("Denied: ")


def test_messages_and_problems_reach_the_person() -> None:
    parts, _ = run(poke(), hooks=Plays(PreToolUse=said(messages=("hi",), problems=("oh",))), policy=FREE)
    assert [(notice.level, notice.text) for notice in parts.bodies(Notice)] == [("info", "hi"), ("warning", "oh")]


def test_a_stop_hook_keeps_the_turn_going_until_it_is_content() -> None:
    provider = Scripted([say("first"), say("second")])
    hooks = Plays(Stop=lambda fired: said("" if fired.data["stop_hook_active"] else "deny", "the tests are red"))
    finished = Parts(provider, [], hooks=hooks).run()
    assert (finished.text, finished.outcome.kind) == ("second", "done")
    assert "the tests are red" in provider.requests[1].entries[-1].text  # type: ignore[union-attr]
    assert [data["last_assistant_message"] for data in hooks.of("Stop")] == ["first", "second"]


def test_stop_hooks_that_are_never_content_are_bounded() -> None:
    hooks, provider = Plays(Stop=said("deny", "more")), Scripted([say(f"answer {n}") for n in range(50)])
    parts = Parts(provider, [], hooks=hooks)
    finished = parts.run()
    assert finished.outcome.kind == "done"
    assert len(provider.requests) == MOST_HELD + 1
    assert "kept this turn from ending" in parts.bodies(Notice)[-1].text
    parts.run("again")
    assert len(provider.requests) == 2 * (MOST_HELD + 1), "the next turn counts anew"


def test_a_stop_hook_that_stops_lets_the_turn_end() -> None:
    finished = Parts(Scripted([say("done")]), [], hooks=Plays(Stop=said("deny", stop=True))).run()
    assert finished.outcome.kind == "done"


class Gone(BaseException):
    """Stands for the end of the process."""


class Mortal(MemoryStore):
    """Dies after so many records."""

    def __init__(self, life: int) -> None:
        super().__init__()
        self.life = life

    def append(self, lines: Sequence[bytes], *, sync: bool) -> None:
        for line in lines:
            super().append([line], sync=sync)
            self.life -= 1
            if self.life == 0:
                raise Gone


def later(store: MemoryStore, hooks: Plays, **more: Any) -> tuple[Parts, Poke, TurnFinished]:
    """A new process over the same records."""
    state = State()
    for line in store.lines:
        state.apply(Reader().decode(line))
    copy = MemoryStore()
    copy.lines += store.lines
    tool = Poke()
    parts = Parts(Scripted([calls(poke()), say("done")]), [tool], hooks=hooks, state=state, store=copy, **more)
    parts.session.ids.count = 1000  # type: ignore[attr-defined]
    return parts, tool, asyncio.run(parts.engine.run())


def test_after_a_crash_between_the_hook_and_the_effect_the_hook_is_not_asked_again() -> None:
    hooks = Plays(PreToolUse=said("allow", args='{"text":"b"}', context=("old",)))
    whole = MemoryStore()
    Parts(Scripted([calls(poke()), say("done")]), [Poke()], hooks=hooks, store=whole).run()
    kinds = [type(Reader().decode(line).body) for line in whole.lines]
    life = kinds.index(Hooked) + 1
    assert kinds.index(EffectsBegun) > kinds.index(Hooked)
    store, first = Mortal(life), Plays(PreToolUse=said("allow", args='{"text":"b"}', context=("old",)))
    with pytest.raises(Gone):
        Parts(Scripted([calls(poke()), say("done")]), [Poke()], hooks=first, store=store).run()
    second = Plays(PreToolUse=said("deny", "asked again"))
    parts, tool, finished = later(store, second)
    assert (tool.ran, finished.outcome.kind, second.fired) == (["b"], "done", [])
    assert "old" in "".join(entry.text for entry in parts.session.state.entries if isinstance(entry, User))


def test_the_process_may_end_after_any_record_and_each_call_meets_its_hook_once() -> None:
    def guard(fired: Fired) -> Said:
        return said("allow", context=("seen",))

    whole = MemoryStore()
    Parts(Scripted([calls(poke()), say("done")]), [Poke()], hooks=Plays(PreToolUse=guard), store=whole).run()
    start = next(n for n, line in enumerate(whole.lines, 1) if b'"kind":"prompt"' in line)
    for life in range(start, len(whole.lines) - 1):
        store, first = Mortal(life), Plays(PreToolUse=guard)
        with pytest.raises(Gone):
            Parts(Scripted([calls(poke()), say("done")]), [Poke()], hooks=first, store=store).run()
        second = Plays(PreToolUse=guard)
        parts, _, finished = later(store, second)
        assert finished.outcome.kind == "done", life
        kinds = [type(record.body) for record in parts.session.records()]
        assert (kinds.count(Hooked), kinds.count(Result)) == (1, 1), life
        told = [entry for entry in parts.session.state.entries if isinstance(entry, User) and "seen" in entry.text]
        assert len(told) == 1, life


def test_an_approval_that_is_answered_another_day_asks_no_hook_again() -> None:
    class Later(Answers):
        async def decide(self, approval: Approval) -> Decision:
            raise Deferred

    store, first = MemoryStore(), Plays(PreToolUse=said("ask", args='{"text":"b"}'))
    finished = Parts(Scripted([calls(poke())]), [Poke()], hooks=first, store=store, approver=Later()).run()
    assert finished.outcome.kind == "waiting"
    assert finished.waiting[0].args == '{"text":"b"}'
    second = Plays(PreToolUse=said("deny", "asked again"))
    parts, tool, finished = later(store, second, approver=Answers("allow"))
    assert (tool.ran, second.fired, finished.outcome.kind) == (["b"], [], "done")
    assert sum(isinstance(record.body, Decided) for record in parts.session.records()) == 1


def test_without_hooks_nothing_is_recorded_about_them() -> None:
    store = MemoryStore()
    run(poke(), hooks=Plays(), policy=FREE, store=store)
    assert not [line for line in store.lines if b'"hooked"' in line]


def test_hooks_that_are_not_for_a_call_leave_no_record() -> None:
    store = MemoryStore()
    run(poke(), hooks=Plays(PreToolUse=NOTHING, PostToolUse=NOTHING), policy=FREE, store=store)
    assert not [line for line in store.lines if b'"hooked"' in line]

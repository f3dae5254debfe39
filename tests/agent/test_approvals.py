"""What a human's answer means: edited arguments, answers that hold for longer, a world that changed meanwhile."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import UNSET

from agenyx.core.approval import Approval, Decision
from agenyx.core.messages import Step
from agenyx.core.tools import Concern, Effects, PathRef
from agenyx.core.verdict import Rule
from agenyx.policy.decide import Policy
from agenyx.session.records import EffectsBegun, Reader
from agenyx.session.store import MemoryStore
from agenyx.tools.spec import Look
from support.conversation import open_scripted
from support.parts import Parts, Poke, SayArgs
from support.scripted import Scripted, call, calls, say

ALLOW = Policy("bypassPermissions", unsafe=True)


class Careful(Poke):
    """Writes; what is named secret is protected, what is named danger has a concern."""

    name = "Careful"

    async def project(self, args: SayArgs, look: Look) -> Effects:
        protected = "it may hold secrets" if "secret" in args.text else ""
        concerns = (Concern("danger", "it loses work"),) if "danger" in args.text else ()
        ref = PathRef(args.text, args.text.encode(), "/w", protected=protected)
        return Effects(writes=(ref,), preview=args.text, concerns=concerns)


class Decide:
    """An approver that plays functions from the approval to the decision."""

    def __init__(self, *answers: Callable[[Approval], Decision]) -> None:
        self.answers, self.asked = list(answers), list[Approval]()

    async def decide(self, approval: Approval) -> Decision:
        self.asked.append(approval)
        return self.answers.pop(0)(approval) if self.answers else Decision(approval.id, "deny", message="enough")


def yes(approval: Approval) -> Decision:
    return Decision(approval.id, "allow", by="test")


def edit(text: str) -> Callable[[Approval], Decision]:
    return lambda approval: Decision(approval.id, "allow", args=f'{{"text": "{text}"}}', by="test")


def run(*texts: str, approver: Decide, **more: Any) -> tuple[Parts, Careful]:
    tool = Careful()
    script = [calls(*(call("Careful", text=text) for text in texts)), say("done")]
    parts = Parts(Scripted(script), [tool], approver=approver, **more)
    parts.run()
    return parts, tool


def test_edited_arguments_run_are_on_record_and_the_model_is_told() -> None:
    store = MemoryStore()
    parts, tool = run("old", approver=Decide(edit("new")), store=store)
    assert tool.ran == ["new"]
    assert parts.results() == [("ok", '[The user changed the arguments to {"text": "new"}]\nsaw new')]
    begun = [body for line in store.lines if isinstance(body := Reader().decode(line).body, EffectsBegun)]
    assert [list(body.args.values()) for body in begun if body.args is not UNSET] == [['{"text": "new"}']]
    (step,) = [entry for entry in parts.session.state.entries if isinstance(entry, Step) and entry.results]
    assert '"old"' in step.assistant.calls[0].args, "what the model sent stays as it was sent"


def test_edited_arguments_are_validated() -> None:
    parts, tool = run(
        "old", approver=Decide(lambda approval: Decision(approval.id, "allow", args='{"txt": "new"}', by="test"))
    )
    assert tool.ran == []
    ((status, text),) = parts.results()
    assert status == "malformed" and "txt" in text


def test_an_edit_that_touches_something_guarded_is_asked_again_with_what_it_became() -> None:
    approver = Decide(edit("secret"), yes)
    parts, tool = run("plain", approver=approver)
    assert [asked.args for asked in approver.asked] == [None, '{"text": "secret"}']
    assert "secrets" in approver.asked[1].verdict.text
    assert tool.ran == ["secret"]

    approver = Decide(edit("danger"))
    parts, tool = run("plain", approver=approver)
    assert tool.ran == [] and parts.results()[0][0] == "denied" and len(approver.asked) == 2


def test_a_call_is_edited_twice_at_most() -> None:
    approver = Decide(edit("secret 1"), edit("secret 2"), edit("secret 3"), yes)
    parts, tool = run("plain", approver=approver)
    assert tool.ran == [] and len(approver.asked) == 2
    ((status, text),) = parts.results()
    assert status == "denied" and "twice" in text


def test_a_yes_does_not_cover_what_the_world_made_of_the_call_meanwhile(tmp_path: Path) -> None:
    """Between question and answer the file became a link to a protected one."""
    (tmp_path / "work" / ".git").mkdir(parents=True)
    hook = tmp_path / "work" / ".git" / "hook"

    def swap_and_say_yes(approval: Approval) -> Decision:
        os.symlink(".git/hook", tmp_path / "work" / "notes.txt")
        return yes(approval)

    approver = Decide(swap_and_say_yes)
    script = [calls(call("Write", file_path="notes.txt", content="evil")), say("done")]
    talk, _ = open_scripted(script, tmp_path / "home", tmp_path / "work", approver=approver, mode="default")

    async def go() -> None:
        await talk.prompt("go")
        await talk.close()

    asyncio.run(go())
    assert not hook.exists()
    assert [asked.effects.writes[0].shown for asked in approver.asked] == ["notes.txt", ".git/hook"]


def test_a_no_stays_a_no_whatever_the_mode_has_become() -> None:
    parts: list[Parts] = []

    def switch_and_say_no(approval: Approval) -> Decision:
        parts[0].boundary.policy = type(parts[0].boundary.policy)("bypassPermissions", unsafe=True)
        return Decision(approval.id, "deny", message="no", by="test")

    tool = Careful()
    script = [calls(call("Careful", text="x")), say("done")]
    parts.append(Parts(Scripted(script), [tool], approver=Decide(switch_and_say_no)))
    parts[0].run()
    assert tool.ran == [] and parts[0].results() == [("denied", "Denied: no")]


def test_once_the_home_is_lost_everything_is_denied_also_what_was_allowed() -> None:
    lost = [""]

    def lose_and_say_yes(approval: Approval) -> Decision:
        lost[0] = "the home was replaced while Agenyx ran"
        return yes(approval)

    approver = Decide(lose_and_say_yes)
    parts, tool = run("one", "two", approver=approver, guard=lambda: lost[0])
    assert tool.ran == [] and len(approver.asked) == 1
    assert parts.results() == [("denied", "Denied: the home was replaced while Agenyx ran.")] * 2


def test_a_home_lost_between_the_judgement_and_the_effect_stops_the_effect() -> None:
    checks = [0]

    def lost_at_the_third() -> str:
        checks[0] += 1
        return "the home is gone" if checks[0] >= 3 else ""

    tool = Careful()
    script = [calls(call("Careful", text="x")), say("done")]
    parts = Parts(Scripted(script), [tool], policy=ALLOW, guard=lost_at_the_third)
    parts.run()
    assert tool.ran == [] and parts.results() == [("denied", "Denied: the home is gone.")]


def test_only_a_yes_saves_rules() -> None:
    saved: list[Rule] = []

    def remember(rules: Sequence[Rule]) -> str:
        saved.extend(rules)
        return ""

    def lasting(choice: Literal["allow", "deny"]) -> Callable[[Approval], Decision]:
        return lambda approval: Decision(approval.id, choice, scope="saved", by="test")

    parts, tool = run("x", approver=Decide(lasting("deny")), remember=remember)
    assert tool.ran == [] and saved == [] and parts.session.state.rules == []
    parts, tool = run("x", approver=Decide(lasting("allow")), remember=remember)
    assert tool.ran == ["x"] and [rule.text for rule in saved] == ["Edit(/x)"] == [
        rule.text for rule in parts.session.state.rules
    ]

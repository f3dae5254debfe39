"""What a turn is kept to is state: a prompt or a result sets it, the next one replaces it, the turn ends it."""

from __future__ import annotations

from msgspec import UNSET, UnsetType

from agenyx.core.events import Outcome
from agenyx.core.messages import Assistant, Text, ToolCall, ToolResult, User
from agenyx.core.verdict import Rule, Scope
from agenyx.session.records import Accepted, Body, Finished, Prompt, Reader, Record, Response, Result, encode
from agenyx.session.state import State

ONE = Scope("the skill a", (Rule("allow", "Read"),))
TWO = Scope("the skill b", (Rule("allow", "Bash", "git:*"),))


def typed(text: str, scope: Scope | UnsetType = UNSET) -> Prompt:
    return Prompt(User((Text(text),), "typed", text, scope=scope))


def called(call: str, scope: Scope | UnsetType = UNSET) -> tuple[Body, ...]:
    made = Response(Assistant((ToolCall(call, "w", "Skill", "{}"),), "calls"))
    return (made, Accepted(call), Result(ToolResult(call, "ok", ()), scope=scope))


class Folded:
    def __init__(self) -> None:
        self.state, self.seq, self.lines = State(), 0, list[bytes]()

    def add(self, turn: str, *bodies: Body) -> Scope:
        """The scope after the bodies, which was also folded from what is on disk."""
        for body in bodies:
            self.seq += 1
            record = Record(1, f"r{self.seq}", self.seq, f"r{self.seq - 1}", 0.0, turn, body)
            self.lines.append(encode(record))
            self.state.apply(record)
        again, reader = State(), Reader()
        for line in self.lines:
            again.apply(reader.decode(line))
        assert again.scope == self.state.scope
        return self.state.scope


def test_a_result_sets_it_another_replaces_it_and_a_prompt_ends_it() -> None:
    fold = Folded()
    assert fold.add("t1", typed("go")) == Scope()
    assert fold.add("t1", *called("c1", ONE)) == ONE
    assert fold.add("t1", *called("c2")) == ONE, "other calls leave it alone"
    assert fold.add("t1", Prompt(User((Text("by the way"),), "steer"))) == ONE, "the same turn goes on"
    assert fold.add("t1", Prompt(User((Text("a notice"),), "notice"))) == ONE
    assert fold.add("t1", *called("c3", TWO)) == TWO
    assert fold.add("t1", *called("c4", Scope())) == Scope(), "a skill without a scope ends the one before"
    assert fold.add("t1", *called("c5", TWO), Finished(Outcome("done"))) == TWO
    assert fold.add("t2", Prompt(User((Text("the mode changed"),), "notice")), typed("again")) == Scope()


def test_a_prompt_may_bring_one() -> None:
    fold = Folded()
    assert fold.add("t1", typed("/a", ONE)) == ONE
    assert fold.add("t1", Finished(Outcome("done"))) == ONE
    assert fold.add("t2", typed("next")) == Scope()


def test_what_has_none_says_nothing_of_it_on_disk() -> None:
    fold = Folded()
    fold.add("t1", typed("go"), *called("c1"))
    assert not any(b"scope" in line for line in fold.lines)

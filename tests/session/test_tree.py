"""The tree of records: which branch is folded, what a damaged line costs, and that no way through it tears a step."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agenyx.core.errors import AgenyxError
from agenyx.core.events import Outcome, Usage
from agenyx.core.messages import Assistant, Opaque, Reasoning, Step, Text, ToolCall, ToolResult, User
from agenyx.llm.anthropic_wire import THINKING
from agenyx.llm.request import Options
from agenyx.llm.responses_items import ITEM
from agenyx.session.fork import fork
from agenyx.session.load import load
from agenyx.session.records import (
    Accepted,
    Binding,
    Body,
    Checkpoint,
    Compacted,
    EffectsBegun,
    Finished,
    Head,
    Opened,
    Prefix,
    Prompt,
    Pruned,
    Record,
    Response,
    Result,
    Title,
    Trimmed,
)
from agenyx.session.session import Session
from agenyx.session.state import NeedModel, State, next_action
from agenyx.session.store import TRANSCRIPT, FileStore
from agenyx.session.tree import fold, tree_of
from support.parts import CountingIds
from support.validity import valid_everywhere


def typed(text: str) -> Prompt:
    return Prompt(User((Text(text),), "typed"))


def chain(*rows: tuple[str, str, Body] | tuple[str, str, Body, str]) -> list[Record]:
    """Records of (id, parent, body, turn); the turn is the id where it is left out."""
    return [
        Record(1, row[0], seq, row[1], float(seq), row[3] if len(row) > 3 else row[0], row[2])
        for seq, row in enumerate(rows, 1)
    ]


def prompts(records: Iterable[Record], to: str | None = None) -> list[str]:
    kept = list(records)
    return [entry.text for entry in fold(lambda: kept, to).entries if isinstance(entry, User)]


FORKED = chain(
    ("a", "", typed("a")),
    ("b", "a", typed("b")),
    ("c", "b", typed("c")),
    ("h1", "c", Head("a", "rewind")),
    ("d", "a", typed("d")),
    ("e", "d", typed("e")),
)


def test_only_the_branch_at_the_head_is_folded() -> None:
    assert prompts(FORKED) == ["a", "d", "e"]
    assert prompts(FORKED, "c") == ["a", "b", "c"]
    assert prompts(FORKED, "") == []
    with pytest.raises(AgenyxError, match="no such point"):
        prompts(FORKED, "h1")


def test_a_head_that_nothing_follows_counts() -> None:
    back = [*FORKED, *chain(*(("x", "", typed("")),) * 6, ("h2", "e", Head("b", "switch")))[6:]]
    state = fold(lambda: back)
    assert [entry.text for entry in state.entries if isinstance(entry, User)] == ["a", "b"]
    assert (state.head, state.seq, state.rewound, state.outcome) == ("b", 7, True, Outcome("idle"))


@pytest.mark.parametrize(
    ("lost", "seen"),
    [
        ("a", ["d", "e"]),  # the point that the head went back to is gone, and the next record says so as well
        ("d", ["a", "e"]),
        ("h1", ["a", "d", "e"]),  # the head itself: the parent of the next record says the same
        ("c", ["a", "d", "e"]),
        ("b", ["a", "d", "e"]),
    ],
)
def test_a_lost_line_costs_itself_only(lost: str, seen: list[str]) -> None:
    left = [record for record in FORKED if record.id != lost]
    found = prompts(left)
    assert [text for text in found if text in ("a", "d", "e")] == seen
    if lost != "a":
        assert found == seen


def test_a_head_without_its_record_moves_nothing_and_is_told() -> None:
    records = chain(("a", "", typed("a")), ("h", "a", Head("gone", "rewind")), ("b", "gone", typed("b")))
    state = fold(lambda: records)
    assert len(state.entries) == 2
    assert "goes back to a record that is not there" in state.problems[0]


def test_a_parent_that_comes_later_makes_no_circle() -> None:
    records = chain(("a", "c", typed("a")), ("b", "a", typed("b")), ("c", "c", typed("c")))
    assert prompts(records) == ["a", "b", "c"]


def test_a_title_and_what_was_spent_count_on_every_branch() -> None:
    answer = Response(Assistant((Text("x"),), "end"), Usage(fresh=5, out=1))
    records = chain(
        ("a", "", typed("a")),
        ("r1", "a", answer, "a"),
        ("t", "r1", Title("named"), "a"),
        ("h", "t", Head("a", "rewind")),
        ("r2", "a", answer, "a"),
    )
    state = fold(lambda: records)
    assert (state.title, state.usage, state.last_usage) == ("named", Usage(fresh=10, out=2), Usage(fresh=5, out=1))
    assert len(state.entries) == 2


def test_turns_with_their_points_and_names() -> None:
    notice = Prompt(User((Text("n"),), "notice"))
    records = chain(
        ("o", "", Opened("s", "/w", "1"), "t1"),
        ("p1", "o", typed("one"), "t1"),
        ("f1", "p1", Finished(Outcome("done")), "t1"),
        ("n2", "f1", notice, "t2"),
        ("p2", "n2", typed("two"), "t2"),
        ("f2", "p2", Finished(Outcome("done")), "t2"),
        ("h1", "f2", Head("f1", "branch", "idea"), "t2"),
        ("p3", "f1", typed("three"), "t3"),
        ("f3", "p3", Finished(Outcome("done")), "t3"),
        ("p4", "f3", typed("four"), "t4"),
        ("h2", "p4", Head("f2", "switch"), "t4"),
    )
    tree = tree_of(records)
    rows = [(t.number, t.text, t.before, t.end, t.after, t.branch, t.active) for t in tree.turns]
    assert rows == [
        (1, "one", "o", "f1", 0, "", True),
        (2, "two", "n2", "f2", 1, "", True),
        (3, "three", "f1", "f3", 1, "idea", False),
        (4, "four", "f3", "p4", 3, "idea", False),
    ]
    assert (tree.head, tree.branch) == (2, "")
    assert [turn.number for turn in tree.leaves] == [2, 4]
    assert tree.turn(5) is None and tree.turn(0) is None and tree.tip("") is None


# --- any way through a tree ------------------------------------------------------------------------------------------

OPERATIONS = (
    # What builds a conversation comes more often than what breaks it, or most walks would be about nothing.
    *("prompt", "calls", "results", "results", "answer") * 4,
    *("steer", "cut", "interrupt", "crash", "torn"),
    *("rewind", "branch", "fork", "prune", "compact", "trim", "restore"),
)


class Walk:
    """A session on disk that anything may happen to."""

    def __init__(self, top: Path) -> None:
        self.top, self.made = top, 0
        self.ids = CountingIds()
        self.session = self.opened(top / "s0")
        self.session.append(Opened("s0", "/w", "1"), Binding("p", "me", "m"), Prefix("h", Options(), ("sys",), ()))

    def opened(self, directory: Path) -> Session:
        store = FileStore(str(directory))
        state = load(str(directory)) if (directory / TRANSCRIPT).stat().st_size else State()
        return Session(directory.name, store, state, str(directory), self.ids, lambda: 1.0)

    def again(self, directory: Path) -> None:
        self.session.close()
        self.session = self.opened(directory)

    def do(self, what: str, number: int) -> None:
        session, state = self.session, self.session.state
        here = Path(session.directory)
        match what:
            case "prompt":
                self.close()
                session.append(typed(f"p{number}"), turn=self.ids.new("turn"))
            case "steer" if state.outcome is None and not state.pending:
                session.append(Prompt(User((Text(f"s{number}"),), "steer" if number % 2 else "notice")))
            case "restore" if not state.pending:
                path = f"/w/f{number % 3}"
                session.append(Checkpoint("rewind_1", path, "a", None, 0o644))
                session.append(Checkpoint("rewind_1", path, "a", "b", 0o644, 0o644))
            case "answer" if state.outcome is None and not state.pending:
                session.append(Response(Assistant((self.thought(number), Text("done")), "end", binding="me")))
                session.append(Finished(Outcome("done")))
            case "calls" if state.outcome is None and not state.pending:
                made = tuple(self.call(n) for n in range(1 + number % 3))
                blocks = (self.thought(number), *made) if number % 2 else made
                response = Response(Assistant(blocks, "calls", binding="me"), Usage(fresh=1))
                session.append(response, *(Accepted(call.id) for call in made))
            case "results" if state.pending:
                open_ = [call.call.id for call in state.pending.values() if call.result is None]
                session.append(EffectsBegun((open_[number % len(open_)],), True))
                session.append(Result(ToolResult(open_[number % len(open_)], "ok", (Text("r"),))))
            case "cut" if state.outcome is None and not state.pending:
                session.append(Response(Assistant((Text("half"),), "cut", binding="me")))
            case "interrupt":
                self.close()
            case "crash":
                self.again(here)
            case "torn":
                file = here / TRANSCRIPT
                data = file.read_bytes()
                file.write_bytes(data[: max(len(data) - 1 - number % 300, 0)])
                self.again(here)
            case "rewind":
                self.close()
                everywhere = [record.id for record in session.records()]
                self.move(Head(everywhere[number % len(everywhere)] if everywhere else "", "rewind"))
            case "branch":
                self.close()
                self.move(Head(session.state.head, "branch", f"b{number}"))
            case "prune" if not state.pending:
                done = [r for entry in state.view.entries if isinstance(entry, Step) for r in entry.results]
                session.append(Pruned(tuple(replace(r, content=(Text("left out"),)) for r in done[: number % 4])))
            case "compact" if not state.pending and state.view.ids:
                end = number % len(state.view.ids)
                kept = [
                    id for id, entry in zip(state.view.ids, state.view.entries, strict=True) if isinstance(entry, User)
                ]
                session.append(Compacted("so far", state.view.ids[end], tuple(kept[: number % 3])))
            case "trim" if not state.pending:
                session.append(Trimmed())
            case "fork":
                self.made += 1
                fork(str(here), str(self.top / f"s{self.made}"))
                self.again(self.top / f"s{self.made}")
            case _:
                pass

    def move(self, head: Head) -> None:
        before = self.session.state
        try:
            self.session.move(head)
        except AgenyxError:
            assert self.session.state is before, "a refused move changes nothing"

    def close(self) -> None:
        for call in tuple(self.session.state.pending.values()):
            if call.result is None:
                self.session.append(Result(ToolResult(call.call.id, "cancelled", (Text("stopped"),))))

    def call(self, number: int) -> ToolCall:
        return ToolCall(self.ids.new("call"), f"w{number}", "Read", "{}", None)

    def thought(self, number: int) -> Reasoning:
        if number % 3 == 0:
            return Reasoning("hm", Opaque("me", THINKING, '{"type":"thinking","thinking":"hm","signature":"x"}'))
        item = f'{{"id":"rs_{number}","type":"reasoning","summary":[],"encrypted_content":"x"}}'
        return Reasoning("hm", Opaque("me", ITEM, item))

    def check(self) -> None:
        state = self.session.state
        read = load(self.session.directory)
        assert facts(read) == facts(state), "the live state is what a new process reads"
        for entries in (state.entries, state.view.entries):
            valid_everywhere([*entries, User((Text("next"),))])
        if state.prefix is not None and isinstance(action := next_action(state), NeedModel):
            valid_everywhere(action.request.entries)
        rebound = fold(lambda: [*self.session.records(), self.binding()])
        kept = [block for entry in rebound.entries if isinstance(entry, Step) for block in entry.assistant.blocks]
        assert not any(getattr(block, "opaque", None) for block in kept)
        valid_everywhere(rebound.entries)

    def binding(self) -> Record:
        state = self.session.state
        return Record(1, "new", state.seq + 1, state.head, 1.0, state.turn, Binding("q", "you", "n", rebound=True))


def facts(state: State) -> dict[str, Any]:
    names = (
        "opened",
        "binding",
        "entries",
        "seen",
        "turn",
        "outcome",
        "usage",
        "seq",
        "head",
        "rewound",
        "title",
        "restored",
    )
    found: dict[str, Any] = {name: getattr(state, name) for name in names}
    return found | {"pending": {k: v.result for k, v in state.pending.items()}, "view": state.view.entries}


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 999)), max_size=40))
def test_any_way_through_a_tree_is_a_valid_request_on_every_wire(steps: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as top:
        walk = Walk(Path(top))
        try:
            for what, number in steps:
                walk.do(what, number)
                walk.check()
        finally:
            walk.session.close()


def test_the_walk_does_what_it_says(tmp_path: Path) -> None:
    """So that the property above is one of long trees, and not of sessions in which nothing happens."""
    walk = Walk(tmp_path)
    for what, number in (
        ("prompt", 1),
        ("calls", 5),
        ("results", 0),
        ("crash", 0),
        ("results", 1),
        ("results", 1),
        ("answer", 1),
        ("prompt", 2),
        ("calls", 2),
        ("fork", 0),
        ("prompt", 3),
        ("rewind", 3),
        ("branch", 1),
        ("prompt", 4),
    ):
        walk.do(what, number)
        walk.check()
    bodies = [record.body for record in walk.session.records()]
    walk.session.close()
    assert walk.session.id == "s1"
    assert sum(isinstance(body, Head) for body in bodies) == 2
    assert sum(isinstance(body, Result) for body in bodies) == 3, "the call without a result was not copied"

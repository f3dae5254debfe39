"""Questions left open: which calls are asked about, what runs meanwhile, and what is asked again."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from agenyx.agent import asking
from agenyx.agent.ports import Deferred
from agenyx.core.approval import Approval, Decision
from agenyx.core.events import ApprovalAsked
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Effects, PathRef
from agenyx.core.verdict import Rule, Verdict
from agenyx.session.records import Decided, Reader
from agenyx.session.state import State
from agenyx.session.store import MemoryStore
from agenyx.tools.spec import Look
from support.conversation import open_scripted
from support.parts import CountingIds, Parts, Peek, Poke, SayArgs
from support.scripted import Scripted, call, calls, say


class Careful(Peek):
    """Only looks, and asks: several of them are one group."""

    name = "Careful"

    async def project(self, args: SayArgs, look: Look) -> Effects:
        return Effects(reads=(PathRef(args.text, args.text.encode(), "/w", protected="it is secret"),), parallel=True)


class Later:
    """Leaves every question open."""

    async def decide(self, approval: Approval) -> Decision:
        raise Deferred


def deferred(*made: ToolCall) -> tuple[Parts, list[Peek]]:
    tools = [Peek(), Poke(), Careful()]
    parts = Parts(Scripted([calls(*made), say("done")]), tools, approver=Later(), ahead=True)
    assert parts.run().outcome.kind == "waiting"
    return parts, tools


def answer(parts: Parts, approval: Approval, choice: str = "allow") -> None:
    parts.session.append(Decided(Decision(approval.id, choice, by="other")))  # type: ignore[arg-type]


def test_all_that_ask_are_asked_about_and_nothing_behind_them_runs() -> None:
    parts, (peek, poke, _) = deferred(
        call("Peek", text="a"), call("Poke", text="b"), call("Peek", text="c"), call("Poke", text="d")
    )
    assert [asked.approval.effects.preview for asked in parts.bodies(ApprovalAsked)] == ["poke b", "poke d"]
    assert peek.ran == ["a"] and poke.ran == []
    finished = parts.events[-1].body
    assert [approval.effects.preview for approval in finished.waiting] == ["poke b", "poke d"]  # type: ignore[union-attr]


def test_a_group_runs_as_far_as_it_was_answered() -> None:
    parts, (_, _, careful) = deferred(*(call("Careful", text=text) for text in "abc"))
    first, second, third = parts.session.state.questions
    answer(parts, second)
    assert asyncio.run(parts.engine.run()).waiting == (first, third)
    assert careful.ran == []
    answer(parts, first)
    assert asyncio.run(parts.engine.run()).waiting == (third,)
    assert sorted(careful.ran) == ["a", "b"]
    answer(parts, third, "deny")
    assert asyncio.run(parts.engine.run()).outcome.kind == "done"
    assert [status for status, _ in parts.results()] == ["ok", "ok", "denied"]
    assert len(parts.bodies(ApprovalAsked)) == 3, "nothing was asked twice"


def test_two_questions_about_one_file_hold_when_the_first_call_changed_it(tmp_path: Path) -> None:
    """What the session itself did to a file is known to it, and no foreign change."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("one\ntwo\n")
    script = [
        calls(
            call("Edit", file_path="a.txt", old_string="one", new_string="1"),
            call("Edit", file_path="a.txt", old_string="two", new_string="2"),
        ),
        say("done"),
    ]
    talk, session = open_scripted(script, tmp_path / "home", work, approver=Later(), mode="default", ahead=True)

    async def go() -> None:
        assert (await talk.prompt("go")).outcome.kind == "waiting"
        asked = session.state.questions
        assert len(asked) == 2
        session.append(*(Decided(Decision(approval.id, "allow", by="other")) for approval in asked))
        assert (await talk.go_on()).outcome.kind == "done"
        await talk.close()

    asyncio.run(go())
    assert (work / "a.txt").read_text() == "1\n2\n"


def question(path: Path, was: str, *, told: bool = False) -> Approval:
    verdict = Verdict("ask", ())
    if told:
        verdict = asking.with_changes(verdict, (str(path),))
    return Approval("a", ToolCall("c", "w", "Write", "{}"), verdict, Effects(), files=((str(path), was),))


def changes(approval: Approval, seen: dict[str, str] | None = None) -> tuple[str, ...]:
    return asyncio.run(asking.changes(approval, seen or {}))


def test_what_counts_as_a_change(tmp_path: Path) -> None:
    path = tmp_path / "f"
    assert changes(question(path, "")) == ()
    path.write_text("x")
    now, size = asking.content(str(path))
    assert (len(now), size) == (64, 1) and changes(question(path, now)) == ()
    assert changes(question(path, "")) == (str(path),)
    assert changes(question(path, "", told=True)) == (), "a person was told of it once"
    assert changes(question(path, ""), {str(path): now}) == (), "the session itself saw it so"
    path.unlink()
    assert changes(question(path, now)) == (str(path),)


@pytest.mark.parametrize("kind", ["folder", "fifo", "link", "loop"])
def test_only_files_are_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "f"
    match kind:
        case "folder":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case "link":
            path.symlink_to("/etc/passwd")
        case _:
            path.symlink_to("f")
    assert asking.content(str(path)) == ("no file", 0)


def test_a_large_file_goes_by_size_and_time(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with open(path, "wb") as file:
        file.truncate(asking.FILE_BYTES + 1)
    before, read = asking.content(str(path))
    os.utime(path, ns=(1, 1))
    assert "bytes" in before and read == 0 and asking.content(str(path))[0] != before


def test_a_rule_of_an_earlier_answer_covers_what_still_waits() -> None:
    parts, (_, poke, _) = deferred(call("Poke", text="a"), call("Poke", text="b"))
    first, _second = parts.session.state.questions
    answer(parts, first)
    parts.session.state.rules.append(Rule("allow", "Poke", source="session"))
    assert asyncio.run(parts.engine.run()).outcome.kind == "done"
    assert poke.ran == ["a", "b"]


class Replaced(BaseException):
    """The process is gone."""


class Mortal(MemoryStore):
    """Takes `life` records, then nothing more."""

    def __init__(self, lines: list[bytes], life: int) -> None:
        super().__init__()
        self.lines, self.life = lines, life

    def append(self, lines: Sequence[bytes], *, sync: bool) -> None:
        for line in lines:
            if self.life == 0:
                raise Replaced
            self.life -= 1
            self.lines.append(line)


def lives(life: int) -> tuple[int, list[str], list[tuple[str, str]]]:
    """A deferred turn whose processes each write `life` records: how many lived, what acted, the results."""
    made = [call("Peek", text="a"), call("Poke", text="b"), call("Poke", text="c"), call("Poke", text="d")]
    script = [calls(*made), calls(call("Poke", text="e")), say("done")]
    lines, count, tools = list[bytes](), 0, [Peek(), Poke()]
    while count < 200:
        count += 1
        state, reader = State(), Reader()
        for line in lines:
            state.apply(reader.decode(line))
        store = Mortal(lines, life)
        parts = Parts(Scripted(script), tools, approver=Later(), ahead=True, store=store, state=state)
        parts.session.ids = CountingIds(1000 * count)
        try:
            if not state.turn:
                parts.prompt()
            elif waiting := state.questions:  # another process answers the last one first
                choice = "deny" if waiting[-1].effects.preview == "poke c" else "allow"
                answer(parts, waiting[-1], choice)
            if asyncio.run(parts.engine.run()).outcome.kind == "done":
                return count, tools[1].ran, parts.results()
        except Replaced:
            pass
    raise AssertionError("it never came to its end")


@pytest.mark.parametrize("life", range(3, 20))
def test_however_often_the_process_is_replaced_each_call_runs_once_as_it_was_answered(life: int) -> None:
    """Three records are the least that a process has to write, for the turn to have begun."""
    _, ran, results = lives(life)
    assert len(ran) == len(set(ran)) and set(ran) <= {"b", "d", "e"}
    assert [status for status, _ in results][2] == "denied"
    for text, (status, _) in zip("bde", [results[1], results[3], results[4]], strict=True):
        assert status == "interrupted" or (status == "ok" and text in ran)
    if life in (4, *range(6, 20)):
        assert ran == ["b", "d", "e"] and "interrupted" not in [status for status, _ in results]

"""Rewinding and branching in a live conversation: what the model sees, and what a reload finds."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.errors import AgenyxError
from agenyx.core.events import AgentEvent, PrefixBroke
from agenyx.core.messages import Step, User
from agenyx.llm.request import Request
from agenyx.session.load import load
from agenyx.session.records import Head
from agenyx.session.session import Session
from agenyx.session.state import State
from support.conversation import open_scripted
from support.scripted import Scripted, call, calls, say


def answers(request: Request) -> Any:
    """Answers the last prompt by its own words; a prompt `read X` reads the file first."""
    last = request.entries[-1]
    typed = [entry.text for entry in request.entries if isinstance(entry, User) and entry.origin == "typed"]
    if isinstance(last, User) and typed[-1].startswith("read "):
        return calls(call("Read", file_path=typed[-1][5:]))
    if isinstance(last, User) and typed[-1].startswith("write "):
        return calls(call("Write", file_path=typed[-1][6:], content="ours\n"))
    return say(f"<{typed[-1]}>")


class Endless(Scripted):
    """Answers as `answers` does, for ever."""

    def __init__(self) -> None:
        super().__init__([answers] * 500)


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "work").mkdir()
    return tmp_path / "home", tmp_path / "work"


def said(request: Request) -> list[str]:
    """The typed prompts and the answers of a request."""
    shown: list[str] = []
    for entry in request.entries:
        if isinstance(entry, User) and entry.origin == "typed":
            shown.append(entry.text)
        elif isinstance(entry, Step) and entry.assistant.text:
            shown.append(entry.assistant.text)
    return shown


def notices(request: Request) -> list[str]:
    return [entry.text for entry in request.entries if isinstance(entry, User) and entry.origin == "notice"]


def same_as_on_disk(session: Session) -> None:
    """The live state is what a new process would read."""
    read = load(session.directory)
    assert facts(read) == facts(session.state)


def facts(state: State) -> dict[str, Any]:
    names = ("opened", "binding", "prefix", "entries", "seen", "turn", "outcome", "usage", "seq", "head", "rewound")
    return {name: getattr(state, name) for name in names}


def test_a_rewind_leaves_out_what_came_after_and_tells_the_model(places: tuple[Path, Path]) -> None:
    model, events = Endless(), list[AgentEvent]()

    async def run() -> None:
        talk, session = open_scripted(model, *places, events=events)
        for prompt in ("one", "two", "three"):
            await talk.prompt(prompt)
        before, after = session.state.entries, len(events)
        talk.rewind(talk.tree().turns[1].before)
        assert not talk.unfinished
        assert session.state.entries == before[: len(before) - 4]
        same_as_on_disk(session)
        await talk.prompt("other")
        same_as_on_disk(session)
        broke = [event.body for event in events[after:] if isinstance(event.body, PrefixBroke)]
        assert [body.cause for body in broke] == ["the conversation goes on from another point"]
        await talk.prompt("more")
        assert [turn.after for turn in talk.tree().turns] == [0, 1, 2, 1, 4]
        await talk.close()

    asyncio.run(run())
    assert said(model.requests[3]) == ["one", "<one>", "other"]
    assert said(model.requests[4]) == ["one", "<one>", "other", "<other>", "more"]
    assert len([text for text in notices(model.requests[4]) if "moved this conversation" in text]) == 1


def test_a_new_process_goes_on_with_the_branch_that_was_chosen(places: tuple[Path, Path]) -> None:
    model = Endless()

    async def run() -> None:
        talk, _ = open_scripted(model, *places)
        await talk.prompt("one")
        await talk.prompt("two")
        talk.rewind(talk.tree().turns[1].before)
        await talk.close()
        again, session = open_scripted(model, *places)
        assert session.state.rewound
        await again.prompt("other")
        again.rewind(again.tree().turns[1].end, "switch")
        await again.close()
        third, _ = open_scripted(model, *places)
        await third.prompt("back")
        tree = third.tree()
        assert [turn.number for turn in tree.active] == [1, 2, 4]
        assert [turn.number for turn in tree.leaves] == [3, 4]
        await third.close()

    asyncio.run(run())
    assert said(model.requests[2]) == ["one", "<one>", "other"]
    assert "moved this conversation" in notices(model.requests[2])[-1], "also when the process was another one"
    assert said(model.requests[3]) == ["one", "<one>", "two", "<two>", "back"]


def test_a_branch_has_a_name_and_breaks_nothing(places: tuple[Path, Path]) -> None:
    model, events = Endless(), list[AgentEvent]()

    async def run() -> None:
        talk, session = open_scripted(model, *places, events=events)
        await talk.prompt("one")
        talk.branch("idea")
        assert (talk.tree().branch, talk.tree().head) == ("idea", 1)
        same_as_on_disk(session)
        await talk.prompt("two")
        await talk.prompt("three")
        talk.rewind(talk.tree().turns[0].end, "switch")
        assert talk.tree().branch == ""
        await talk.prompt("plain")
        tree = talk.tree()
        assert [turn.branch for turn in tree.turns] == ["", "idea", "idea", ""]
        tip = tree.tip("idea")
        assert tip is not None and tip.number == 3
        await talk.close()

    asyncio.run(run())
    assert said(model.requests[1]) == ["one", "<one>", "two"]
    assert model.requests[1].entries[: len(model.requests[0].entries)] == model.requests[0].entries
    assert not any("moved" in text for text in notices(model.requests[1]))


def test_what_was_read_on_another_branch_has_to_be_read_again(places: tuple[Path, Path]) -> None:
    """The state of the session is replaced, and what hangs on it must see the new one."""
    model = Endless()
    (places[1] / "a.txt").write_text("theirs\n", "utf-8")

    async def run() -> list[str]:
        talk, session = open_scripted(model, *places)
        await talk.prompt("hello")
        await talk.prompt("read a.txt")
        assert session.state.seen
        talk.rewind(talk.tree().turns[1].before)
        assert not session.state.seen
        await talk.prompt("write a.txt")
        refused = session.state.entries
        await talk.prompt("read a.txt")
        await talk.prompt("write a.txt")
        await talk.close()
        steps = [entry for entry in session.state.entries if isinstance(entry, Step) and entry.results]
        assert steps[0] in refused
        return [step.results[0].status for step in steps]

    assert asyncio.run(run()) == ["error", "ok", "ok"]
    assert (places[1] / "a.txt").read_text("utf-8") == "ours\n"


def test_a_rewind_before_the_first_turn_keeps_the_head_of_the_requests(places: tuple[Path, Path]) -> None:
    model = Endless()

    async def run() -> None:
        talk, session = open_scripted(model, *places)
        await talk.prompt("one")
        before = session.state.prefix
        talk.rewind(talk.tree().turns[0].before)
        assert talk.tree().head == 0
        kept = session.state.prefix
        assert before is not None and kept is not None and kept.hash == before.hash
        await talk.prompt("else")
        await talk.close()

    asyncio.run(run())
    assert said(model.requests[1]) == ["else"]
    assert model.requests[1].prefix_id == model.requests[0].prefix_id


def test_a_step_is_never_torn(places: tuple[Path, Path]) -> None:
    (places[1] / "a.txt").write_text("x\n", "utf-8")
    model = Endless()

    async def run() -> None:
        talk, session = open_scripted(model, *places)
        await talk.prompt("read a.txt")
        records = list(session.records())
        response = next(n for n, record in enumerate(records) if type(record.body).__name__ == "Response")
        for torn in records[response : response + 3]:
            before = session.state
            with pytest.raises(AgenyxError, match="no result there yet"):
                talk.rewind(torn.id)
            assert session.state is before
        with pytest.raises(AgenyxError, match="no such point"):
            talk.rewind("rec_nonsense")
        result = next(record for record in records if type(record.body).__name__ == "Result")
        talk.rewind(result.id)  # a completed step in the middle of a turn
        assert isinstance(session.state.entries[-1], Step)
        same_as_on_disk(session)
        await talk.prompt("and now")
        await talk.close()

    asyncio.run(run())
    assert said(model.requests[-1])[-1] == "and now"


def test_a_rewind_out_of_an_open_turn_closes_it(places: tuple[Path, Path]) -> None:
    """A turn that a crash left open stays behind as a whole branch."""
    (places[1] / "a.txt").write_text("x\n", "utf-8")
    model = Endless()

    async def run() -> None:
        talk, session = open_scripted(model, *places)
        await talk.prompt("one")
        await talk.prompt("read a.txt")
        await talk.close()
        path = Path(session.directory) / "transcript.jsonl"
        lines = path.read_bytes().splitlines(keepends=True)
        last = max(n for n, line in enumerate(lines) if b'"kind":"result"' in line)
        path.write_bytes(b"".join(lines[:last]))  # as kill -9 leaves it: the call began, and has no result
        again, session = open_scripted(model, *places)
        assert again.unfinished
        again.rewind(again.tree().turns[0].end, "switch")
        assert not again.unfinished
        again.rewind(again.tree().turns[1].end, "switch")
        (step,) = [entry for entry in session.state.entries if isinstance(entry, Step) and entry.results]
        assert step.results[0].status == "cancelled"
        await again.prompt("go")
        await again.close()

    asyncio.run(run())
    assert said(model.requests[-1]) == ["one", "<one>", "read a.txt", "go"]


def test_a_session_in_memory_rewinds_as_well(places: tuple[Path, Path]) -> None:
    from agenyx.session.store import FileStore, MemoryStore, Store

    class Memory(MemoryStore):
        """Beside a file that is only read."""

        def __init__(self, directory: str) -> None:
            FileStore(directory).close()
            super().__init__(f"{directory}/transcript.jsonl")

    def make(directory: str) -> Store:
        return Memory(directory)

    model = Endless()

    async def run() -> None:
        talk, _ = open_scripted(model, *places)
        await talk.prompt("one")
        await talk.close()
        again, session = open_scripted(model, *places, make_store=make)
        await again.prompt("two")
        again.rewind(again.tree().turns[1].before)
        await again.prompt("other")
        assert any(isinstance(record.body, Head) for record in session.records())
        await again.close()

    asyncio.run(run())
    assert said(model.requests[-1]) == ["one", "<one>", "other"]

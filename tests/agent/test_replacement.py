"""The process is replaced after every record of a long run over real files, processes and searches.

Whatever the record, the next process reads the transcript and goes on: the outcome is the transcript of an
uninterrupted run, except that a call whose last record is EffectsBegun settles as interrupted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agenyx.core import json
from agenyx.core.messages import Assistant, Step, ToolResult
from agenyx.session import load
from agenyx.session.records import Checkpoint, EffectsBegun, Prompt, Record
from agenyx.session.session import Session
from agenyx.session.state import State, next_action
from agenyx.session.store import TRANSCRIPT, FileStore
from support.conversation import open_scripted
from support.scripted import call, calls, say


class Replaced(BaseException):
    """Stands for the end of the process."""


class Mortal(FileStore):
    """Dies after so many records, each written by itself as if the write had been torn there."""

    def __init__(self, directory: str, life: int) -> None:
        super().__init__(directory)
        self.life = life

    def append(self, lines: Sequence[bytes], *, sync: bool) -> None:
        for line in lines:
            super().append([line], sync=sync)
            self.life -= 1
            if self.life == 0:
                raise Replaced


def script() -> list[Assistant]:
    """30 steps: parallel reads, writes, edits, searches, and a shell whose directory and variables persist."""
    steps = [
        calls(call("LS"), call("Glob", pattern="*.txt"), call("Read", "r1", file_path="a.txt"), text="Let me look."),
        calls(call("Bash", command="mkdir -p sub && cd sub && export COLOUR=red && pwd | sed 's|.*/||'")),
    ]
    for n in range(8):
        steps += [
            calls(
                call("Read", "ra", file_path="a.txt"),
                call("Read", "rb", file_path="b.txt"),
                call("Grep", pattern="line"),
            ),
            calls(call("Edit", file_path="a.txt", old_string=f"line {n}\n", new_string=f"line {n} done\n")),
            calls(call("Bash", command=f"echo $COLOUR {n} >> log.txt; wc -l < log.txt; basename $PWD")),
        ]
    steps += [
        calls(call("Write", file_path="new/c.txt", content="fresh\n"), call("Read", file_path="new/c.txt")),
        calls(call("Write", file_path="a.txt", content="all new\n"), call("Nonsense"), call("Bash", command="false")),
        calls(call("Read", file_path="missing.txt"), call("Bash", command="cat log.txt")),
    ]
    return [*steps, say("Everything is done.")]


def files(workspace: Path) -> None:
    workspace.mkdir()
    (workspace / "a.txt").write_text("".join(f"line {n}\n" for n in range(10)))
    (workspace / "b.txt").write_text("other line\n")


def one_life(home: Path, workspace: Path, life: int) -> bool:
    """Run one process until it dies or the turn is over; says whether it is over."""

    async def scenario() -> bool:
        opened = open_scripted(script(), home, workspace, lambda directory: Mortal(directory, life))
        conversation, session = opened
        try:
            typed = any(user.origin == "typed" for user in session.state.entries if hasattr(user, "origin"))
            if typed:
                await conversation.go_on()
            else:
                await conversation.prompt("Work through it.")
            return session.state.outcome is not None
        except Replaced:
            return False
        except BaseExceptionGroup as group:
            assert group.subgroup(Replaced), group
            return False
        finally:
            await conversation.close()

    return asyncio.run(scenario())


def records(home: Path, workspace: Path) -> list[Record]:
    (path,) = home.glob(f"sessions/*/*/{TRANSCRIPT}")
    problems: list[str] = []
    found = list(load.decode_lines(path.read_bytes(), problems))
    assert problems == []
    return found


def transcript(home: Path, workspace: Path) -> list[Any]:
    """What the conversation came to, with identities and paths replaced by their order and place."""
    state = State()
    for record in records(home, workspace):
        state.apply(record)
    assert state.problems == []
    text = json.encode(state.entries).decode().replace(str(home.parent), "/TMP")
    names: dict[str, str] = {}
    for entry in state.entries:
        if isinstance(entry, Step):
            for made in entry.assistant.calls:
                names[made.id] = f"call-{len(names)}"
    for real, name in names.items():
        text = text.replace(real, name)
    value = json.decode(text)
    for entry in value:
        entry.pop("prompt_id", None)
    return value


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Any], list[Record]]:
    """The uninterrupted run."""
    top = tmp_path_factory.mktemp("whole")
    files(top / "work")
    assert one_life(top / "home", top / "work", -1)
    found = records(top / "home", top / "work")
    final = transcript(top / "home", top / "work")
    statuses = [result["status"] for entry in final if entry["type"] == "step" for result in entry["results"]]
    assert statuses.count("ok") >= 40, statuses
    assert len([entry for entry in final if entry["type"] == "step"]) == 30
    return final, found


SLICES = 6


@pytest.mark.parametrize("part", range(SLICES))
def test_the_process_replaced_after_every_record(
    tmp_path: Path, whole: tuple[list[Any], list[Record]], part: int
) -> None:
    expected, uninterrupted = whole
    for life in range(1 + part, len(uninterrupted), SLICES):
        top = tmp_path / str(life)
        top.mkdir()
        files(top / "work")
        assert not one_life(top / "home", top / "work", life), f"died after record {life}"
        assert one_life(top / "home", top / "work", -1), f"went on after record {life}"
        got = transcript(top / "home", top / "work")
        last = uninterrupted[life - 1].body
        changed = isinstance(last, Checkpoint) and last.after is not None  # the result was in the same write
        if changed or (isinstance(last, EffectsBegun) and last.acts):
            compare_interrupted(expected, got, life)
        else:
            assert got == expected, f"replaced after record {life}: {type(last).__name__}"


def compare_interrupted(expected: list[Any], got: list[Any], life: int) -> None:
    """Exactly one call is interrupted, it left no effect, and it was not run again; all before it is the same."""
    results = [result for entry in got if entry["type"] == "step" for result in entry["results"]]
    interrupted = [result for result in results if result["status"] == "interrupted"]
    assert len(interrupted) == 1, f"replaced after record {life}"
    place = next(i for i, (a, b) in enumerate(zip(expected, got, strict=False)) if a != b)
    assert interrupted[0] in got[place]["results"]
    assert got[:place] == expected[:place]


def test_no_record_stands_twice_and_state_is_a_function_of_the_file(
    tmp_path: Path, whole: tuple[list[Any], list[Record]]
) -> None:
    """After any number of deaths the incremental state equals the fold over the file."""
    files(tmp_path / "work")
    lives = 0
    while not one_life(tmp_path / "home", tmp_path / "work", 17):
        lives += 1
        found = records(tmp_path / "home", tmp_path / "work")
        assert [record.seq for record in found] == list(range(1, len(found) + 1))
        assert len({record.id for record in found}) == len(found)
    assert lives > 5
    assert sum(isinstance(r.body, Prompt) and r.body.user.origin == "typed" for r in found) == 1


class Watched(Session):
    """Compares the incremental state with the fold over everything written, after every append."""

    def append(self, *bodies: Any, turn: str | None = None, sync: bool = False) -> None:
        super().append(*bodies, turn=turn, sync=sync)
        fresh = State()
        problems: list[str] = []
        data = Path(self.directory, TRANSCRIPT).read_bytes()
        for record in load.decode_lines(data, problems):
            fresh.apply(record)
        assert problems == []
        mine, theirs = next_action(self.state), next_action(fresh)
        assert type(mine) is type(theirs)
        assert json.encode(self.state.entries) == json.encode(fresh.entries)
        assert self.state.seen == fresh.seen
        assert (self.state.steps, self.state.turn, self.state.outcome) == (fresh.steps, fresh.turn, fresh.outcome)


def test_next_is_a_pure_function_of_the_records(tmp_path: Path) -> None:
    files(tmp_path / "work")

    async def scenario() -> None:
        conversation, session = open_scripted(script(), tmp_path / "home", tmp_path / "work", session_type=Watched)
        await conversation.prompt("Work through it.")
        assert session.state.outcome is not None
        assert all(isinstance(r, ToolResult) for e in session.state.entries if isinstance(e, Step) for r in e.results)
        await conversation.close()

    asyncio.run(scenario())

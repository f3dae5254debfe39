"""What must hold after a crash, and at the end of a session however often it crashed. Raises AssertionError."""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections import Counter
from pathlib import Path

from msgspec import Struct

from agenyx.core import json
from agenyx.core.messages import Entry, Step, User
from agenyx.session.checkpoints import stored
from agenyx.session.load import decode_lines
from agenyx.session.media import MediaStore
from agenyx.session.records import Compacted, Decided, EffectsBegun, Record
from agenyx.session.state import State
from agenyx.session.store import TRANSCRIPT, FileStore
from agenyx.session.view import shown
from crash import story
from crash.person import found
from support.validity import valid_everywhere

_ID = re.compile(r"call_[0-9a-f]+")
_TOKEN = re.compile(r"echo (\S+) >>")
_TORN = ("is cut off", "is damaged", "is no record")
_PATIENCE = 20.0  # seconds until what a killed process started is gone


class Row(Struct, frozen=True):
    """One call of the history, without its identity."""

    name: str
    args: str
    status: str


class Whole(Struct, frozen=True):
    """What an undisturbed run came to: the calls of the session and of its copy, and how often the model was asked."""

    original: tuple[Row, ...]
    copy: tuple[Row, ...]
    asked: int


def witnessed(top: Path) -> list[tuple[str, str]]:
    lines = (top / "witness").read_text("utf-8").splitlines()
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def dead(top: Path) -> set[str]:
    """Look at what a killed process left. Returns the calls that had begun to act and have no result."""
    original, copy = found(top / "home", top / "work")
    begun = set[str]()
    records = list[Record]()
    for one in (original, copy):
        if one is not None:
            records += stored(one[0])
            _valid(one[1])
            _shown(*one)
            begun |= {call.call.id for call in one[1].pending.values() if call.begun and call.acts and not call.result}
    prompts = {prompt for one in (original, copy) if one for prompt in one[1].prompts}
    decided = {record.body.decision.approval for record in records if isinstance(record.body, Decided)}
    for word, rest in witnessed(top):
        assert word != "accepted" or f"typed-{rest}" in prompts, f"the prompt {rest} was taken up and is lost"
        assert word != "decided" or rest in decided, f"the answer to {rest} was taken up and is lost"
        assert word != "compacted" or (original and _summaries(original[0])), "the summary is lost"
    if copy is not None:
        assert original is not None
        _copied(original, copy)
    return begun


def ended(top: Path, whole: Whole | None, kills: int, begun: set[str]) -> Whole:
    """Look at a session that is done after so many kills. `begun` are the calls that were cut off in their effect."""
    original, copy = found(top / "home", top / "work")
    assert original is not None and copy is not None
    interrupted = set[str]()
    for directory, state in (original, copy):
        _valid(state)
        _records(directory, state, kills)
        assert state.outcome is not None and state.outcome.kind == "done" and not state.pending
        interrupted |= {r.call for step in _steps(state.entries) for r in step.results if r.status == "interrupted"}
        FileStore(directory).close()  # nobody holds it
        assert _shown(directory, state) == 1, "the model was shown the image"
    assert interrupted == begun, "exactly the calls that had begun are settled as interrupted"
    assert _typed(original[1]) == [story.prompt(name) for name in story.ORIGINAL]
    assert _typed(copy[1]) == [story.prompt(name) for name in story.COPY]
    assert _summaries(original[0]) == 1, "what the person asked for was done once"
    _copied(original, copy)
    said = witnessed(top)
    digest = hashlib.sha256((Path(original[0]) / TRANSCRIPT).read_bytes()).hexdigest()
    assert {rest for word, rest in said if word == "forking"} == {digest}, "the session that was copied is as it was"
    _effects(top / "work", copy[1])
    _alone(top)
    asked = [rest for word, rest in said if word == "asked" and rest != "summary"]
    now = Whole(_rows(original[1]), _rows(copy[1]), len(asked))
    if whole is not None:
        _same(whole.original, now.original)
        _same(whole.copy, now.copy)
        assert len(asked) <= whole.asked + kills, "a crash costs one answer of the model at most"
    return now


def _valid(state: State) -> None:
    valid_everywhere(state.entries, "author")
    valid_everywhere(state.view.entries, "author")


def _shown(directory: str, state: State) -> int:
    """How many images the session holds; the bytes of each are there."""
    found = [one for entry in state.entries for one in shown(entry)]
    assert all(MediaStore(directory).get(one) is not None for one in found), "an image on record has lost its bytes"
    return len(found)


def _records(directory: str, state: State, kills: int) -> None:
    problems = list[str]()
    records = list(decode_lines((Path(directory) / TRANSCRIPT).read_bytes(), problems))
    assert all(any(torn in problem for torn in _TORN) for problem in (*problems, *state.problems)), problems
    assert len(problems) <= kills, problems
    numbers = [record.seq for record in records]
    assert numbers == sorted(set(numbers)) and len({record.id for record in records}) == len(records)
    answers = Counter(record.body.decision.approval for record in records if isinstance(record.body, Decided))
    begun = Counter(
        call
        for record in records
        if isinstance(record.body, EffectsBegun) and record.body.acts
        for call in record.body.calls
    )
    assert set(answers.values()) <= {1}, "a question is answered once"
    assert set(begun.values()) <= {1}, "a call begins to act once"


def _summaries(directory: str) -> int:
    """How often the person had the conversation summarised."""
    return sum(isinstance(record.body, Compacted) and record.body.by == "user" for record in stored(directory))


def _copied(original: tuple[str, State], copy: tuple[str, State]) -> None:
    """A copy that can be seen is whole. Torn may be what was written to it later."""
    kept = original[1].entries
    there = copy[1].entries[: len(kept)]
    moved = json.encode(there).decode().replace(copy[0], original[0])
    assert moved == json.encode(kept).decode(), "the copy differs from what it was made of"
    for step in _steps(copy[1].entries):
        for result in step.results:
            assert not result.spill or os.path.isfile(result.spill), "what was put aside came along"


def _effects(work: Path, state: State) -> None:
    counted = Counter((work / story.COUNTER).read_text("utf-8").split())
    for step in _steps(state.entries):
        for call, result in zip(step.assistant.calls, step.results, strict=True):
            args, sure = json.decode(call.args), result.status != "interrupted"
            if call.name == "Bash":
                (token,) = _TOKEN.findall(args["command"])
                times = counted.pop(token, 0)
                assert times <= 1, f"{token} ran {times} times"
                assert times == 1 or not sure or token.startswith("late"), f"{token} never ran"
            elif call.name in ("Edit", "MultiEdit"):
                before = f"file {args['file_path'][1]}\nold\n"
                after = before.replace("old", "new")
                text = (work / args["file_path"]).read_text("utf-8")
                assert text == after or (not sure and text == before), f"{call.name}: {text!r}"
            elif call.name == "Write":
                path = work / args["file_path"]
                assert path.read_text("utf-8") == args["content"] if path.exists() else not sure
    assert not counted, f"effects that no call had: {counted}"


def _same(expected: tuple[Row, ...], got: tuple[Row, ...]) -> None:
    """The same calls with the same results, but for those that were interrupted and what reads their results."""
    assert [(row.name, row.args) for row in got] == [(row.name, row.args) for row in expected]
    cut = any(row.status == "interrupted" for row in got)
    for before, now in zip(expected, got, strict=True):
        follows = cut and now.name in ("ToolResultRead", "Read")
        assert now.status in (before.status, "interrupted") or follows, f"{now} was {before.status}"


def _alone(top: Path) -> None:
    """Nothing that the session started is alive."""
    until = time.monotonic() + _PATIENCE
    while there := _inside(str(top)):
        assert time.monotonic() < until, f"still alive: {there}"
        time.sleep(0.02)


def _inside(top: str) -> list[str]:
    """The processes that work in the folder."""
    names = list[str]()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/cwd").startswith(top):
                names.append(f"{pid} {Path(f'/proc/{pid}/cmdline').read_bytes()!r}")
        except OSError:
            continue
    return names


def _rows(state: State) -> tuple[Row, ...]:
    return tuple(
        Row(call.name, _ID.sub("*", call.args).replace('"gone"', '"*"'), result.status)
        for step in _steps(state.entries)
        for call, result in zip(step.assistant.calls, step.results, strict=True)
    )


def _steps(entries: list[Entry]) -> list[Step]:
    return [entry for entry in entries if isinstance(entry, Step)]


def _typed(state: State) -> list[str]:
    return [entry.text for entry in state.entries if isinstance(entry, User) and entry.origin == "typed"]

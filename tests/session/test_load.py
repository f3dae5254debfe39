"""Reading transcripts back: each kind of damage is passed over, told in words and by its code; limits hold."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from agenyx.core.errors import AgenyxError
from agenyx.core.events import Outcome
from agenyx.core.messages import Assistant, Step, Text, ToolCall, ToolResult, User
from agenyx.llm.request import Options
from agenyx.session import load
from agenyx.session.diagnostics import MOST, Problem, listed, tell
from agenyx.session.records import Binding, Body, Finished, Opened, Prefix, Prompt, Record, Response, Result, encode
from agenyx.session.state import NeedModel, Over, State, next_action
from agenyx.session.store import TRANSCRIPT

START: tuple[Body, ...] = (
    Opened("s", "/w", "1"),
    Binding("p", "f", "m"),
    Prefix("h", Options(), ("sys",), ()),
)


def prompt(text: str) -> Prompt:
    return Prompt(User((Text(text),), "typed", text))


def calls(*names: str) -> Response:
    return Response(Assistant(tuple(ToolCall(name, "w", "Read", "{}") for name in names), "calls"))


def result(name: str) -> Result:
    return Result(ToolResult(name, "ok", (Text("ok"),)))


def lines(*bodies: Body) -> list[bytes]:
    return [
        encode(Record(1, f"r{seq}", seq, f"r{seq - 1}" if seq > 1 else "", 0.0, "t", body))
        for seq, body in enumerate((*START, *bodies), 1)
    ]


def loaded(tmp_path: Path, *parts: bytes) -> State:
    directory = tmp_path / "s"
    directory.mkdir(exist_ok=True)
    (directory / TRANSCRIPT).write_bytes(b"".join(parts))
    return load.load(str(directory))


def codes(state: State) -> list[str]:
    assert all(isinstance(problem, Problem) for problem in state.problems)
    return [problem.code for problem in state.problems if isinstance(problem, Problem)]


WHOLE = lines(prompt("one"), calls("a", "b"), result("a"), result("b"), Finished(Outcome("done")))


def test_a_whole_transcript_has_no_problem(tmp_path: Path) -> None:
    assert codes(loaded(tmp_path, *WHOLE)) == []


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ([*WHOLE[:3], b"\x00\xff garbage\n", *WHOLE[3:]], ["malformed_record"]),
        ([*WHOLE[:3], b'{"v":1}\n', b"[]\n", *WHOLE[3:]], ["invalid_event", "invalid_event"]),
        ([*WHOLE[:5], WHOLE[4], *WHOLE[5:]], ["duplicate_event_id"]),
        ([*WHOLE[:5], WHOLE[4].replace(b'"r5"', b'"other"'), *WHOLE[5:]], ["duplicate_sequence"]),
        ([*WHOLE[:5], WHOLE[2].replace(b'"r3"', b'"other"'), *WHOLE[5:]], ["non_monotonic_sequence"]),
        ([*WHOLE[:3], b"\n\n", *WHOLE[3:]], []),
        ([*WHOLE[:6], *WHOLE[7:]], ["missing_parent", "recovered_interrupted_tool"]),
        ([*WHOLE[:5], *WHOLE[7:]], ["missing_parent", "omitted_fully_unresolved_group"]),
        ([*WHOLE[:4], *WHOLE[5:]], ["missing_parent", "orphan_tool_result", "orphan_tool_result"]),
        ([WHOLE[0].replace(b'"session":"s"', b'"session":"other"'), *WHOLE[1:]], ["foreign_session_event"]),
    ],
    ids=lambda one: "-".join(one) if one and isinstance(one[0], str) else "",
)
def test_damage_has_a_code_and_costs_no_more_than_itself(tmp_path: Path, parts: list[bytes], found: list[str]) -> None:
    state = loaded(tmp_path, *parts)
    seq = state.seq + 1
    # A prompt behind the damage: what was left open before it is closed.
    state = loaded(tmp_path, *parts, encode(Record(1, f"r{seq}", seq, state.head, 0.0, "t2", prompt("two"))))
    assert codes(state) == found
    assert [entry.text for entry in state.entries if isinstance(entry, User)] == ["one", "two"]
    assert isinstance(next_action(state), NeedModel)


def test_a_torn_tail(tmp_path: Path) -> None:
    state = loaded(tmp_path, *WHOLE, b'{"v":1,"id":"torn')
    assert codes(state) == ["truncated_tail"]
    assert next_action(state) == Over(Outcome("done"))


def test_a_half_answered_response_is_settled_in_memory_only(tmp_path: Path) -> None:
    bodies = lines(prompt("one"), calls("a", "b"), result("a"), prompt("two"))
    state = loaded(tmp_path, *bodies)
    (step,) = (entry for entry in state.entries if isinstance(entry, Step))
    assert [one.status for one in step.results] == ["ok", "interrupted"]
    assert (tmp_path / "s" / TRANSCRIPT).read_bytes() == b"".join(bodies), "the file stays as it is"


def test_a_wholly_unanswered_response_is_left_out_and_stays_on_disk(tmp_path: Path) -> None:
    bodies = lines(prompt("one"), calls("a", "b"), prompt("two"))
    state = loaded(tmp_path, *bodies)
    assert not any(isinstance(entry, Step) for entry in state.entries)
    assert codes(state) == ["omitted_fully_unresolved_group"]
    assert b'"a"' in (tmp_path / "s" / TRANSCRIPT).read_bytes()


def test_problems_are_listed_for_programs(tmp_path: Path) -> None:
    state = loaded(tmp_path, *WHOLE[:3], b"garbage\n", *WHOLE[3:])
    assert listed(state.problems) == [{"code": "malformed_record", "line": 4, "message": "line 4 is damaged"}]


def test_there_are_so_many_diagnostics_and_no_more(tmp_path: Path) -> None:
    state = loaded(tmp_path, *WHOLE, *[b"x\n"] * (MOST + 50))
    assert len(state.problems) == MOST + 1
    assert codes(state)[-1] == "more_diagnostics"
    problems: list[str] = []
    tell(problems, "malformed_record", "words")
    assert problems == ["words"]


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "RECORD_BYTES", 1000)
    big = encode(Record(1, "big", 9, "r8", 0.0, "t", prompt("x" * 5000)))
    after = encode(Record(1, "r10", 10, "r8", 0.0, "t2", prompt("two")))
    state = loaded(tmp_path, *WHOLE, big, after)
    assert codes(state) == ["record_too_large"]
    assert state.problems == ["line 9 is too large"]
    assert state.seq == 10
    monkeypatch.setattr(load, "TRANSCRIPT_RECORDS", 7)
    with pytest.raises(AgenyxError, match="more than 7 records"):
        loaded(tmp_path, *WHOLE)
    monkeypatch.undo()
    monkeypatch.setattr(load, "TRANSCRIPT_BYTES", 100)
    with pytest.raises(AgenyxError, match="too large"):
        loaded(tmp_path, *WHOLE)


def test_only_a_plain_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    with pytest.raises(AgenyxError, match="cannot be read"):
        load.load(str(tmp_path / "s"))
    (tmp_path / "s" / TRANSCRIPT).mkdir()
    with pytest.raises(AgenyxError, match="no regular file"):
        load.load(str(tmp_path / "s"))


@pytest.mark.parametrize("seed", range(40))
def test_whatever_is_cut_out_or_written_over_the_history_stays_valid(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(
        b"".join(lines(*[b for n in range(8) for b in (prompt(f"p{n}"), calls(f"c{n}"), result(f"c{n}"))]))
    )
    for _ in range(chance.randint(1, 12)):
        at = chance.randrange(len(data))
        match chance.randrange(3):
            case 0:
                data[at] = chance.randrange(256)
            case 1:
                del data[at : at + chance.randrange(200)]
            case _:
                data[at:at] = chance.randbytes(chance.randrange(40))
    state = loaded(tmp_path, bytes(data))
    for entry in state.entries:
        if isinstance(entry, Step):
            assert [call.id for call in entry.assistant.calls] == [one.call for one in entry.results]
    if state.prefix is not None and state.binding is not None:
        assert not isinstance(next_action(state), Over) or state.outcome is not None or state.entries

"""What goes out and comes in again says the same to readers, and is a conversation that every server takes."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agenyx.agent.crew import FOLDER
from agenyx.core.errors import AgenyxError
from agenyx.core.events import Outcome, Usage
from agenyx.core.ids import RandomIds, child_id
from agenyx.core.messages import Assistant, Reasoning, Step, Summary, Text, ToolCall, ToolResult, User
from agenyx.session.records import (
    Accepted,
    Binding,
    Body,
    Compacted,
    Finished,
    Head,
    Opened,
    Prompt,
    Response,
    Result,
    Title,
)
from agenyx.session.session import Session
from agenyx.session.state import State
from agenyx.session.store import FileStore
from session.test_tree import OPERATIONS, Walk
from support.pictures import PNG
from support.transcripts import into, out, seen, state
from support.validity import valid_everywhere


def new(directory: Path, *bodies: Body, agent: str = "") -> Session:
    session = Session(directory.name, FileStore(str(directory)), State(), str(directory), RandomIds(), lambda: 1.7e9)
    session.agent = agent
    session.append(Opened(directory.name, "/w", "1"), Binding("p", "f", "model-1"), turn="")
    session.append(*bodies, turn="t1")
    return session


def ask(text: str, origin: str = "typed") -> Prompt:
    return Prompt(User((Text(text),), origin))  # type: ignore[arg-type]


def answer(text: str) -> Response:
    return Response(Assistant((Text(text),), "end", "model-1"), Usage(5, 0, 0, 2))


def again(first: Path, top: Path) -> tuple[list[bytes], list[bytes], State]:
    """What goes out of a session, what goes out after it came in again, and the state of that one."""
    made = out(first)
    file = top / "t.jsonl"
    file.write_bytes(made.whole())
    taken = into(file, top, "/w")
    return [*made.whole().splitlines()], [*out(taken.directory).whole().splitlines()], state(taken)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(OPERATIONS), st.integers(0, 999)), min_size=8, max_size=60), st.booleans())
def test_any_session_comes_back_as_readers_saw_it(steps: list[tuple[str, int]], settled: bool) -> None:
    with tempfile.TemporaryDirectory() as top:
        walk = Walk(Path(top))
        for what, number in (("prompt", 0), ("calls", 2), *steps):
            walk.do(what, number)
            if settled and what in ("rewind", "branch", "crash"):
                walk.close()
        if settled:
            walk.close()
        walk.session.close()
        try:
            first, second, found = again(Path(walk.session.directory), Path(top))
        except AgenyxError:
            return  # nothing was said
        valid_everywhere([*found.view.entries, User((Text("next"),))])
        calls, results = (
            sum(row.count(b'"type":"%b"' % kind) for row in first) for kind in (b"tool_use", b"tool_result")
        )
        if calls == results:  # else the open ones are settled
            assert seen(second) == seen(first)
        (Path(top) / "again.jsonl").write_bytes(b"\n".join(second))
        third = out(into(Path(top) / "again.jsonl", Path(top), "/w").directory).whole().splitlines()
        assert seen(third) == seen(second)


def test_branches_titles_summaries_and_the_head_come_back(tmp_path: Path) -> None:
    session = new(tmp_path / "s", ask("environment", "notice"), ask("first"), answer("one"), Finished(Outcome("done")))
    fork = session.state.head
    session.append(ask("second"), answer("two"), Finished(Outcome("done")), turn="t2")
    end = session.state.head
    session.append(Head(fork, "rewind"))
    session.append(ask("other"), answer("three"), Finished(Outcome("done")), Title("My work"), turn="t3")
    keep = session.state.view.ids[1]
    session.append(Compacted("In short.", session.state.view.ids[-1], (keep,), "user", before=900), turn="t3")
    session.append(ask("after"), answer("four"), Finished(Outcome("done")), turn="t4")
    session.close()
    first, second, found = again(tmp_path / "s", tmp_path)
    assert seen(second) == seen(first)
    assert found.title == "My work"
    said = [entry.text for entry in found.view.entries if isinstance(entry, User)]
    assert [isinstance(entry, Summary) for entry in found.view.entries] == [True, False, False, False]
    assert said == ["first", "after"]
    assert "second" not in [entry.text for entry in found.entries if isinstance(entry, User)]
    assert b"second" in b"".join(second), "other branches are kept"

    reopened = Session("s", FileStore(str(tmp_path / "s")), State(), str(tmp_path / "s"), RandomIds(), lambda: 1.7e9)
    from agenyx.session.load import load

    reopened.state = load(str(tmp_path / "s"))
    reopened.append(Head(end, "switch"))
    reopened.append(Head(fork, "rewind"))
    reopened.close()
    third, fourth, found = again(tmp_path / "s", tmp_path)
    assert seen(fourth) == seen(third)
    assert [entry.text for entry in found.entries if isinstance(entry, User)] == ["environment", "first"]


def test_images_thoughts_and_how_calls_ended_come_back(tmp_path: Path) -> None:
    session = new(tmp_path / "s")
    picture = session.keep(PNG, "a.png", ("images",))
    assert picture is not None and not isinstance(picture, str)
    calls = tuple(ToolCall(f"call_{n}", "w", "Read", '{"file_path": "é\\u0007"}') for n in range(3))
    statuses = ("ok", "denied", "timed_out")
    ended = [
        Result(ToolResult(call.id, status, (Text(f"{status}\x1b[2J"), *((picture,) if status == "ok" else ()))))
        for call, status in zip(calls, statuses, strict=True)
    ]
    session.append(
        Prompt(User((Text("look"), picture))),
        Response(Assistant((Reasoning("I think."), Text("So."), *calls), "calls", "model-1"), None, "chatcmpl-same"),
        *(Accepted(call.id) for call in calls),
        *reversed(ended),
        Response(Assistant((Text("half"),), "length", "model-1"), None, "chatcmpl-same"),
        Finished(Outcome("done")),
        turn="t1",
    )
    session.close()
    first, second, found = again(tmp_path / "s", tmp_path)
    assert seen(second) == seen(first)
    user, step, last = found.entries
    assert isinstance(user, User) and user.blocks == (
        Text("look"),
        picture.__class__("image", "image/png", picture.sha256, len(PNG), "image"),
    )
    assert isinstance(step, Step) and isinstance(last, Step), "one id for all responses does not make one of them"
    assert [result.status for result in step.results] == list(statuses)
    assert [call.id for call in step.assistant.calls] == [call.id for call in calls]
    assert last.assistant.stop == "length"
    valid_everywhere([*found.entries, User((Text("next"),))])


def test_subagents_come_back_below_their_calls(tmp_path: Path) -> None:
    call = ToolCall("call_0192f3a4b5c6d7e8f9a0b1c2", "w", "Task", '{"prompt":"find it","description":"d"}')
    session = new(tmp_path / "s", ask("go"), Response(Assistant((call,), "calls", "model-1")), Accepted(call.id))
    session.append(Result(ToolResult(call.id, "ok", (Text("found"),))), answer("done"), Finished(Outcome("done")))
    session.close()
    folder = tmp_path / "s" / FOLDER / call.id
    child = new(
        folder, ask("find it"), answer("found"), Finished(Outcome("done")), agent=f"explore/{child_id(call.id)}"
    )
    child.close()
    made = out(tmp_path / "s")
    (agent,) = made.agents
    assert json.loads(agent.facts) == {"agentType": "explore", "toolUseId": call.id}
    assert {json.loads(row)["agentId"] for row in agent.lines} == {child_id(call.id)}

    for name, data in made.files():  # in files of their own
        path = tmp_path / "layout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    taken = into(next((tmp_path / "layout").rglob(f"{made.session}.jsonl")), tmp_path, "/w")
    assert taken.agents == 1
    beside = out(taken.directory)
    assert seen(beside.lines) == seen(made.lines)
    assert [seen(one.lines) for one in beside.agents] == [seen(agent.lines)]
    assert beside.agents[0].facts == agent.facts

    first, second, _ = again(tmp_path / "s", tmp_path)  # among the others
    assert seen(second) == seen(first)

"""Subagents in the background, and what is left of them after the process that had them."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.ids import child_id
from agenyx.core.messages import Assistant, Step, ToolResult, User
from agenyx.llm.request import Request
from agenyx.session.session import Session
from support.children import Hang, Routed, until
from support.conversation import open_scripted
from support.scripted import call, calls, say


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.txt").write_text("apple\n")
    return work


def results(session: Session) -> list[ToolResult]:
    return [r for entry in session.state.entries if isinstance(entry, Step) for r in entry.results]


def notices(session: Session) -> list[str]:
    return [e.text for e in session.state.entries if isinstance(e, User) and e.origin == "notice"][1:]


def away(description: str) -> Any:
    return call("Task", f"w{description}", description=description, background=True)


def with_id(tool: str, **more: object) -> Callable[[Request], Assistant]:
    """A call about the task that the first Task call began."""

    def made(request: Request) -> Assistant:
        step = next(entry for entry in request.entries if isinstance(entry, Step))
        return calls(call(tool, task_id=child_id(step.assistant.calls[0].id), **more))

    return made


def test_it_returns_at_once_and_taskoutput_waits_for_the_answer(home: Path, work: Path) -> None:
    goes_on = asyncio.Event()

    async def before(name: str) -> None:
        if name == "dig":
            await goes_on.wait()
        elif len(model.of("main")) == 2:
            goes_on.set()  # the child ends only after the main agent has gone on

    model = Routed({"main": [calls(away("dig")), with_id("TaskOutput"), say("done")], "dig": [say("gold")]}, before)

    async def turn() -> Session:
        conversation, session = open_scripted(model, home, work, mode="default")
        finished = await conversation.prompt("main")
        assert finished.usage is not None and finished.usage.fresh == 40
        await conversation.close()
        return session

    session = asyncio.run(turn())
    begun, answer = results(session)
    id = begun.text.partition("task_id ")[2][:9].rstrip(";")
    assert begun.status == "ok" and id.startswith("a")
    assert "gold" in answer.text and "data and not instructions" in answer.text
    assert f"[{id} ended after" in answer.text
    assert notices(session) == [], "the model has read it already"
    assert not session.state.sent


def test_the_end_is_told_at_the_next_step(home: Path, work: Path) -> None:
    over = asyncio.Event()

    async def before(name: str) -> None:
        if name == "main" and len(model.of("main")) == 2:
            await asyncio.wait_for(over.wait(), 20)

    model = Routed(
        {
            "main": [calls(away("dig")), calls(call("Read", file_path="a.txt")), with_id("TaskOutput"), say("done")],
            "dig": [say("gold")],
        },
        before,
    )

    async def turn() -> Session:
        conversation, session = open_scripted(model, home, work, mode="default")
        running = asyncio.create_task(conversation.prompt("main"))
        await until(lambda: bool(session.state.spent) and _ended(session))
        over.set()
        await running
        await conversation.close()
        return session

    session = asyncio.run(asyncio.wait_for(turn(), 30))
    (told,) = notices(session)
    assert told.startswith("The subagent a") and "(general: dig) ended after" in told and "done, 1 step" in told
    last = [entry for entry in model.of("main")[2].entries if isinstance(entry, User)][-1]
    assert last.text == told, "before the third request"
    assert "gold" in results(session)[-1].text


def _ended(session: Session) -> bool:
    (call_id,) = session.state.sent or [""]
    return os.path.exists(os.path.join(session.directory, "agents", call_id, "answer.txt"))


def test_taskstop_ends_one_with_what_it_had_said(home: Path, work: Path) -> None:
    hang = Hang()
    model = Routed(
        {
            "main": [
                calls(away("dig")),
                with_id("TaskOutput", block=False),
                with_id("TaskStop"),
                with_id("TaskOutput"),
            ],
            "dig": [calls(call("Read", file_path="a.txt"), text="Half of it."), say("?")],
        },
    )

    async def before(name: str) -> None:
        if name == "dig" and len(model.of("dig")) == 2:
            hang.hanging.set()
            await asyncio.Event().wait()
        if name == "main" and len(model.of("main")) > 1:
            await asyncio.wait_for(hang.hanging.wait(), 20)

    model.before = before

    async def turn() -> Session:
        conversation, session = open_scripted(model, home, work, mode="default")
        await conversation.prompt("main")
        assert model.running == 0
        await conversation.close()
        return session

    session = asyncio.run(turn())
    _, running, stopped, read, *_ = results(session)
    assert "(no new output)" in running.text and "is running" in running.text and "it calls Read" in running.text
    assert stopped.status == "ok" and "stopped, 1 step" in stopped.text and "subagent general: dig" in stopped.text
    assert "Half of it." in read.text and "did not finish: it was stopped." in read.text


def test_it_ends_with_the_session_and_a_resumed_one_is_told(home: Path, work: Path) -> None:
    hang = Hang("dig")
    model = Routed({"main": [calls(away("dig")), say("later")], "dig": []}, hang)
    again = Routed({"main": [*model.scripts["main"], with_id("TaskOutput"), say("I see")]})

    async def first() -> None:
        conversation, session = open_scripted(model, home, work, mode="default")
        await conversation.prompt("main")
        await asyncio.wait_for(hang.hanging.wait(), 20)
        await conversation.close()
        assert model.running == 0
        assert list(session.state.sent), "nobody was told yet"

    async def second() -> Session:
        conversation, session = open_scripted(again, home, work, mode="default")
        await conversation.prompt("and now?")
        await conversation.prompt("again")
        await conversation.close()
        return session

    asyncio.run(first())
    session = asyncio.run(second())
    (told,) = notices(session)
    assert "ended when Agenyx stopped" in told
    assert "did not finish" in results(session)[1].text
    assert not session.state.sent


DIES = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from support.children import Routed
from support.conversation import open_scripted
from support.scripted import call, calls, say
async def before(name):
    if name == "dig" and len(model.of("dig")) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
model = Routed({{
    "main": [calls(call("Task", description="dig", background={background})), say("done")],
    "dig": [calls(call("Read", file_path="a.txt")), say("gold")],
}}, before)
async def main():
    conversation, session = open_scripted(model, Path({home!r}), Path({work!r}), mode="default")
    await conversation.prompt("main")
    await asyncio.sleep(30)
asyncio.run(main())
"""


def die(home: Path, work: Path, *, background: bool) -> None:
    tests = str(Path(__file__).parent.parent)
    code = DIES.format(tests=tests, home=str(home), work=str(work), background=background)
    ended = subprocess.run([sys.executable, "-c", code], timeout=60, check=False)
    assert ended.returncode == -signal.SIGKILL


def reopened(model: Any, home: Path, work: Path, go: Callable[[Any], Awaitable[Any]]) -> Session:
    async def turn() -> Session:
        conversation, session = open_scripted(model, home, work, mode="default")
        await go(conversation)
        await conversation.close()
        return session

    return asyncio.run(turn())


def test_after_kill_9_the_call_runs_again_and_the_child_goes_on_where_it_was(home: Path, work: Path) -> None:
    die(home, work, background=False)
    model = Routed({"main": [calls(call("Task", description="dig")), say("done")], "dig": [say("?"), say("gold")]})
    session = reopened(model, home, work, lambda talk: talk.go_on())
    (result,) = results(session)
    assert result.status == "ok" and "gold" in result.text and "2 steps" in result.text
    (request,) = model.of("dig")
    step = next(entry for entry in request.entries if isinstance(entry, Step))
    assert "apple" in step.results[0].text, "what it had read before is there"
    assert session.state.outcome is not None and session.state.outcome.kind == "done"


def test_after_kill_9_one_in_the_background_is_told_as_ended(home: Path, work: Path) -> None:
    die(home, work, background=True)
    model = Routed({"main": [calls(away("dig")), say("done"), with_id("TaskOutput"), say("I see")]})
    session = reopened(model, home, work, lambda talk: talk.prompt("and now?"))
    (told,) = notices(session)
    assert "(general: dig) ended when Agenyx stopped" in told
    assert "it did not come to an end" in results(session)[-1].text

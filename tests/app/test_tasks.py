"""Tasks from start to end: on record with the session, through crash, fork, rewind and summary, and before people."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agenyx.agent.remains import compose, plan
from agenyx.app.commands.spec import Reply
from agenyx.core.events import CallFinished
from agenyx.core.messages import Step, ToolResult
from agenyx.session import load
from agenyx.session.fork import fork
from agenyx.session.session import Session
from agenyx.session.store import FileStore
from agenyx.ui.activity import line
from support.conversation import open_scripted
from support.mock import agenyx, command_env
from support.raw_server import RawServer, content, finish, stream
from support.raw_server import call as wire_call
from support.scripted import call, calls, say

from .commands.places import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def results(session: Session) -> list[ToolResult]:
    return [r for entry in session.state.entries if isinstance(entry, Step) for r in entry.results]


TWO = calls(
    call("TaskCreate", "w1", subject="Parser", description="By hand."),
    call("TaskCreate", "w2", subject="Tests"),
    call("TaskUpdate", "w3", task_id="t2", add_blocked_by=["t1"]),
)
ROWS = "t1 [pending] Parser\nt2 [pending] Tests (needs t1)"


def test_several_calls_of_one_response_and_the_next_process_knows_them(place: Place) -> None:
    place.script = [TWO, say("planned"), calls(call("TaskUpdate", task_id="t1", status="completed")), say("done")]

    async def first(conversation: Any, session: Session) -> None:
        await conversation.prompt("plan it")
        assert [r.text for r in results(session)] == [
            "t1 [pending] Parser",
            "t2 [pending] Tests",
            "t2 [pending] Tests (needs t1)",
        ]

    async def second(conversation: Any, session: Session) -> None:
        await conversation.prompt("go on")
        assert results(session)[-1].text == "t1 [completed] Parser; now free: t2"
        reply = await place.type(conversation, "/tasks")
        assert isinstance(reply, Reply) and reply.text == "t1 [completed] Parser\nt2 [pending] Tests"
        assert [(task["id"], task["status"]) for task in reply.data["tasks"]] == [
            ("t1", "completed"),
            ("t2", "pending"),
        ]

    place.run(first)
    place.run(second)
    told = [line(body) for body in place.bodies if isinstance(body, CallFinished)]
    assert told[2] == "  TaskUpdate: t2 [pending] Tests (needs t1)\n"


def test_nothing_is_a_task_at_first(place: Place) -> None:
    reply = place.reply("/task")
    assert (reply.text, reply.data) == ("There are no tasks.", {"tasks": [], "background": []})


def test_what_runs_in_the_background_stands_in_the_same_list(place: Place) -> None:
    place.mode = "bypassPermissions"
    place.script = [
        calls(call("TaskCreate", subject="Serve"), call("Bash", command="sleep 600", run_in_background=True)),
        calls(call("TaskList"), call("TaskGet", "g", task_id="b1")),
        say("it runs"),
    ]

    async def work(conversation: Any, session: Session) -> None:
        await conversation.prompt("go")
        listed, got = results(session)[-2:]
        assert listed.text.startswith("t1 [pending] Serve\nb1 is running, for ")
        assert listed.text.endswith(": sleep 600")
        assert got.text.startswith("b1 is running") and got.text.endswith("TaskOutput gives what it said.")
        reply = await place.type(conversation, "/tasks")
        assert isinstance(reply, Reply) and "b1 is running" in reply.text
        (beside,) = reply.data["background"]
        assert (beside["id"], beside["running"], beside["what"]) == ("b1", True, "sleep 600")

    place.run(work)


def test_a_fork_has_the_tasks_and_goes_its_own_way(place: Place) -> None:
    place.script = [TWO, say("planned")]

    async def work(conversation: Any, session: Session) -> str:
        await conversation.prompt("plan it")
        return session.directory

    source = place.run(work)
    target = os.path.join(os.path.dirname(source), "copy")
    fork(source, target)
    assert load.load(target).tasks == load.load(source).tasks and len(load.load(target).tasks) == 2


def test_a_rewind_takes_the_tasks_back_as_well(place: Place) -> None:
    place.script = [TWO, say("planned"), calls(call("TaskCreate", subject="More")), say("more")]

    async def work(conversation: Any, session: Session) -> None:
        await conversation.prompt("plan it")
        end = session.state.head
        await conversation.prompt("one more")
        assert list(session.state.tasks) == ["t1", "t2", "t3"]
        conversation.rewind(end)
        assert list(session.state.tasks) == ["t1", "t2"]

    place.run(work)


def test_a_summary_keeps_what_is_open(place: Place) -> None:
    place.script = [
        TWO,
        calls(call("TaskUpdate", task_id="t1", status="completed")),
        say("a"),
        *(say(f"answer {n}") for n in range(9)),
    ]

    async def work(conversation: Any, session: Session) -> None:
        for n in range(10):
            await conversation.prompt(f"prompt {n} " + "x" * 4000)
        chosen = plan(session.state.view, 2000)
        assert chosen is not None
        assert "## The tasks that are open\n- t2 [pending] Tests\n" in compose(session.state, chosen, "so far")

    place.run(work)


class Replaced(BaseException):
    """Stands for the end of the process."""


class Mortal(FileStore):
    def __init__(self, directory: str, life: int) -> None:
        super().__init__(directory)
        self.life = life

    def append(self, lines: Sequence[bytes], *, sync: bool) -> None:
        for one in lines:
            super().append([one], sync=sync)
            self.life -= 1
            if self.life == 0:
                raise Replaced


@pytest.mark.parametrize("life", range(6, 16))
def test_the_process_may_end_after_any_record_and_no_task_is_made_twice(place: Place, life: int) -> None:
    """A change is on record with its result, so it has happened wholly or not at all."""
    script = [TWO, say("planned")]

    async def one(life: int) -> bool:
        conversation, session = open_scripted(
            script, place.home, place.work, lambda directory: Mortal(directory, life), mode="default"
        )
        try:
            await (conversation.go_on() if session.state.turn else conversation.prompt("plan it"))
        except (Replaced, BaseExceptionGroup):
            return False
        finally:
            await conversation.close()
        made = [task.subject for task in session.state.tasks.values()]
        told = [r for r in results(session) if r.status == "ok"]
        assert len(results(session)) == 3
        assert made == [name for name in ("Parser", "Tests") if any(name in r.text for r in told)]
        return True

    if not asyncio.run(one(life)):
        assert asyncio.run(one(10_000))


def test_print_mode_from_start_to_end(tmp_path: Path) -> None:
    made = [("TaskCreate", {"subject": "Parser"}), ("TaskUpdate", {"task_id": "t1", "status": "completed"})]
    parts = [wire_call(name, json.dumps(args), f"c{n}", n) for n, (name, args) in enumerate(made)]
    (tmp_path / "work").mkdir()
    with RawServer([[stream(*parts, finish("tool_calls"))], [stream(content("ok"), finish())]]) as server:
        env = command_env(tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{server.url}/v1", AGENYX_MODEL="m")
        done = agenyx("-p", "--verbose", "go", cwd=tmp_path / "work", env=env)
        assert (done.returncode, done.stdout) == (0, "ok\n"), done.stderr
        assert "* TaskCreate Parser\n  TaskCreate: t1 [pending] Parser\n" in done.stderr
        assert "  TaskUpdate: t1 [completed] Parser\n" in done.stderr
        listed = agenyx("-p", "--continue", "/tasks", cwd=tmp_path / "work", env=env)
        assert listed.stdout == "t1 [completed] Parser\n" and len(server.requests) == 2

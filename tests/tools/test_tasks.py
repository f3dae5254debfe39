"""The work graph: what its four tools take, refuse and say, and what of it stands on record."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agenyx.core import json
from agenyx.core.tasks import WorkTask
from agenyx.policy.decide import Policy, decide
from agenyx.proc.spawn import Processes
from agenyx.shell.jobs import Jobs
from agenyx.shell.system import Shell
from agenyx.tools import workgraph
from agenyx.tools.registry import parse_args
from agenyx.tools.spec import Context, Outcome, describe
from agenyx.tools.tasks import TaskCreate, TaskGet, TaskList, TaskUpdate
from agenyx.workspace.root import Root

TOOLS: tuple[Any, ...] = (TaskCreate(), TaskGet(), TaskList(), TaskUpdate())


class Graph:
    """Runs calls against a graph, and takes over what they change, as the session does."""

    def __init__(self, folder: Path) -> None:
        self.tasks: dict[str, WorkTask] = {}
        self._folder = folder

    def __call__(self, tool: str, **args: object) -> Outcome:
        made = next(one for one in TOOLS if one.name == tool)
        parsed = parse_args(made, json.encode(args).decode())
        processes = Processes()
        root, shell = Root(str(self._folder)), Shell(processes, str(self._folder), str(self._folder), {})
        context = Context(root, {}, shell, processes, lambda _: None, tasks=self.tasks)
        context.jobs = Jobs(processes, str(self._folder / "jobs"))
        outcome: Outcome = asyncio.run(made.run(parsed, context))
        self.tasks.update({task.id: task for task in outcome.tasks or ()})
        return outcome

    def said(self, tool: str, **args: object) -> str:
        outcome = self(tool, **args)
        assert outcome.status == "ok", outcome
        return outcome.content[0].text  # type: ignore[union-attr]

    def refused(self, tool: str, **args: object) -> str:
        before = dict(self.tasks)
        outcome = self(tool, **args)
        assert outcome.status == "error" and self.tasks == before
        return outcome.content[0].text  # type: ignore[union-attr]


@pytest.fixture
def graph(tmp_path: Path) -> Graph:
    return Graph(tmp_path)


def test_all_four_cost_few_bytes_of_a_request() -> None:
    specs = [describe(tool) for tool in TOOLS]
    wire = [
        {"type": "function", "function": {"name": one.name, "description": one.description, "parameters": one.schema}}
        for one in specs
    ]
    assert len(json.encode(wire)) <= 1_600


def test_nobody_is_asked_about_them() -> None:
    async def effects(tool: Any, args: object) -> Any:
        return await tool.project(args, None)

    for tool in TOOLS:
        seen = asyncio.run(effects(tool, None))
        for mode in ("default", "plan", "dontAsk"):
            assert decide(tool.name, seen, Policy(mode)).decision == "allow"


def test_from_making_to_done(graph: Graph) -> None:
    assert graph.said("TaskList") == "There are no tasks."
    assert graph.said("TaskCreate", subject="Parser", description="By hand.") == "t1 [pending] Parser"
    assert graph.said("TaskCreate", subject="Tests", active_form="Testing", metadata={"n": 1}) == "t2 [pending] Tests"
    blocked = graph.said("TaskUpdate", task_id="t2", add_blocked_by=["t1"], owner="ann")
    assert blocked == "t2 [pending, ann] Tests (needs t1)"
    assert graph.said("TaskUpdate", task_id="t1", status="in_progress") == "t1 [in progress] Parser"
    assert graph.said("TaskList") == "t1 [in progress] Parser\nt2 [pending, ann] Tests (needs t1)"
    assert graph.said("TaskGet", task_id="t1") == "t1 [in progress] Parser\nBlocks: t2\nBy hand."
    got = graph.said("TaskGet", task_id="t2")
    assert got.splitlines()[1:] == ["While it is done: Testing", "Blocked by: t1", 'Metadata: {"n":1}']
    assert graph.said("TaskUpdate", task_id="t1", status="completed") == "t1 [completed] Parser; now free: t2"
    assert graph.said("TaskList") == "t1 [completed] Parser\nt2 [pending, ann] Tests"
    assert graph.said("TaskUpdate", task_id="t1", status="completed").endswith("nothing changed")


def test_the_spelling_of_other_agents(graph: Graph) -> None:
    graph.said("TaskCreate", subject="a", activeForm="doing a")
    graph.said("TaskCreate", subject="b")
    graph.said("TaskUpdate", taskId="t2", addBlockedBy=["t1"])
    assert graph.tasks["t1"].active_form == "doing a" and graph.tasks["t2"].blocked_by == ("t1",)


def test_null_deletes_a_member_of_the_metadata(graph: Graph) -> None:
    graph.said("TaskCreate", subject="a", metadata={"keep": [1], "drop": 2, "never": None})
    graph.said("TaskUpdate", task_id="t1", metadata={"drop": None, "new": {"x": 1}})
    assert graph.tasks["t1"].metadata == {"keep": [1], "new": {"x": 1}}


def test_no_circles(graph: Graph) -> None:
    for name in "abc":
        graph.said("TaskCreate", subject=name)
    graph.said("TaskUpdate", task_id="t2", add_blocked_by=["t1"])
    graph.said("TaskUpdate", task_id="t3", add_blocked_by=["t2"])
    assert graph.refused("TaskUpdate", task_id="t1", add_blocked_by=["t3"]) == (
        "That would be a circle: t1 needs t3 needs t2 needs t1."
    )
    assert "t1 needs t1" in graph.refused("TaskUpdate", task_id="t1", add_blocked_by=["t1"])
    swapped = graph.said("TaskUpdate", task_id="t3", remove_blocked_by=["t2"], add_blocked_by=["t1"])
    assert swapped == "t3 [pending] c (needs t1)"


def test_what_others_need_is_not_deleted_and_no_id_comes_again(graph: Graph) -> None:
    graph.said("TaskCreate", subject="a")
    graph.said("TaskCreate", subject="b")
    graph.said("TaskUpdate", task_id="t2", add_blocked_by=["t1"])
    assert "t1 blocks t2, so it cannot be deleted" in graph.refused("TaskUpdate", task_id="t1", status="deleted")
    assert graph.said("TaskUpdate", task_id="t2", status="deleted") == "t2 deleted: b"
    assert graph.said("TaskUpdate", task_id="t1", status="deleted") == "t1 deleted: a"
    assert graph.said("TaskList") == "There are no tasks."
    assert graph.said("TaskCreate", subject="c") == "t3 [pending] c"
    for id in ("t1", "t9", "b1", ""):
        assert "There is no task" in graph.refused("TaskUpdate", task_id=id, status="completed")
        assert "There is no task" in graph.refused("TaskGet", task_id=id)
    assert "There is no task 't2'" in graph.refused("TaskUpdate", task_id="t3", add_blocked_by=["t2"])
    assert "not blocked by 't1'" in graph.refused("TaskUpdate", task_id="t3", remove_blocked_by=["t1"])


def test_limits(graph: Graph) -> None:
    assert "subject is empty" in graph.refused("TaskCreate", subject="  ")
    graph.said("TaskCreate", subject="a", metadata={str(n): n for n in range(workgraph.MOST_PAIRS)})
    assert "256 members" in graph.refused("TaskUpdate", task_id="t1", metadata={"more": 1})
    assert "too large" in graph.refused("TaskUpdate", task_id="t1", metadata={"1": "x" * workgraph.VALUE_BYTES})
    assert "too large" in graph.refused("TaskUpdate", task_id="t1", metadata={"k" * 257: 1, "1": None})
    assert "subject is empty" in graph.refused("TaskUpdate", task_id="t1", subject="")
    graph.tasks.update({f"t{n}": WorkTask(f"t{n}", "x") for n in range(2, workgraph.MOST_TASKS + 1)})
    assert "4096 tasks already" in graph.refused("TaskCreate", subject="one more")
    graph.said("TaskUpdate", task_id="t7", status="deleted")
    assert graph.said("TaskCreate", subject="one more") == "t4097 [pending] one more"


def test_a_long_chain_is_no_trouble(graph: Graph) -> None:
    graph.tasks = {f"t{n}": WorkTask(f"t{n}", "x", blocked_by=(f"t{n - 1}",) if n > 1 else ()) for n in range(1, 4001)}
    assert "circle" in graph.refused("TaskUpdate", task_id="t1", add_blocked_by=["t4000"])


@pytest.mark.parametrize(
    "args", [{"task_id": "t1", "status": "done"}, {"status": "completed"}, {"task_id": "t1", "subject": None}]
)
def test_what_is_no_change_is_malformed(args: dict[str, object]) -> None:
    with pytest.raises(json.JsonError):
        parse_args(TaskUpdate(), json.encode(args).decode())

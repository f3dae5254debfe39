"""TodoWrite takes the whole list and answers with its counts; it changes nothing and asks nobody."""

from __future__ import annotations

from typing import Any

import pytest

from agenyx.policy.decide import Policy, decide
from agenyx.tools.todowrite import TodoWrite

TOOL = TodoWrite()


def todo(content: str, status: str = "pending", **more: object) -> dict[str, object]:
    return {"content": content, "status": status, **more}


def test_the_counts(work: Any) -> None:
    todos = [todo("a", "completed"), todo("b", "in_progress"), todo("c"), todo("d")]
    assert work.ok(TOOL, todos=todos) == "The list has 4 items: 1 completed, 1 in progress, 2 pending."
    assert work.ok(TOOL, todos=[]) == "The list is empty now."
    assert "1 item: 1 pending" in work.ok(TOOL, todos=[todo("a", activeForm="Doing a", id=1)])


def test_it_is_allowed_unasked_also_in_plan_mode_and_runs_alone(work: Any) -> None:
    effects = work.project(TOOL, todos=[todo("a")])
    assert not effects.acts and not effects.parallel
    for mode in ("default", "plan", "dontAsk"):
        assert decide("TodoWrite", effects, Policy(mode)).decision == "allow"


@pytest.mark.parametrize(
    "todos", [[todo("")], [todo("a", "done")], [{"content": "a"}], [todo("a")] * 1025, "a", [todo("a"), None]]
)
def test_wrong_lists_are_refused(work: Any, todos: object) -> None:
    with pytest.raises(ValueError):
        work.call(TOOL, todos=todos)


def test_many_are_taken(work: Any) -> None:
    assert "1024 items" in work.ok(TOOL, todos=[todo("a")] * 1024)

"""Answers of a type: told, read, repaired at most twice, and checked."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

import msgspec
import pytest

from agenyx import RunError, UsageError, tool
from agenyx.core.messages import User
from support.programs import agent
from support.scripted import Scripted, call, calls, say


class Verdict(msgspec.Struct):
    ok: bool
    why: str = ""


@dataclass
class Point:
    x: int
    y: int


class Row(TypedDict):
    name: str
    kind: Literal["a", "b"]


@pytest.mark.parametrize(
    ("output", "answer", "value"),
    [
        (Verdict, '{"ok": true}', Verdict(True)),
        (Point, '```json\n{"x": 1, "y": 2}\n```', Point(1, 2)),
        (Row, '{"name": "n", "kind": "b"}', {"name": "n", "kind": "b"}),
        (list[int], "[1, 2]", [1, 2]),
        (dict[str, Point], '{"p": {"x": 0, "y": 0}}', {"p": Point(0, 0)}),
        (int, "7", 7),
        ({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}, '{"n": 1}', {"n": 1}),
    ],
)
def test_the_answer_becomes_a_value(tmp_path: Path, output: Any, answer: str, value: Any) -> None:
    script = Scripted([say(answer)])
    result = agent(tmp_path, script).run_sync("go", output=output)
    assert (result.output, result.ok) == (value, True)
    prompt = [entry for entry in script.requests[0].entries if isinstance(entry, User) and entry.origin == "typed"]
    assert "JSON Schema" in prompt[0].text and prompt[0].said == "go"


def test_an_answer_that_does_not_fit_is_told_and_repaired(tmp_path: Path) -> None:
    script = Scripted([say("It is fine."), say('{"ok": "yes"}'), say('{"ok": true}')])
    result = agent(tmp_path, script).run_sync("go", output=Verdict)
    assert (result.output, result.steps, len(script.requests)) == (Verdict(True), 3, 3)
    assert result.usage is not None and result.usage.out == 15


def test_two_repairs_are_all(tmp_path: Path) -> None:
    script = Scripted([say("no")] * 9)
    result = agent(tmp_path, script).run_sync("go", output=Verdict)
    assert (result.kind, len(script.requests)) == ("failed", 3)
    assert "does not fit" in result.message
    with pytest.raises(RunError):
        _ = result.output


def test_a_run_without_a_type_has_no_output(tmp_path: Path) -> None:
    with pytest.raises(RunError):
        _ = agent(tmp_path, [say("hi")]).run_sync("go").output


def test_a_type_that_no_answer_can_be_is_refused_before_anything_happens(tmp_path: Path) -> None:
    class Own:
        pass

    script = Scripted([say("x")])
    with pytest.raises(UsageError):
        agent(tmp_path, script).run_sync("go", output=Own)
    assert script.requests == []


def test_a_turn_that_waited_keeps_its_type(tmp_path: Path) -> None:
    @tool
    def ask() -> str:
        """Asks."""
        return "42"

    async def main() -> None:
        script = [calls(call("ask")), say('{"x": 4, "y": 2}')]
        async with agent(tmp_path, script, tools=[ask]).session() as session:
            first = await session.prompt("go", output=Point)
            assert first.kind == "waiting"
            await session.answer(first.waiting[0], True)
            assert (await session.resume(output=Point)).output == Point(4, 2)

    asyncio.run(main())


def test_a_model_of_pydantic_is_taken_by_its_shape(tmp_path: Path) -> None:
    class Model:
        """Stands for a pydantic model: what it is known by are these two."""

        def __init__(self, n: int) -> None:
            self.n = n

        @classmethod
        def model_json_schema(cls) -> dict[str, Any]:
            return {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

        @classmethod
        def model_validate(cls, value: Any) -> Model:
            if value["n"] > 9:
                raise ValueError("n is too large")
            return cls(value["n"])

    result = agent(tmp_path, [say('{"n": 10}'), say('{"n": 9}')]).run_sync("go", output=Model)
    assert (result.output.n, result.steps) == (9, 2)

"""The round-trip that doctor makes: what it sends, and what it makes of each kind of answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from agenyx.app.roundtrip import TOOL, WORD, Trip, round_trip
from agenyx.core.events import Done, Failure, ModelEvent, TextDelta
from agenyx.core.messages import Assistant, Block, Step, Text, ToolCall
from agenyx.llm.request import Options, Request

CALL = ToolCall("", "wire-1", TOOL.name, f'{{"word": "{WORD}"}}')
BROKEN = Failure("auth", "no key", "Set one.")


class Answers:
    """Gives the scripted responses, and remembers what was asked."""

    binding = "here"

    def __init__(self, script: Sequence[Sequence[ModelEvent]]) -> None:
        self._script, self.asked = list(script), list[Request]()

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        self.asked.append(request)
        for event in self._script.pop(0):
            yield event

    async def close(self) -> None: ...


def says(*blocks: Block, pieces: int = 2) -> list[ModelEvent]:
    stop = "calls" if any(isinstance(block, ToolCall) for block in blocks) else "end"
    return [*(TextDelta(0, "x") for _ in range(pieces)), Done(Assistant(blocks, stop))]


def trip(*script: Sequence[ModelEvent]) -> tuple[Trip, Answers]:
    provider, ticks = Answers(script), iter(range(100))
    return asyncio.run(round_trip(provider, "m", Options(effort="low"), lambda: float(next(ticks)))), provider


def test_a_good_model() -> None:
    found, provider = trip(says(CALL, pieces=3), says(Text("a plant")))
    assert (found.pieces, found.called, found.parsed, found.answered, found.failure) == (3, True, True, True, None)
    assert 0 < found.first < found.total
    first, second = provider.asked
    assert first.tools == second.tools == (TOOL,) and first.options == Options(effort="low")
    assert second.entries[: len(first.entries)] == first.entries, "the second request goes on from the first"
    step = second.entries[-1]
    assert isinstance(step, Step) and step.assistant.binding == "here" and WORD in step.results[0].text


@pytest.mark.parametrize(
    ("script", "called", "parsed", "answered", "failed"),
    [
        ([says(Text("no tools here"))], False, False, False, False),
        ([says(ToolCall("", "w", TOOL.name, "{")), says(Text("x"))], True, False, True, False),
        ([says(ToolCall("", "w", TOOL.name, '{"word": 7}')), says(Text("x"))], True, False, True, False),
        ([says(ToolCall("", "w", "Other", CALL.args)), says(Text("x"))], True, False, True, False),
        ([says(CALL, CALL), says(Text("x"))], True, True, True, False),
        ([says(CALL), says(Text(" "))], True, True, False, False),
        ([says(CALL), [BROKEN]], True, True, False, True),
        ([[BROKEN]], False, False, False, True),
        ([[]], False, False, False, True),
    ],
)
def test_other_models(script: list[list[ModelEvent]], called: bool, parsed: bool, answered: bool, failed: bool) -> None:
    found, _ = trip(*script)
    assert (found.called, found.parsed, found.answered) == (called, parsed, answered)
    assert (found.failure is not None) == failed

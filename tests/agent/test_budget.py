"""Budgets: when they are reached, and what an unknown price or a silent server means."""

from __future__ import annotations

import pytest

from agenyx.agent.budget import Limits, Meter, Share, budget
from agenyx.agent.engine import Engine
from agenyx.agent.ports import Emitter, Ports
from agenyx.core.events import Usage
from agenyx.core.limits import MAX_PARALLEL
from agenyx.core.messages import ToolCall
from agenyx.tools.spec import Context, Outcome
from support.parts import Parts, Peek, SayArgs
from support.scripted import Scripted, call, calls, say

FREE = Limits()
TEN = Limits(tokens=10)
DOLLAR = Limits(usd=1.0)
BOTH = Limits(usd=1.0, tokens=10)


@pytest.mark.parametrize(
    ("tokens", "cost", "silent", "limits", "words"),
    [
        (10**9, 10.0**6, False, FREE, ""),
        (10**9, None, True, FREE, ""),
        (9, None, False, TEN, ""),
        (10, None, False, TEN, "10 of 10 tokens"),
        (11, 0.0, False, TEN, "11 of 10 tokens"),
        (0, 0.999, False, DOLLAR, ""),
        (0, 1.0, False, DOLLAR, "$1.0000 of $1.0000"),
        (0, None, False, DOLLAR, "price of a response is not known"),
        (0, 0.0, True, TEN, "does not say"),
        (0, 0.0, True, DOLLAR, "does not say"),
        (9, 2.0, False, BOTH, "$2.0000 of $1.0000"),
        (10, 0.0, False, BOTH, "tokens"),
        (9, 0.5, False, BOTH, ""),
    ],
)
def test_when_a_run_is_over(tokens: int, cost: float | None, silent: bool, limits: Limits, words: str) -> None:
    outcome = budget(tokens, cost, silent, limits)
    assert (outcome is not None) == bool(words)
    if outcome is not None:
        assert outcome.kind == "budget" and words in outcome.message and "--continue" in outcome.message


def cents(usage: Usage) -> float | None:
    return None if usage.cache_read else (usage.fresh + usage.out) / 100


def test_a_run_adds_up_and_a_turn_counts_anew() -> None:
    meter = Meter(Limits(usd=1.0, tokens=1000), cents)
    meter.begin()
    assert (meter.turn_cost, meter.cost, meter.over()) == (None, 0.0, None)
    meter.take(Usage(fresh=30, out=10, reasoning=10))
    meter.take(Usage(fresh=10))
    assert meter.turn_cost == pytest.approx(0.5) and meter.over() is None
    meter.begin()
    meter.take(Usage(fresh=50))
    assert meter.turn_cost == pytest.approx(0.5) and meter.cost == pytest.approx(1.0)
    assert meter.over() is not None


def test_an_unknown_price_is_unknown_and_not_nothing() -> None:
    meter = Meter(Limits(usd=1.0), cents)
    meter.begin()
    meter.take(Usage(fresh=1))
    meter.take(Usage(cache_read=1))
    assert (meter.turn_cost, meter.cost) == (None, None)
    assert meter.over() is not None
    meter.begin()
    meter.take(Usage(fresh=1))
    assert meter.turn_cost == pytest.approx(0.01), "the next turn is known again"
    assert meter.cost is None
    bare = Meter()
    bare.take(Usage(fresh=1))
    assert (bare.turn_cost, bare.over()) == (None, None)


def test_a_silent_server_cannot_be_kept_to_a_budget() -> None:
    meter = Meter(Limits(tokens=1000), cents)
    meter.take(None)
    assert meter.over() is not None
    free = Meter(Limits(), cents)
    free.take(None)
    assert (free.over(), free.turn_cost) == (None, None)


class Dear(Peek):
    """Looks, and costs what a subagent would."""

    name = "Dear"

    def __init__(self, meter: Meter) -> None:
        super().__init__()
        self.meter = meter

    async def run(self, args: SayArgs, ctx: Context) -> Outcome:
        self.meter.take(Usage(fresh=10))
        return await super().run(args, ctx)


def metered(meter: Meter, *made: ToolCall) -> tuple[Parts, Dear]:
    tool = Dear(meter)
    provider = Scripted([calls(*made), say("done")])
    parts = Parts(provider, [tool])
    emit = Emitter("s", parts.events.append)
    ports = Ports(parts.approver, parts.events.append)
    parts.engine = Engine(parts.session, provider, parts.boundary, ports, emit, 100, meter)
    return parts, tool


def test_a_budget_reached_between_the_groups_of_a_parallel_batch_starts_nothing_more() -> None:
    meter = Meter(Limits(tokens=100))
    parts, tool = metered(meter, *(call("Dear", text=f"{n}") for n in range(25)))
    finished = parts.run()
    assert finished.outcome.kind == "budget" and "token budget" in finished.outcome.message
    assert len(tool.ran) == MAX_PARALLEL, "the group that ran when it was reached runs to its end"
    results = parts.results()
    assert len(results) == 25 and [status for status, _ in results[MAX_PARALLEL:]] == ["cancelled"] * 15
    assert "budget was reached" in results[-1][1]


def test_a_response_that_uses_up_the_budget_has_none_of_its_calls_started() -> None:
    meter = Meter(Limits(tokens=10))
    parts, tool = metered(meter, call("Dear", text="a"), call("Dear", text="b"))
    assert parts.run().outcome.kind == "budget"
    assert tool.ran == [] and [status for status, _ in parts.results()] == ["cancelled"] * 2


def test_what_a_subagent_spends_counts_in_the_whole_at_its_own_price() -> None:
    whole = Meter(Limits(usd=1.0), lambda usage: 0.5)
    whole.begin()
    part = Share(whole, lambda usage: 0.2)
    part.begin()
    whole.take(Usage(10, 0, 0, 5))
    part.take(Usage(20, 0, 0, 5))
    assert part.turn_cost == 0.2 and whole.turn_cost == 0.7
    assert part.over() is None
    part.take(Usage(1))
    part.take(Usage(1))
    over = part.over()
    assert over is not None and over == whole.over() and "$1.1000 of $1.0000" in over.message
    part.take(None)
    assert whole.cost is None and part.turn_cost is None, "a server that does not say is known nowhere"

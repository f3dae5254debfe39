"""Requests of ours: answered, withdrawn, too late, or never to be answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count

import pytest

from agenyx.ui.wire.asks import Asks, HostError
from agenyx.ui.wire.inbound import Answered
from agenyx.ui.wire.outbound import ControlCancel, ControlRequest, Outbound


def play(scene: Callable[[Asks, list[Outbound]], Awaitable[None]]) -> list[Outbound]:
    written: list[Outbound] = []
    numbers = count(1)

    async def run() -> None:
        await scene(Asks(written.append, lambda: f"r{next(numbers)}"), written)

    asyncio.run(run())
    return written


def test_an_answer_reaches_who_asked_once() -> None:
    async def scene(asks: Asks, written: list[Outbound]) -> None:
        first, second = (asyncio.ensure_future(asks.ask({"n": number})) for number in (1, 2))
        await asyncio.sleep(0)
        assert asks.answered(Answered("r2", {"two": 2}))
        assert not asks.answered(Answered("r2", {"two": 3}))
        assert asks.answered(Answered("r1", None, "no"))
        assert await second == {"two": 2}
        with pytest.raises(HostError, match="no"):
            await first

    assert play(scene) == [ControlRequest("r1", {"n": 1}), ControlRequest("r2", {"n": 2})]


def test_who_no_longer_waits_withdraws_the_request() -> None:
    async def scene(asks: Asks, written: list[Outbound]) -> None:
        task = asyncio.ensure_future(asks.ask({}, person=True))
        await asyncio.sleep(0)
        assert asks.waiting
        task.cancel()
        await asyncio.wait((task,))
        assert not asks.waiting
        assert not asks.answered(Answered("r1", {}))

    assert play(scene) == [ControlRequest("r1", {}), ControlCancel("r1")]


def test_all_are_withdrawn_in_their_order_and_each_once() -> None:
    async def scene(asks: Asks, written: list[Outbound]) -> None:
        tasks = [asyncio.ensure_future(asks.ask({})) for _ in range(3)]
        await asyncio.sleep(0)
        asks.withdraw()
        await asyncio.wait(tasks)
        assert all(task.cancelled() for task in tasks)

    assert play(scene)[3:] == [ControlCancel("r1"), ControlCancel("r2"), ControlCancel("r3")]


def test_after_the_end_of_input_nobody_is_asked() -> None:
    async def scene(asks: Asks, written: list[Outbound]) -> None:
        task = asyncio.ensure_future(asks.ask({}))
        await asyncio.sleep(0)
        asks.close()
        with pytest.raises(HostError, match="closed its input"):
            await task
        with pytest.raises(HostError, match="closed its input"):
            await asks.ask({})

    assert play(scene) == [ControlRequest("r1", {})]

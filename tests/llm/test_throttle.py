"""The gate that parallel requests to one server share: its limit, its pause, its order, and cancellation."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from agenyx.llm.throttle import LONGEST_PAUSE, Throttle


class Time:
    """A clock that only `pass_` moves; sleepers wake when it passes their hour."""

    def __init__(self) -> None:
        self.now = 100.0
        self._sleepers: list[tuple[float, asyncio.Event]] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        event = asyncio.Event()
        self._sleepers.append((self.now + seconds, event))
        await event.wait()

    async def pass_(self, seconds: float) -> None:
        self.now += seconds
        for hour, event in self._sleepers:
            if hour <= self.now:
                event.set()
        await settle()


async def settle() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


class Crowd:
    """Requests at a gate: who is inside, in which order they came in, and letting them out."""

    def __init__(self, limit: int) -> None:
        self.time = Time()
        self.gate = Throttle(limit, self.time.clock, self.time.sleep)
        self.inside: list[str] = []
        self.entered: list[str] = []
        self.most = 0
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._out: dict[str, asyncio.Event] = {}

    async def come(self, *names: str) -> None:
        for name in names:
            self._out[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._visit(name))
        await settle()

    async def _visit(self, name: str) -> None:
        async with self.gate.place():
            self.inside.append(name)
            self.entered.append(name)
            self.most = max(self.most, len(self.inside))
            try:
                await self._out[name].wait()
            finally:
                self.inside.remove(name)

    async def leave(self, *names: str) -> None:
        for name in names:
            self._out[name].set()
        await settle()

    async def cancel(self, name: str) -> None:
        self.tasks[name].cancel()
        await settle()

    async def close(self) -> None:
        for event in self._out.values():
            event.set()
        await self.time.pass_(1000)
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)


def with_crowd(limit: int, play: Callable[[Crowd], Awaitable[None]]) -> Crowd:
    crowds: list[Crowd] = []

    async def run() -> None:
        crowd = Crowd(limit)
        crowds.append(crowd)
        try:
            await play(crowd)
        finally:
            await crowd.close()

    asyncio.run(asyncio.wait_for(run(), 30))
    return crowds[0]


def test_no_more_than_the_limit_at_once_and_in_order() -> None:
    names = [f"r{n}" for n in range(20)]

    async def play(crowd: Crowd) -> None:
        await crowd.come(*names)
        assert crowd.inside == names[:3]
        await crowd.leave("r1")
        assert crowd.inside == ["r0", "r2", "r3"]
        for name in names:
            await crowd.leave(name)

    crowd = with_crowd(3, play)
    assert (crowd.most, crowd.entered) == (3, names)


def test_a_pause_holds_everybody_and_lets_them_go_in_order() -> None:
    async def play(crowd: Crowd) -> None:
        await crowd.come("first")
        crowd.gate.pause(10)
        await crowd.come("a", "b", "c")
        assert crowd.inside == ["first"], "who is inside is not disturbed"
        await crowd.time.pass_(9.5)
        assert crowd.entered == ["first"]
        await crowd.time.pass_(0.5)
        assert crowd.entered == ["first", "a", "b", "c"]

    with_crowd(8, play)


def test_a_pause_grows_and_never_shrinks() -> None:
    async def play(crowd: Crowd) -> None:
        crowd.gate.pause(10)
        await crowd.come("a")
        crowd.gate.pause(2)
        await crowd.time.pass_(5)
        assert crowd.entered == []
        crowd.gate.pause(20)
        await crowd.time.pass_(6)
        assert crowd.entered == [], "the first sleep is over, the longer pause is not"
        await crowd.time.pass_(14)
        assert crowd.entered == ["a"]

    with_crowd(2, play)


def test_a_pause_without_reason_is_bounded() -> None:
    async def play(crowd: Crowd) -> None:
        crowd.gate.pause(1e12)
        await crowd.come("a")
        await crowd.time.pass_(LONGEST_PAUSE)
        assert crowd.entered == ["a"]

    with_crowd(1, play)


@pytest.mark.parametrize("gone", ["a", "b"])
def test_who_gives_up_in_line_does_not_block_the_others(gone: str) -> None:
    async def play(crowd: Crowd) -> None:
        await crowd.come("in", "a", "b", "c")
        await crowd.cancel(gone)
        await crowd.leave("in")
        left = "b" if gone == "a" else "a"
        assert crowd.entered == ["in", left]
        await crowd.leave(left)
        assert crowd.entered == ["in", left, "c"]

    with_crowd(1, play)


def test_the_first_in_line_gives_up_during_a_pause() -> None:
    async def play(crowd: Crowd) -> None:
        crowd.gate.pause(10)
        await crowd.come("a", "b")
        await crowd.cancel("a")
        await crowd.time.pass_(9)
        assert crowd.entered == []
        await crowd.time.pass_(1)
        assert crowd.entered == ["b"]

    with_crowd(1, play)


def test_a_cancelled_request_gives_its_place_back() -> None:
    async def play(crowd: Crowd) -> None:
        await crowd.come("in", "a")
        await crowd.cancel("in")
        assert crowd.entered == ["in", "a"]

    with_crowd(1, play)


def test_one_that_is_cancelled_in_the_moment_it_was_called_leaves_the_place_to_the_next() -> None:
    async def play(crowd: Crowd) -> None:
        await crowd.come("in", "a", "b")
        crowd._out["in"].set()
        await asyncio.sleep(0)  # "in" has run and called "a", which has not run yet
        crowd.tasks["a"].cancel()
        await settle()
        assert crowd.entered == ["in", "b"]

    with_crowd(1, play)

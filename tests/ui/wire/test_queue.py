"""Prompts that wait: their order and their bounds."""

from __future__ import annotations

import pytest

from agenyx.ui.wire.dialect import Dialect
from agenyx.ui.wire.inbound import Priority, Said
from agenyx.ui.wire.queue import MOST, Queue, Refused


def said(name: str, priority: Priority = "next", size: int = 300) -> Said:
    return Said(name, name, priority=priority, size=size)


def test_priorities_come_first_and_within_one_the_order() -> None:
    queue = Queue()
    for name, priority in (("a", "later"), ("b", "next"), ("c", "now"), ("d", "next"), ("e", "now")):
        queue.admit(said(name, priority), "sdk")  # type: ignore[arg-type]
    assert queue.ids() == ["c", "e", "b", "d", "a"]
    assert [one.text for one in iter(queue.take, None)] == ["c", "e", "b", "d", "a"]
    assert len(queue) == 0


@pytest.mark.parametrize("dialect", ["sdk", "agentx"])
def test_a_full_queue_takes_no_more_and_loses_nothing(dialect: Dialect) -> None:
    queue, (records, _) = Queue(), MOST[dialect]
    for number in range(records):
        queue.admit(said(str(number)), dialect)
    with pytest.raises(Refused, match="full"):
        queue.admit(said("more"), dialect)
    assert queue.ids() == [str(number) for number in range(records)]


@pytest.mark.parametrize("dialect", ["sdk", "agentx"])
def test_bytes_are_bounded_as_well(dialect: Dialect) -> None:
    queue, (_, size) = Queue(), MOST[dialect]
    queue.admit(said("a", size=size), dialect)
    with pytest.raises(Refused, match="full"):
        queue.admit(said("b", size=1), dialect)
    queue.take()
    queue.admit(said("b", size=size), dialect)


def test_agentx_128_prompts_wait_at_most() -> None:
    assert MOST["agentx"] == (128, 16 << 20)


def test_sdk_a_thousand_prompts_wait_in_their_order() -> None:
    queue = Queue()
    for number in range(1000):
        queue.admit(said(str(number)), "sdk")
    assert [one.text for one in iter(queue.take, None)] == [str(number) for number in range(1000)]


def test_one_that_waits_already_is_refused() -> None:
    queue = Queue()
    queue.admit(said("a"), "sdk")
    with pytest.raises(Refused, match="waits already"):
        queue.admit(said("a", "now"), "sdk")
    assert queue.ids() == ["a"]


def test_dropping_empties_it() -> None:
    queue = Queue()
    queue.admit(said("a"), "sdk")
    assert [one.text for one in queue.drop()] == ["a"]
    assert queue.take() is None

"""How full the window is, and when to make room."""

from __future__ import annotations

import pytest

from agenyx.agent.context import Choice, estimate, least, levels, parts, pressure
from agenyx.core.events import Usage
from agenyx.core.messages import Assistant, Entry, Media, Step, Summary, Text, ToolCall, ToolResult, User
from agenyx.core.tools import ToolSpec
from agenyx.llm.request import Options
from agenyx.session.records import Binding, Body, Opened, Prefix, Prompt, Record, Response, Result
from agenyx.session.state import State

ASK = Prompt(User((Text("x" * 3_000),), "typed", "p"))


def fold(*bodies: Body) -> State:
    state = State()
    tool = ToolSpec("Read", "Reads.", {"type": "object"})
    head = (Opened("s", "/w", "1"), Binding("p", "f", "m"), Prefix("h", Options(), ("s" * 900,), (tool,)))
    for seq, body in enumerate((*head, *bodies), 1):
        state.apply(Record(1, f"r{seq}", seq, f"r{seq - 1}", 0.0, "t", body))
    return state


def called(usage: Usage | None, call: str = "c1") -> Response:
    return Response(Assistant((ToolCall(call, "w", "Read", "{}"),), "calls"), usage)


def result(size: int, call: str = "c1") -> Result:
    return Result(ToolResult(call, "ok", (Text("y" * size),)))


def test_the_levels_of_a_large_window_are_those_of_the_reference() -> None:
    found = levels(128_000)
    assert (found.usable, found.warn, found.auto, found.hard) == (108_000, 88_000, 95_000, 105_000)


@pytest.mark.parametrize("window", [2_000, 8_192, 32_000, 200_000, 1_000_000])
@pytest.mark.parametrize("output", [None, 512, 64_000])
def test_the_levels_keep_their_order_in_every_window(window: int, output: int | None) -> None:
    found = levels(window, output)
    assert 0 < found.warn < found.auto < found.hard < found.usable <= window
    assert found.usable >= window // 2


def test_an_answer_of_a_fixed_size_is_kept_free() -> None:
    assert levels(400_000, 128_000).usable == 272_000


def test_the_person_sets_the_levels_in_percent() -> None:
    found = levels(128_000, None, Choice(warn=50, auto=60))
    assert (found.warn, found.auto) == (54_000, 64_800)
    late = levels(128_000, None, Choice(auto=100))
    assert late.auto == late.hard


def test_before_the_first_response_everything_is_estimated() -> None:
    state = fold(ASK)
    assert 3_900 // 3 < pressure(state) < 3_900
    assert least(state) < pressure(state)


def test_what_the_server_counted_counts_and_only_the_rest_is_estimated() -> None:
    used = Usage(fresh=5_000, cache_read=2_000, out=100)
    assert pressure(fold(ASK, called(used))) == 7_100
    grown = pressure(fold(ASK, called(used), result(30_000)))
    assert 7_100 + 10_000 < grown < 7_100 + 14_000
    again = fold(ASK, called(used), result(30_000), called(Usage(fresh=17_000, out=50), "c2"), result(3, "c2"))
    assert 17_050 < pressure(again) < 17_150


def test_a_server_that_counts_nothing_leaves_the_estimate() -> None:
    silent, zero = fold(ASK, called(None), result(9)), fold(ASK, called(Usage(out=5)), result(9))
    assert pressure(silent) == pressure(zero) > 1_000


def test_media_and_other_scripts_take_more_than_their_letters() -> None:
    picture: Entry = User((Media("image", "image/png", "0", 9, "n"),))
    assert estimate([picture]) > 2_000
    paper: Entry = User((Media("document", "application/pdf", "0", 1_000_000, "n"),))
    assert estimate([paper]) > 20 * estimate([picture]), "a document has many pages"
    assert estimate([Summary("字" * 300, "r")]) > 2 * estimate([Summary("z" * 300, "r")])


def test_the_parts_add_up_to_the_whole() -> None:
    state = fold(ASK, called(Usage(fresh=9_000, out=10)), result(60_000))
    found = parts(state)
    assert abs(sum((found.head, found.said, found.answers, found.results, found.summary)) - pressure(state)) <= 3
    assert found.results > found.said > found.head > 0


def test_a_step_is_estimated_with_its_calls_and_results() -> None:
    call = ToolCall("c", "w", "Write", "a" * 3_000)
    step = Step(Assistant((Text("t" * 300), call), "calls"), (ToolResult("c", "ok", (Text("r" * 3_000),)),))
    assert estimate([step]) > 6_300 // 3

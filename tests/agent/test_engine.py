"""The loop over a scripted model: outcomes, order, guards, limits, interruptions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agenyx.agent.normalise import Normaliser
from agenyx.core.errors import StoreError
from agenyx.core.events import (
    CallFinished,
    Done,
    Failure,
    ModelEvent,
    Output,
    Started,
    StepStarted,
    TextDelta,
    TurnFinished,
)
from agenyx.core.messages import Assistant, Step, Text, ToolCall, User
from agenyx.core.redact import Masker
from agenyx.llm.request import Request
from agenyx.policy.decide import Policy
from agenyx.session.store import MemoryStore
from agenyx.tools.spec import Outcome
from support.parts import Answers, Parts, Peek, Poke
from support.scripted import Scripted, call, calls, say

ALLOW = Policy("bypassPermissions", unsafe=True)


def test_a_question_is_answered_in_one_step() -> None:
    parts = Parts(Scripted([say("42")]))
    finished = parts.run("what is it?")
    assert (finished.outcome.kind, finished.text, finished.steps) == ("done", "42", 1)
    assert finished.usage.out == 5
    assert isinstance(parts.events[-1].body, TurnFinished)


def test_calls_that_only_look_run_together_and_others_alone_in_request_order() -> None:
    peek, poke = Peek(), Poke()
    script = [
        calls(call("Peek", text="a"), call("Peek", text="b"), call("Poke", text="c"), call("Peek", text="d")),
        say("ok"),
    ]
    parts = Parts(Scripted(script), [peek, poke], policy=ALLOW)
    parts.run()
    assert parts.results() == [("ok", "saw a"), ("ok", "saw b"), ("ok", "saw c"), ("ok", "saw d")]
    assert peek.most == 2
    assert [body.result.text for body in parts.bodies(CallFinished)] == ["saw a", "saw b", "saw c", "saw d"]


def test_at_most_ten_run_at_once() -> None:
    peek = Peek()
    Parts(Scripted([calls(*(call("Peek", text=str(n)) for n in range(25)))]), [peek]).run()
    assert len(peek.ran) == 25
    assert peek.most == 10


def test_a_failed_call_never_stops_the_later_ones() -> None:
    peek, poke = Peek(), Poke()
    script = [calls(call("Peek", text="a", fail=True), call("Poke", text="boom"), call("Peek", text="b"))]
    parts = Parts(Scripted(script), [peek, poke], policy=ALLOW)
    parts.run()
    assert [status for status, _ in parts.results()] == ["error", "error", "ok"]
    assert "a went wrong" in parts.results()[0][1]


def test_unknown_tools_and_bad_arguments_are_told_to_the_model() -> None:
    bad = [
        call("Teleport"),
        ToolCall("", "w", "Peek", '{"text": '),
        ToolCall("", "w", "Peek", '{"text": 5}'),
        ToolCall("", "w", "Peek", '{"text": "x", "colour": 1}'),
        ToolCall("", "w", "Peek", '["x"]'),
        ToolCall("", "w", "Peek", ""),
        ToolCall("", "w", "x" * 65, "{}"),
        ToolCall("", "w", "LOOK_AT", '{"text": "alias", "fail": "false"}'),
    ]
    peek = Peek()
    parts = Parts(Scripted([calls(*bad), say("ok")]), [peek])
    parts.run()
    statuses = [status for status, _ in parts.results()]
    assert statuses == [
        "unavailable",
        "malformed",
        "malformed",
        "malformed",
        "malformed",
        "malformed",
        "unavailable",
        "ok",
    ]
    assert "Peek" in parts.results()[0][1], "it names the tools there are"
    assert '{"text": ' in parts.results()[1][1], "it shows what was sent"
    assert peek.ran == ["alias"]


def test_call_ids_are_ours_and_unique_although_the_server_repeats_its_own() -> None:
    parts = Parts(Scripted([calls(call("Peek", "same", text="a"), call("Peek", "same", text="b"))]), [Peek()])
    parts.run()
    (step, _) = [entry for entry in parts.session.state.entries if isinstance(entry, Step)]
    assert len({c.id for c in step.assistant.calls}) == 2
    assert {c.wire_id for c in step.assistant.calls} == {"same"}


def test_a_question_to_the_user_is_recorded_before_it_is_asked_and_a_no_is_a_result() -> None:
    answers = Answers("deny", "allow")
    poke = Poke()
    parts = Parts(
        Scripted([calls(call("Poke", text="a"), call("Poke", text="b")), say("ok")]), [poke], approver=answers
    )
    assert parts.run().outcome.kind == "done"
    assert parts.results() == [("denied", "Denied: because"), ("ok", "saw b")]
    assert poke.ran == ["b"]
    assert [asked.effects.preview for asked in answers.asked] == ["poke a", "poke b"]


def test_a_no_that_stops_ends_the_turn_with_a_valid_history() -> None:
    parts = Parts(
        Scripted([calls(call("Poke", text="a"), call("Peek", text="b"))]), [Peek(), Poke()], approver=Answers(stop=True)
    )
    assert parts.run().outcome.kind == "stopped"
    assert [status for status, _ in parts.results()] == ["cancelled", "cancelled"]


def test_an_empty_answer_gets_one_nudge_and_then_an_honest_stop() -> None:
    saved = Parts(Scripted([say(""), say("here")]))
    assert saved.run().text == "here"
    lost = Parts(Scripted([say(""), say("  ")]))
    finished = lost.run()
    assert finished.outcome.kind == "failed"
    assert "empty" in finished.outcome.message


def test_a_cut_answer_keeps_its_text_and_asks_for_smaller_parts() -> None:
    provider = Scripted([say("part one", "length"), say("part two")])
    parts = Parts(provider)
    assert parts.run().text == "part two"
    told = provider.requests[1].entries[-1]
    assert isinstance(told, User)
    assert told.origin == "notice"
    assert "smaller parts" in told.text
    endless = Parts(Scripted([say("x", "length")] * 10))
    assert endless.run().outcome.kind == "failed"
    assert endless.session.state.steps == 4


def test_whole_calls_of_a_cut_answer_run() -> None:
    peek = Peek()
    cut = Assistant((call("Peek", text="a"),), "length")
    provider = Scripted([cut, say("ok")])
    assert Parts(provider, [peek]).run().outcome.kind == "done"
    assert peek.ran == ["a"]
    assert "smaller parts" in provider.requests[1].entries[-1].text  # type: ignore[union-attr]


def test_the_same_call_with_the_same_result_is_warned_about_and_then_stopped() -> None:
    peek = Peek()
    parts = Parts(Scripted([calls(call("Peek", text="a"))] * 20), [peek])
    assert parts.run().outcome.kind == "loop"
    assert len(peek.ran) == 5
    warned = [entry for entry in parts.session.state.entries if isinstance(entry, User) and entry.origin == "notice"]
    assert len(warned) == 2


def test_alternating_calls_are_a_loop_too() -> None:
    script = [calls(call("Peek", text="ab"[n % 2])) for n in range(40)]
    parts = Parts(Scripted(script), [Peek()])
    assert parts.run().outcome.kind == "loop"
    assert parts.session.state.steps <= 11


def test_a_check_after_each_different_change_is_no_loop() -> None:
    script: list[Any] = []
    for n in range(12):
        script += [calls(call("Poke", text=f"edit {n}")), calls(call("Peek", text="test", fail=True))]
    parts = Parts(Scripted([*script, say("done")]), [Peek(), Poke()], policy=ALLOW)
    assert parts.run().outcome.kind == "done"
    assert not [entry for entry in parts.session.state.entries if isinstance(entry, User) and entry.origin == "notice"]


def test_the_step_limit_is_honest_and_the_next_turn_goes_on() -> None:
    script = [calls(call("Peek", text=str(n))) for n in range(4)] + [say("done")]
    parts = Parts(Scripted(script), [Peek()], max_steps=3)
    first = parts.run()
    assert (first.outcome.kind, first.steps) == ("step_limit", 3)
    assert "--max-steps" in first.outcome.message
    assert parts.run("go on").text == "done"


def test_a_failure_of_the_provider_is_the_outcome() -> None:
    failure = Failure("busy", "the server is busy", "Try again later.", True, 300.0)
    finished = Parts(Scripted([failure])).run()
    assert finished.outcome.kind == "failed"
    assert finished.outcome.failure == failure


class _Breaks:
    """Sends text, then breaks off: by a failure, by just ending, or by never ending."""

    binding = "b"

    def __init__(self, how: str) -> None:
        self.how = how
        self.waiting = asyncio.Event()

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        yield Started("r", "m")
        yield TextDelta(0, "half an ans")
        if self.how == "fails":
            yield Failure("truncated", "the connection was cut")
        elif self.how == "raises":
            raise ZeroDivisionError
        elif self.how == "hangs":
            self.waiting.set()
            await asyncio.Event().wait()

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("how", ["fails", "ends", "raises"])
def test_partial_text_is_kept_when_the_stream_breaks(how: str) -> None:
    parts = Parts(_Breaks(how))
    finished = parts.run()
    assert finished.outcome.kind == "failed"
    last = parts.session.state.entries[-1]
    assert isinstance(last, Step)
    assert (last.assistant.text, last.assistant.stop) == ("half an ans", "cut")


def test_cancelling_while_the_model_speaks_keeps_what_it_said() -> None:
    async def scenario() -> None:
        provider = _Breaks("hangs")
        parts = Parts(provider)
        parts.prompt()
        task = asyncio.create_task(parts.engine.run())
        await provider.waiting.wait()
        task.cancel()
        finished = await task
        assert finished.outcome.kind == "cancelled"
        assert parts.session.state.entries[-1].assistant.text == "half an ans"  # type: ignore[union-attr]
        assert parts.session.state.outcome == finished.outcome

    asyncio.run(scenario())


class _Stuck(Poke):
    name = "Stuck"

    def __init__(self) -> None:
        super().__init__()
        self.began = asyncio.Event()

    async def run(self, args: Any, ctx: Any) -> Any:
        self.began.set()
        await asyncio.Event().wait()


def test_cancelling_while_a_call_runs_gives_every_call_a_result() -> None:
    async def scenario() -> None:
        stuck, peek = _Stuck(), Peek()
        provider = Scripted(
            [calls(call("Peek", text="a"), call("Stuck", text="b"), call("Peek", text="c")), say("after")]
        )
        parts = Parts(provider, [stuck, peek], policy=ALLOW)
        parts.prompt()
        task = asyncio.create_task(parts.engine.run())
        await stuck.began.wait()
        task.cancel()
        assert (await task).outcome.kind == "cancelled"
        assert [status for status, _ in parts.results()] == ["ok", "cancelled", "cancelled"]
        assert "while this call ran" in parts.results()[1][1]
        assert "before this call ran" in parts.results()[2][1]
        parts.prompt("and now?")
        assert (await parts.engine.run()).text == "after"

    asyncio.run(scenario())


class _Full(MemoryStore):
    """Takes so many appends, then fails for good."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def append(self, lines: Any, *, sync: bool) -> None:
        if self.room == 0:
            raise StoreError("the session could not be written: no space left", "Free space.")
        self.room -= 1
        super().append(lines, sync=sync)


@pytest.mark.parametrize("room", range(1, 6))
def test_a_failed_write_ends_the_turn_and_nothing_runs_after_it(room: int) -> None:
    poke = Poke()
    parts = Parts(
        Scripted([calls(call("Poke", text="a")), calls(call("Poke", text="b")), say("ok")]),
        [poke],
        policy=ALLOW,
        store=_Full(room),
    )
    finished = parts.run()
    assert finished.outcome.kind == "failed"
    assert "no space left" in finished.outcome.message
    begun = sum(b'"kind":"effects_begun"' in line for line in parts.session._store.lines)  # type: ignore[attr-defined]
    assert len(poke.ran) == begun, "no effect without its record"


def test_steering_text_joins_the_turn_at_the_next_step() -> None:
    queue = [User((Text("use tabs"),), "steer")]

    def inbox() -> list[User]:
        if len(provider.requests) == 1 and queue:
            return [queue.pop()]
        return []

    provider = Scripted([calls(call("Peek", text="a")), say("ok")])
    parts = Parts(provider, [Peek()], inbox=inbox)
    parts.run()
    assert provider.requests[1].entries[-1].text == "use tabs"  # type: ignore[union-attr]
    assert len(parts.bodies(StepStarted)) == 2


def test_results_are_masked_and_bounded() -> None:
    secret = "sk-abcdefgh12345678"
    parts = Parts(
        Scripted([calls(call("Peek", text=secret + "x" * 5000)), say("ok")]), [Peek()], limit=600, secrets=(secret,)
    )
    parts.run()
    ((_, text),) = parts.results()
    assert secret not in text
    assert "[REDACTED]" in text
    assert "left out" in text
    assert len(text) < 800


class _Prints(Peek):
    name = "Prints"

    async def run(self, args: Any, ctx: Any) -> Outcome:
        for piece in (args.text[:9], args.text[9:]):
            ctx.output(piece.encode())
        return Outcome.ok("printed")


def test_live_output_is_masked_also_where_a_secret_is_cut_in_two() -> None:
    secret = "sk-abcdefgh12345678"
    parts = Parts(Scripted([calls(call("Prints", text=f"é{secret}!"))]), [_Prints()], secrets=(secret,))
    parts.run()
    assert b"".join(body.data for body in parts.bodies(Output)).decode() == "é[REDACTED]!"


def test_a_secret_in_an_output_that_was_put_aside_is_masked_there_too(tmp_path: Path) -> None:
    secret = "sk-abcdefgh12345678"
    path = tmp_path / "out.txt"
    path.write_bytes(b"\xff" * 100 + secret.encode() + b"\r\nend")
    normalise = Normaliser(Masker((secret,)), 50, str(tmp_path))
    normalise(call("Bash"), Outcome("ok", (Text("head"),), spill=str(path)))
    assert path.read_bytes() == b"\xff" * 100 + b"[REDACTED]\r\nend"


def test_done_without_calls_but_claimed_calls_is_a_final_answer() -> None:
    odd = Assistant((Text("fine"),), "calls")
    assert Parts(Scripted([odd])).run().text == "fine"
    assert Done(odd).assistant.calls == ()

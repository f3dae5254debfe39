"""The loop over a fake conversation: order, queue, interruption, commands."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agenyx.agent.context import Parts, levels
from agenyx.app.settings import Settings
from agenyx.core.errors import UsageError
from agenyx.core.events import Usage
from agenyx.proc.spawn import Processes
from agenyx.session.records import Compacted
from agenyx.ui.chat import loop as module
from agenyx.ui.chat.commands.context import Context
from agenyx.ui.chat.loop import Chat
from agenyx.ui.spans import ASCII

from .fakes import FakeStatus, FakeSurface, FakeTalk


class Bench:
    """A REPL with its fakes; `clock` is moved by hand."""

    def __init__(self, home: Path) -> None:
        self.surface, self.now = FakeSurface(), 100.0
        self.opened: list[FakeTalk] = []
        self.refused = ""
        self.unfinished = False
        self.processes = Processes()

        async def opens(session: str) -> FakeTalk:
            if session == "gone":
                raise UsageError("there is no session gone", "Try another.")
            self.opened.append(FakeTalk(self.repl.emit, session or "s-1"))
            self.opened[-1].unfinished = self.unfinished
            return self.opened[-1]

        def context(repl: Chat) -> Context:
            return Context(repl, Settings(str(home)), {"PATH": "/usr/bin:/bin"}, str(home), str(home), self.processes)

        self.repl = Chat(self.surface, self.surface.transcript, opens, ASCII, context, lambda: self.now)

    @property
    def talk(self) -> FakeTalk:
        return self.opened[-1]

    async def idle(self) -> None:
        """Until the next input is wanted and none is left."""
        async with asyncio.timeout(30):
            while True:
                self.surface.asked.clear()
                await self.surface.asked.wait()
                if not self.repl.queued:
                    return

    async def send(self, *texts: str) -> None:
        for text in texts:
            self.surface.asked.clear()
            self.repl.submit(text)
            await self.idle()


def drive(tmp_path: Path, script: Callable[[Bench], Awaitable[None]], prompt: str = "") -> tuple[int, Bench]:
    async def work() -> tuple[int, Bench]:
        bench = Bench(tmp_path)
        task = asyncio.create_task(bench.repl.run(prompt))
        await bench.idle()
        await script(bench)
        bench.repl.leave()
        async with asyncio.timeout(30):
            code = await task
        await bench.processes.close()
        return code, bench

    return asyncio.run(work())


def test_prompts_are_answered_in_order_and_the_conversation_is_closed(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        await bench.send("one", "two")

    code, bench = drive(tmp_path, script, "zero")
    assert code == 0
    assert bench.talk.told == ["zero", "one", "two", "closed"]
    text = bench.surface.text
    assert text.index("> zero") < text.index("<zero>") < text.index("> one") < text.index("<one>") < text.index("<two>")
    assert text.count("<one>") == 1


def test_what_is_typed_during_a_turn_waits_for_its_end(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        bench.repl.submit("one")
        bench.repl.submit("two")
        assert list(bench.repl.queued) == ["one", "two"]
        await bench.idle()

    _, bench = drive(tmp_path, script)
    assert bench.talk.told == ["one", "two", "closed"]


async def running(bench: Bench, text: str = "wait") -> None:
    bench.repl.submit(text)
    await asyncio.wait_for(bench.talk.waiting.wait(), 30)


def test_an_interrupt_stops_the_turn_and_gives_the_queue_back(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        await running(bench)
        bench.repl.submit("next")
        bench.repl.submit("and then")
        assert bench.repl.running
        bench.repl.interrupt()
        await bench.idle()
        assert not bench.repl.running
        await bench.send("hello")

    code, bench = drive(tmp_path, script)
    assert (code, bench.surface.taken_back) == (0, ["next\nand then"])
    assert bench.talk.told == ["wait", "hello", "closed"]
    assert "Stopped by the user." in bench.surface.text


def test_what_is_sent_after_the_stop_is_meant_for_what_comes_next(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        await running(bench)
        bench.repl.submit("waited before")
        bench.repl.interrupt()
        bench.repl.submit("hello")
        await bench.idle()

    code, bench = drive(tmp_path, script)
    assert (code, bench.surface.taken_back) == (0, ["waited before"])
    assert bench.talk.told == ["wait", "hello", "closed"]


def test_two_interrupts_within_a_second_leave(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        await running(bench)
        bench.repl.interrupt()
        bench.now += 0.9
        bench.repl.interrupt()

    assert drive(tmp_path, script)[0] == 130


def test_two_slow_interrupts_do_not_leave(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        bench.repl.interrupt()
        assert "once more" in bench.repl.hint
        bench.now += 1.1
        bench.repl.interrupt()
        await bench.send("still here")

    code, bench = drive(tmp_path, script)
    assert code == 0
    assert "<still here>" in bench.surface.text


def test_a_turn_that_does_not_end_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.05)

    async def script(bench: Bench) -> None:
        await running(bench)
        bench.talk.stubborn = True
        bench.repl.interrupt()
        bench.repl.interrupt()
        await asyncio.wait_for(bench.talk.closed.wait(), 30)
        bench.talk.stubborn = False

    assert drive(tmp_path, script)[0] == 130


def test_errors_are_told_and_the_conversation_goes_on(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        await bench.send("crash", "fail", "hello")

    _, bench = drive(tmp_path, script)
    assert "! unexpected error: RuntimeError: the fake is broken" in bench.surface.text
    assert "! no such luck" in bench.surface.text
    assert "<hello>" in bench.surface.text


def test_a_conversation_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    async def work() -> None:
        bench = Bench(tmp_path)

        async def refuses(session: str) -> Any:
            raise UsageError("no provider", "Log in.")

        repl = Chat(
            bench.surface,
            bench.surface.transcript,
            refuses,
            ASCII,
            lambda repl: Context(repl, Settings("/"), {}, "/", "/", Processes()),
        )
        with pytest.raises(UsageError, match="no provider"):
            await repl.run()

    asyncio.run(work())


def test_steering_joins_the_running_turn_only(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        assert not bench.repl.steer("too early")
        await running(bench)
        assert bench.repl.steer("left")
        bench.repl.submit("/steer right")
        await bench.surface.see("/steer right")
        bench.repl.interrupt()
        await bench.idle()
        await bench.send("/steer late")

    _, bench = drive(tmp_path, script)
    assert bench.talk.told == ["wait", "steer left", "steer right", "closed"]
    assert "no turn is running" in bench.surface.text


def test_instant_commands_run_beside_the_turn_and_others_wait(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        await running(bench)
        bench.repl.submit("/mode plan")
        bench.repl.submit("/clear")
        await bench.surface.see("mode plan")
        assert bench.repl.running
        assert list(bench.repl.queued) == ["/clear"]
        bench.repl.interrupt()
        await bench.idle()

    _, bench = drive(tmp_path, script)
    assert bench.surface.taken_back == ["/clear"]


def test_the_figures_tell_what_the_cache_did_and_where_the_room_goes(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        bench.talk.facts = FakeStatus(
            usage=Usage(fresh=2_000, cache_read=7_500, cache_write=500, out=900),
            context=64_000,
            window=128_000,
            levels=levels(128_000),
            parts=Parts(9_000, 1_000, 14_000, 40_000, 0),
            breaks={"the model changed from a to b": 1, "old results were taken out to make room": 3},
        )
        await bench.send("/cost", "/context")

    _, bench = drive(tmp_path, script)
    text = bench.surface.text
    for words in (
        "2k fresh, 7.5k cached, 500 written to the cache, 900 out",
        "cost       unknown",
        "cache      75% of the input came from it",
        "anew       the model changed from a to b",
        "old results were taken out to make room (3 times)",
        "50%",
        "is made at 95k tokens; /compact makes it now",
        "40k results of calls",
        "9k system text and tools",
    ):
        assert words in text, words
    assert "summary of what was before" not in text


def test_compact_says_what_it_came_to_and_hands_on_what_to_keep(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        await bench.send("/compact")
        bench.talk.made = Compacted("short", "r", before=90_000, tokens=12_000)
        await bench.send("/compact the tests of the parser")
        bench.talk.made = Compacted("short", "r", before=90_000, tokens=12_000, written=False)
        await bench.send("/compact")

    _, bench = drive(tmp_path, script)
    assert bench.talk.told == ["compact", "compact the tests of the parser", "compact", "closed"]
    text = bench.surface.text
    assert "there is nothing to summarise yet" in text
    assert text.count("about 90k tokens became about 12k.") == 2
    assert " ".join(text.split()).count("The model wrote no summary, so an excerpt stands in its place.") == 1


def test_commands_ask_no_model(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        await bench.send("/help", "/model", "/model other", "/effort", "/effort high", "/mode", "/mode ACCEPTEDITS")
        await bench.send("/mode bypassPermissions", "/mode odd", "/cost", "/context", "/nope", "/", "/status now")

    _, bench = drive(tmp_path, script)
    assert bench.talk.told == ["closed"]
    text = bench.surface.text
    for words in (
        "/resume [ID|TITLE]",
        "Ctrl+J",
        "model other (fake), from the next turn on",
        "the model's own default",
        "reasoning effort high, from the next turn on",
        "mode acceptEdits: also edits",
        "! not without the flag",
        "! there is no mode odd",
        "Choose one of: default, acceptEdits",
        "no tokens were counted yet",
        "nothing was sent yet",
        "! there is no command /nope",
        "! /status takes nothing behind its name",
    ):
        assert words in text


def test_clear_goes_on_in_a_new_session_and_closes_the_old_one_once(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        bench.talk.facts = FakeStatus(context=5)
        await bench.send("/clear", "hello")

    _, bench = drive(tmp_path, script)
    assert bench.talk.told == ["closed"]
    assert "a new session: s-2. The one before: /resume s-1" in bench.surface.text
    assert "<hello>" in bench.surface.text


def test_resume_opens_first_and_keeps_the_old_session_when_that_fails(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        await bench.send("/resume", "/resume s-1", "/resume gone", "still", "/resume s-9", "hello")

    _, bench = drive(tmp_path, script)
    assert "there is no other session of this directory" in bench.surface.text
    assert "! this is the session that is open" in bench.surface.text
    assert "! there is no session gone" in bench.surface.text
    assert [talk.told for talk in bench.opened] == [["still", "closed"], ["hello", "closed"]]


def test_an_unfinished_turn_goes_on_with_an_empty_line(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        bench.talk.unfinished = True
        await bench.send("", "")

    _, bench = drive(tmp_path, script)
    assert bench.talk.told == ["(go on)", "closed"]


def test_leaving_during_a_turn_stops_it(tmp_path: Path) -> None:
    async def script(bench: Bench) -> None:
        await running(bench)
        bench.repl.submit("/exit")

    code, bench = drive(tmp_path, script)
    assert (code, bench.talk.told) == (0, ["wait", "closed"])


def test_what_files_of_others_do_wrong_is_told_and_the_conversation_goes_on(tmp_path: Path) -> None:
    class Broken:
        def sources(self, kind: str) -> Any:
            raise RuntimeError(f"{kind} are broken")

    async def script(bench: Bench) -> None:
        bench.talk.extensions = Broken()  # type: ignore[assignment]
        assert bench.repl.commands()
        await bench.send("/nope", "hello")

    _, bench = drive(tmp_path, script)
    assert "RuntimeError: commands are broken" in bench.surface.text
    assert bench.talk.told == ["hello", "closed"]

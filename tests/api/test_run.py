"""Runs: their events, their end, and what is left where somebody leaves early, cancels or loses the loop."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import support
from agenyx import Agent, Result, RunError, UsageError, events, tool
from agenyx.core.events import Done, Failure, ModelEvent, TextDelta
from agenyx.llm.request import Request
from support.programs import agent, place, results, statuses, transcript
from support.scripted import Scripted, call, calls, say

SLEEP = "echo $$ > pid; sleep 300 & echo $! >> pid; wait"
BASH = {"allow": ["Bash"], "mode": "bypassPermissions", "allow_bypass": True}


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def pids(folder: Path) -> list[int]:
    """The processes of SLEEP, once both are known."""
    path = place(folder) / "pid"
    for _ in range(3000):
        if path.exists() and len(found := path.read_text("utf-8").split()) == 2:
            return [int(pid) for pid in found]
        time.sleep(0.01)
    raise AssertionError("it did not start")


def gone(found: list[int]) -> bool:
    """Whether they end: the system needs a moment after a signal."""
    for _ in range(500):
        if not any(map(alive, found)):
            return True
        time.sleep(0.01)
    return False


@contextmanager
def quiet() -> Iterator[None]:
    """Tasks that are destroyed while they wait say so; that is the point here."""
    before, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        yield
    finally:
        sys.unraisablehook = before


class Endless:
    """Says something, then nothing for ever. `begun` is set at its first word, `closed` when it was let go."""

    binding = "endless"

    def __init__(self) -> None:
        self.begun, self.closed = asyncio.Event(), False

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        try:
            yield TextDelta(0, "Well")
            self.begun.set()
            await asyncio.Event().wait()
            yield Done(say("never"))
        finally:
            self.closed = True

    async def close(self) -> None:
        pass


class Says:
    """Says one thing, under the binding of Endless, so that its sessions go on."""

    binding = "endless"

    def __init__(self, text: str) -> None:
        self.text = text

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        yield Done(say(self.text))

    async def close(self) -> None:
        pass


def test_events_come_in_order_and_the_result_stands_behind_the_loop(tmp_path: Path) -> None:
    async def main() -> None:
        run = agent(tmp_path, [say("Hello.")]).run("hi")
        with pytest.raises(UsageError):
            _ = run.result
        seen = [event async for event in run]
        assert [event.seq for event in seen] == sorted(event.seq for event in seen)
        assert isinstance(seen[0].body, events.TurnStarted) and isinstance(seen[-1].body, events.TurnFinished)
        result = run.result
        assert (result.ok, result.text, result.steps, result.check()) == (True, "Hello.", 1, result)
        assert result.usage == events.Usage(fresh=10, out=5)
        assert await run is result
        with pytest.raises(UsageError):
            async for _ in run:
                pass

    asyncio.run(main())


def test_a_failure_of_the_provider_is_a_result(tmp_path: Path) -> None:
    failure = Failure("auth", "The key was refused.", "Use another key.")
    result = agent(tmp_path, [failure]).run_sync("hi")
    assert (result.kind, result.failure, result.ok) == ("failed", failure, False)
    with pytest.raises(RunError) as error:
        result.check()
    assert "The key was refused." in str(error.value) and error.value.fix == "Use another key."
    assert error.value.result is result


def test_what_is_wrong_before_it_begins_is_raised(tmp_path: Path) -> None:
    made = agent(tmp_path, [say("x")])
    with pytest.raises(UsageError):
        made.run_sync("hi", resume="nothing-like-it")

    async def main() -> None:
        run = made.run("hi", resume="nothing-like-it")
        with pytest.raises(UsageError):
            async for _ in run:
                pass
        with pytest.raises(UsageError):
            _ = run.result
        with pytest.raises(UsageError):
            await made.run("  ")

    asyncio.run(main())


def test_run_sync_works_in_a_thread_and_not_within_a_loop(tmp_path: Path) -> None:
    found: list[Result[None]] = []
    thread = threading.Thread(target=lambda: found.append(agent(tmp_path, [say("hi")]).run_sync("hi")))
    thread.start()
    thread.join()
    assert found[0].text == "hi"

    async def main() -> None:
        with pytest.raises(UsageError) as error:
            agent(tmp_path, [say("hi")]).run_sync("hi")
        assert "await" in error.value.fix

    asyncio.run(main())


def test_nothing_acts_that_was_not_taken(tmp_path: Path) -> None:
    ran: list[int] = []

    @tool(effects=lambda: events_of_a_change())
    def act() -> str:
        """Acts."""
        ran.append(1)
        return "acted"

    def events_of_a_change() -> Any:
        from agenyx import Touches

        return Touches(writes=["x"])

    async def main() -> None:
        run = agent(tmp_path, [calls(call("act")), say("done")], tools=[act], mode="acceptEdits").run("go")
        async for event in run:
            if isinstance(event.body, events.CallAccepted):
                for _ in range(20):  # it has every chance
                    await asyncio.sleep(0)
                assert ran == []
        assert (run.result.text, ran) == ("done", [1])

    asyncio.run(main())


def test_leaving_the_loop_cancels_the_turn_closes_the_session_and_leaves_a_record(tmp_path: Path) -> None:
    async def main() -> str:
        provider, session = Endless(), ""
        async for event in agent(tmp_path, provider).run("go"):
            session = event.session
            if isinstance(event.body, events.TextDelta):
                break
        while not provider.closed:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        others = asyncio.all_tasks() - {asyncio.current_task()}  # type: ignore[arg-type]
        await asyncio.wait_for(asyncio.gather(*others, return_exceptions=True), 20)
        return session

    session = asyncio.run(main())
    assert "cancelled" in transcript(tmp_path, session).splitlines()[-1]
    result = agent(tmp_path, Says("And on.")).run_sync("go on", resume=session)
    assert result.text == "And on."


def test_a_block_that_is_left_has_ended_its_run(tmp_path: Path) -> None:
    async def main() -> None:
        provider = Endless()
        async with agent(tmp_path, provider).run("go") as run:
            async for event in run:
                if isinstance(event.body, events.TextDelta):
                    break
        assert provider.closed
        for _ in range(3):  # who waits for it as well hears of its end
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        async with agent(tmp_path, [say("x")]).run("go") as whole:
            assert (await whole).text == "x"
        async with agent(tmp_path, [say("x")]).run("go"):
            pass

    asyncio.run(main())


def test_who_raises_within_the_loop_ends_the_run(tmp_path: Path) -> None:
    async def main() -> None:
        provider = Endless()
        with pytest.raises(ZeroDivisionError):
            async for event in agent(tmp_path, provider).run("go"):
                if isinstance(event.body, events.TextDelta):
                    raise ZeroDivisionError
        while not provider.closed:  # noqa: ASYNC110
            await asyncio.sleep(0.001)

    asyncio.run(main())


def test_closing_the_session_within_the_loop_ends_the_loop(tmp_path: Path) -> None:
    async def main() -> None:
        session = await agent(tmp_path, Endless()).session().__aenter__()
        run = session.prompt("go")
        async for event in run:
            if isinstance(event.body, events.TextDelta):
                with pytest.raises(UsageError):
                    await session.compact()
                await session.close()
        assert run.result.kind == "cancelled"

    asyncio.run(main())


def test_a_home_that_cannot_be_written_leaves_nothing_to_answer(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    script = Scripted([calls(call("Bash", command="make")), say("done")])
    result = agent(tmp_path, script, home=tmp_path / "file" / "home").run_sync("go")
    assert (result.kind, statuses(script.requests[-1])) == ("done", ["denied"])
    assert any("kept in memory only" in notice.text for notice in result.notices)


def test_leaving_the_loop_right_before_the_program_ends_is_no_less_orderly(tmp_path: Path) -> None:
    async def main() -> str:
        async for event in agent(tmp_path, [calls(call("Bash", command=SLEEP)), say("x")], **BASH).run("go"):
            if isinstance(event.body, events.EffectStarted):
                await asyncio.to_thread(pids, tmp_path)
                return event.session
        raise AssertionError

    session = asyncio.run(main())
    assert gone(pids(tmp_path))
    last = transcript(tmp_path, session).splitlines()
    assert '"cancelled"' in last[-1] and '"result"' in last[-2]


@pytest.mark.parametrize("iterated", [True, False])
def test_cancelling_who_waits_ends_processes_and_raises(tmp_path: Path, iterated: bool) -> None:
    async def work(made: Agent[Any]) -> None:
        async with made.session() as session:
            if iterated:
                async for _ in session.prompt("go"):
                    pass
            else:
                await session.prompt("go")

    async def main() -> None:
        task = asyncio.ensure_future(work(agent(tmp_path, [calls(call("Bash", command=SLEEP)), say("x")], **BASH)))
        await asyncio.to_thread(pids, tmp_path)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert gone(pids(tmp_path))
    result = agent(tmp_path, [say("x"), say("later")]).run_sync("go on", continue_=True)
    assert result.text == "later"


def test_a_time_limit_of_the_program_works(tmp_path: Path) -> None:
    async def main() -> None:
        provider = Endless()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await agent(tmp_path, provider).run("go")
        assert provider.closed

    asyncio.run(main())


def test_a_loop_that_is_closed_early_leaves_no_process_and_no_lock(tmp_path: Path) -> None:
    loop = asyncio.new_event_loop()
    made = agent(tmp_path, [calls(call("Bash", command=SLEEP)), say("after")], **BASH)

    async def begin() -> Any:
        session = await made.session().__aenter__()
        task = asyncio.ensure_future(_wait(session.prompt("go")))
        await asyncio.to_thread(pids, tmp_path)
        return session.id, task

    before = signal.getsignal(signal.SIGINT)
    ident, task = loop.run_until_complete(begin())
    found = pids(tmp_path)
    assert all(map(alive, found))
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    del task, loop
    with quiet():
        gc.collect()
        gc.collect()
    assert gone(found)
    assert signal.getsignal(signal.SIGINT) is before

    async def later() -> None:
        async with made.session(resume=ident) as session:
            assert session.unfinished
            result = await session.resume()
            assert (result.kind, result.text) == ("done", "after")

    asyncio.run(later())
    assert '"interrupted"' in transcript(tmp_path, ident)


async def _wait(run: Any) -> Any:
    return await run


def test_a_session_that_was_not_closed_ends_with_the_program(tmp_path: Path) -> None:
    program = f"""
import asyncio, sys
from pathlib import Path
from support.programs import agent
from support.scripted import call, calls, say
folder = Path({str(tmp_path)!r})
made = agent(folder, [calls(call("Bash", command={SLEEP!r})), say("x")], mode="bypassPermissions", allow_bypass=True)
async def main():
    global kept
    kept = await made.session().__aenter__()
    asyncio.ensure_future(wait(kept.prompt("go")))
    path = folder / "work" / "pid"
    while not (path.exists() and len(path.read_text().split()) == 2):
        await asyncio.sleep(0.01)
async def wait(run):
    return await run
loop = asyncio.new_event_loop()
loop.run_until_complete(main())
sys.exit(0)
"""
    place(tmp_path)
    env = {**os.environ, "PYTHONPATH": str(Path(support.__path__[0]).parent)}
    done = subprocess.run([sys.executable, "-c", program], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert gone(pids(tmp_path))


def test_ctrl_c_stops_run_sync_in_an_orderly_way(tmp_path: Path) -> None:
    program = f"""
from pathlib import Path
from support.programs import agent
from support.scripted import call, calls, say
script = [calls(call("Bash", command={SLEEP!r})), say("x")]
agent(Path({str(tmp_path)!r}), script, mode="bypassPermissions", allow_bypass=True).run_sync("go")
"""
    place(tmp_path)
    env = {**os.environ, "PYTHONPATH": str(Path(support.__path__[0]).parent)}
    child = subprocess.Popen([sys.executable, "-c", program], env=env, stderr=subprocess.PIPE, text=True)
    found = pids(tmp_path)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=60)
    assert errors.strip().endswith("KeyboardInterrupt")
    assert gone(found)
    (path,) = (tmp_path / "home" / "sessions").glob("*/*/transcript.jsonl")
    assert '"cancelled"' in path.read_text("utf-8").splitlines()[-1]


def test_a_running_turn_is_interrupted_and_steered(tmp_path: Path) -> None:
    async def main() -> None:
        provider = Endless()
        async with agent(tmp_path, provider).session() as session:
            session.interrupt()  # nothing runs
            waiting = asyncio.ensure_future(_wait(session.prompt("go")))
            await provider.begun.wait()
            with pytest.raises(UsageError):
                await session.prompt("at once")
            with pytest.raises(UsageError):
                await session.answer("apr_x", True)
            session.interrupt()
            result = await waiting
            assert (result.kind, session.unfinished) == ("cancelled", False)

    asyncio.run(main())

    script = Scripted([calls(call("wait_for_word")), say("heard")])

    async def steered() -> None:
        async with agent(tmp_path, script, tools=[made]).session() as session:
            held.append(session)
            await session.prompt("go")

    held: list[Any] = []

    @tool(effects="none")
    async def made() -> str:
        """Waits."""
        held[0].steer("look left")
        return "waited"

    made.name = "wait_for_word"
    asyncio.run(steered())
    last: Any = script.requests[-1].entries[-1]
    assert (last.origin, last.text) == ("steer", "look left")


def test_an_interrupt_while_events_are_taken(tmp_path: Path) -> None:
    async def main() -> None:
        async with agent(tmp_path, Endless()).session() as session:
            run = session.prompt("go")
            async for event in run:
                if isinstance(event.body, events.TextDelta):
                    session.interrupt()
            assert run.result.kind == "cancelled"
            again = session.prompt("go")
            async for event in again:
                if isinstance(event.body, events.TextDelta):
                    break
            for _ in range(1000):
                if not session.unfinished:
                    break
                await asyncio.sleep(0.001)
            assert not session.unfinished

    asyncio.run(main())


def test_many_agents_at_once_do_not_meet(tmp_path: Path) -> None:
    before = os.getcwd()

    async def one(number: int) -> tuple[str, list[str]]:
        folder = tmp_path / str(number)
        folder.mkdir()
        (place(folder) / "n.txt").write_text(f"number {number}", "utf-8")
        script = Scripted(
            [calls(call("Read", file_path="n.txt"), call("Bash", command="cat n.txt; pwd")), say(f"{number}")]
        )
        run = agent(folder, script, **BASH).run("go")
        assert len({event.session async for event in run}) == 1
        return run.result.text, results(script.requests[-1])

    async def main() -> None:
        found = await asyncio.gather(*(one(number) for number in range(6)))
        for number, (text, (read, shell)) in enumerate(found):
            assert text == str(number)
            assert f"number {number}" in read and f"number {number}" in shell and str(tmp_path / str(number)) in shell

    asyncio.run(main())
    assert os.getcwd() == before


def test_nothing_is_written_to_standard_output_or_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP)]
    (place(tmp_path) / "AGENTS.md").write_text("Hi.", "utf-8")
    script = [calls(call("Bash", command="echo out; echo err >&2")), Failure("auth", "no"), say("x")]
    assert agent(tmp_path, script, **BASH).run_sync("go").kind == "failed"
    assert capfd.readouterr() == ("", "")
    now = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP)]
    assert now == handlers


def test_a_sync_tool_that_hangs_keeps_neither_the_run_nor_the_program(tmp_path: Path) -> None:
    release = threading.Event()

    @tool(effects="none", timeout=0.05)
    def hang() -> str:
        """Hangs."""
        release.wait(60)
        return ""

    script = Scripted([calls(call("hang")), say("done")])
    result = agent(tmp_path, script, tools=[hang]).run_sync("go")
    assert not release.is_set()
    release.set()
    assert (result.text, statuses(script.requests[-1])) == ("done", ["timed_out"])

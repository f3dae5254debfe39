"""From Bash in the background over TaskOutput to TaskStop, as a model calls them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agenyx.policy.decide import Policy, decide
from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Processes
from agenyx.shell.jobs import Jobs
from agenyx.shell.system import Shell
from agenyx.tools.bash import Bash
from agenyx.tools.registry import parse_args
from agenyx.tools.spec import Context, Outcome, Tool
from agenyx.tools.taskoutput import TaskOutput
from agenyx.tools.taskstop import TaskStop
from agenyx.workspace.root import Root

BASH, OUTPUT, STOP = Bash(), TaskOutput(), TaskStop()
Call = Callable[..., Awaitable[str]]


@pytest.fixture
def session(tmp_path: Path):
    """Run a coroutine function with a function that calls tools; everything that was started is ended after it."""
    (tmp_path / "work").mkdir()

    def run(body: Callable[[Call], Awaitable[None]], **fields: Any) -> None:
        async def main() -> None:
            processes = Processes()
            root = Root(str(tmp_path / "work"))
            shell = Shell(processes, root.path, str(tmp_path / "state"), child_env(dict(os.environ)))
            jobs = Jobs(processes, str(tmp_path / "jobs"))
            ctx = Context(root, {}, shell, processes, lambda _: None, jobs=jobs, **fields)

            async def call(tool: Tool[Any], status: str = "ok", **args: object) -> str:
                from agenyx.core import json

                outcome: Outcome = await tool.run(parse_args(tool, json.encode(args).decode()), ctx)
                text = "".join(getattr(block, "text", "") for block in outcome.content)
                assert outcome.status == status, text
                return text

            try:
                async with asyncio.timeout(50):
                    await body(call)
            finally:
                await processes.close()

        asyncio.run(main())

    return run


async def wait_for(call: Call, words: str, **args: object) -> str:
    text = ""
    async with asyncio.timeout(20):
        while words not in text:
            text += await call(OUTPUT, block=False, **args)
    return text


def test_a_server_is_started_watched_and_stopped(session: Any) -> None:
    async def body(call: Call) -> None:
        text = await call(BASH, command="echo ready; exec sleep 600", run_in_background=True)
        assert "task_id b1" in text
        text = await wait_for(call, "ready\n", task_id="b1")
        assert "[b1 is running, for " in text
        assert "(no new output)\n[b1 is running" in await call(OUTPUT, task_id="b1", timeout=10)
        assert (await call(STOP, shell_id="b1")).startswith("b1 was stopped after ")
        assert "b1 does not run any more: it was stopped" in await call(STOP, "error", task_id="b1")
        assert "[b1 was stopped after" in await call(OUTPUT, task_id="b1")

    session(body)


def test_blocking_waits_for_the_end_and_tells_how_it_ended(session: Any) -> None:
    async def body(call: Call) -> None:
        await call(BASH, command="sleep 0.2; echo built; exit 7", run_in_background=True, timeout=1)
        text = await call(OUTPUT, task_id="b1")
        assert text.startswith("built\n[b1 ended with exit code 7 after ")
        assert "built" in await call(OUTPUT, task_id="b1", offset=0)
        await call(BASH, command="kill -9 $$", run_in_background=True)
        assert "[b2 was killed by SIGKILL after" in await call(OUTPUT, task_id="b2")

    session(body)


def test_long_output_comes_in_parts(session: Any) -> None:
    async def body(call: Call) -> None:
        await call(BASH, command="seq 1 2000", run_in_background=True)
        whole, parts, text = "", 0, ""
        await call(OUTPUT, task_id="b1", offset=0)
        text = await call(OUTPUT, task_id="b1", offset=0)
        while "the next call goes on]" in text:
            assert len(text) <= 2000
            whole += text[: text.rindex("\n[bytes ")] + "\n"
            parts += 1
            text = await call(OUTPUT, task_id="b1")
        whole += text[: text.rindex("\n[b1 ")]
        assert whole.split() == [str(number) for number in range(1, 2001)] and parts > 3
        assert "1999\n2000\n[b1 ended" in await call(OUTPUT, task_id="b1", offset=-20)

    session(body, result_chars=2000)


def test_unknown_ids_name_what_there_is(session: Any) -> None:
    async def body(call: Call) -> None:
        assert "no task 'b1'. Nothing was started" in await call(OUTPUT, "error", task_id="b1")
        await call(BASH, command="sleep 600", run_in_background=True)
        assert "There are: b1 (sleep 600)." in await call(STOP, "error", task_id="b9")
        assert "different tasks" in await call(STOP, "error", task_id="b1", shell_id="b2")
        assert "task_id is missing" in await call(STOP, "error")

    session(body)


def test_what_cannot_start_is_told(session: Any) -> None:
    async def body(call: Call) -> None:
        text = await call(BASH, "error", command="x" * 200_000, run_in_background=True)
        assert text.startswith("The command was not run: the command is longer than")

    session(body)


def test_starting_is_judged_as_any_command_and_the_rest_is_free(session: Any, tmp_path: Path) -> None:
    async def body(call: Call) -> None:
        from agenyx.tools.spec import Look

        processes = Processes()
        root = Root(str(tmp_path / "work"))
        look = Look(root, {}, Shell(processes, root.path, str(tmp_path / "state"), child_env(dict(os.environ))))
        args = parse_args(BASH, '{"command": "rm -rf x", "run_in_background": true}')
        effects = await BASH.project(args, look)  # type: ignore[arg-type]
        assert effects.commands[0].argv == ("rm", "-rf", "x") and "(in the background)" in effects.preview
        assert decide("Bash", effects, Policy()).decision == "ask"
        for tool in (OUTPUT, STOP):
            free = await tool.project(parse_args(tool, '{"task_id": "b1"}'), look)  # type: ignore[arg-type]
            assert decide(tool.name, free, Policy()).decision == "allow"
        await processes.close()

    session(body)

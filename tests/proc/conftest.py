"""Real processes on both ways to notice an exit, and looking whether a process is gone."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from agenyx.proc.exit import best_way
from agenyx.proc.spawn import Processes, Spawn

T = TypeVar("T")
PATH = "/usr/local/bin:/usr/bin:/bin"


@pytest.fixture(params=["pidfd", "thread"])
def drive(request: pytest.FixtureRequest):
    """Run a coroutine function with a Processes; everything it started is ended after it."""
    if request.param == "pidfd" and best_way() != "pidfd":
        pytest.skip("this system has no pidfd")

    def run(body: Callable[[Processes], Awaitable[T]]) -> T:
        async def main() -> T:
            processes = Processes(request.param)
            try:
                async with asyncio.timeout(50):
                    return await body(processes)
            finally:
                await processes.close()

        return asyncio.run(main())

    return run


@pytest.fixture
def bash():
    def make(script: str, **fields: object) -> Spawn:
        return Spawn(argv=("bash", "-c", script), cwd="/", env={"PATH": PATH}, **fields)  # type: ignore[arg-type]

    return make


@pytest.fixture
def lives():
    """Whether a process runs; a zombie does not."""

    def check(pid: int) -> bool:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
        except OSError:
            if os.path.isdir("/proc/self"):
                return False
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return True

    return check


@pytest.fixture
def until():
    """Poll a condition; fail after 20 seconds."""

    def wait(condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < deadline, "the condition did not come true"
            time.sleep(0.01)

    return wait

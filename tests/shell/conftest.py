from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest

from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Processes
from agenyx.shell.system import Shell

T = TypeVar("T")


@pytest.fixture
def drive():
    """Run a coroutine function with a Processes; everything it started is ended after it."""

    def run(body: Callable[[Processes], Awaitable[T]]) -> T:
        async def main() -> T:
            processes = Processes()
            try:
                async with asyncio.timeout(50):
                    return await body(processes)
            finally:
                await processes.close()

        return asyncio.run(main())

    return run


@pytest.fixture
def root(tmp_path):
    place = tmp_path / "work space"
    (place / "sub" / "deep").mkdir(parents=True)
    return place


@pytest.fixture
def run_all(drive, root, tmp_path):
    """Run commands one after the other in one shell; gives (code, output, note, directory below the root) of each."""

    def run(*commands: str, **env: str) -> list[tuple[int, str, str, str]]:
        async def body(processes: Processes):
            shell = Shell(processes, str(root), str(tmp_path / "state"), child_env(dict(os.environ)) | env)
            results = []
            for command in commands:
                result = await shell.run(command, 30)
                assert not result.timed_out, command
                where = os.path.relpath(shell.cwd, shell.root)
                results.append((result.code, result.output.head.decode(), result.note, where))
            return results

        return drive(body)

    return run

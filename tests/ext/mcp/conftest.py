"""Servers of MCP as real processes, driven to their end, and looking whether a process is gone."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from agenyx.ext.mcp.config import ServerConfig
from agenyx.ext.mcp.connection import Host
from agenyx.ext.mcp.server import Server
from agenyx.proc.spawn import Processes

T = TypeVar("T")


@pytest.fixture
def host(tmp_path: Path):
    """Makes what servers get of us, for the `Processes` of a test."""

    def make(processes: Processes, **fields: Any) -> Host:
        env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"}
        return Host(processes, fields.pop("root", str(tmp_path)), fields.pop("env", env), **fields)

    return make


@pytest.fixture
def drive():
    """Run a coroutine function with a Processes; everything it started is ended after it."""

    def run(body: Callable[[Processes], Awaitable[T]], seconds: float = 60) -> T:
        async def main() -> T:
            processes = Processes()
            try:
                async with asyncio.timeout(seconds):
                    return await body(processes)
            finally:
                await processes.close()

        return asyncio.run(main())

    return run


@pytest.fixture
def serve(drive, host):
    """Run a coroutine function with one connected server, closed after it."""

    def run(config: ServerConfig, body: Callable[[Server], Awaitable[T]], **fields: Any) -> T:
        async def main(processes: Processes) -> T:
            server = Server(config, host(processes, **fields), fields_changed)
            try:
                await server.connect()
                return await body(server)
            finally:
                await server.close()

        heard = fields.pop("heard", None)

        def fields_changed(_server: Server, what: str) -> None:
            if heard is not None:
                heard.append(what)

        return drive(main)

    return run


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


@pytest.fixture
def soon():
    """As `until`, within an event loop."""

    async def wait(condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(20):
            while not condition():  # noqa: ASYNC110 - what happens is seen from outside only
                await asyncio.sleep(0.01)

    return wait

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time

import pytest

from agenyx.ext.mcp.config import ServerConfig
from agenyx.ext.mcp.manager import Manager
from agenyx.ext.mcp.model import Change, McpError
from support.mcp_servers import FAKE, fake


@pytest.fixture
def managed(drive, host):
    """Run a coroutine function with a Manager over the given servers and the list of changes; closed after it."""

    def run(configs, body, **fields):
        async def main(processes):
            heard: list[Change] = []
            manager = Manager(configs, host(processes), heard.append, **fields)
            try:
                return await body(manager, heard)
            finally:
                await manager.close()

        return drive(main)

    return run


def test_quick_servers_are_there_and_a_slow_one_comes_later_without_being_waited_for(managed, tmp_path, soon):
    gate = tmp_path / "gate"

    async def body(manager: Manager, heard):
        manager.start()
        assert not manager.tools() and not manager.ready()
        async with asyncio.timeout(20):
            while len(manager.ready()) < 2:
                await manager.wait(0.1)
        states = {one.name: one.state for one in manager.states()}
        assert states == {"one": "ready", "two": "ready", "slow": "starting", "off": "idle"}
        assert {tool.server.name for tool in manager.tools()} == {"one", "two"}
        heard.clear()
        gate.touch()
        await soon(lambda: len(manager.ready()) == 3)
        (change,) = [one for one in heard if one.added]
        assert change.server == "slow" and "mcp__slow__echo" in change.added
        assert manager.tool("mcp__slow__echo") in manager.tools()

    slow = fake("slow", options={"start": f"wait:{gate}"})
    managed([fake("one"), slow, fake("two", options={"era": "new"}), fake("off", disabled=True)], body)


def test_one_that_fails_is_told_and_takes_no_other_along(managed, monkeypatch):
    async def body(manager: Manager, heard):
        manager.start()
        await manager.wait(30)
        states = {one.name: (one.state, one.why) for one in manager.states()}
        assert states["good"] == ("ready", "")
        assert states["bad"] == ("failed", "it ended with exit code 7; it said last: cannot find my configuration")
        assert Change("bad", state="failed") in heard
        with pytest.raises(McpError, match="The MCP server 'bad'"):
            await manager.reconnect("BAD")
        with pytest.raises(McpError, match="There is no MCP server named 'none'") as caught:
            await manager.reconnect("none")
        assert caught.value.fix == "The servers are: bad, good."
        await manager.reconnect("good")
        assert manager.server("good").state == "ready"

    managed([fake("bad", options={"start": "exit"}), fake("good")], body)


def test_a_tool_that_changes_its_description_is_told_as_altered(managed, soon):
    async def body(manager: Manager, heard):
        manager.start()
        await manager.wait(30)
        first = manager.tool("mcp__fake__echo")
        same = manager.tool("mcp__fake__hang")
        heard.clear()
        await manager.server("fake").call("rename", {})
        await soon(lambda: heard)
        assert heard == [Change("fake", altered=("mcp__fake__echo",))]
        assert manager.tool("mcp__fake__echo") is not first
        assert manager.tool("mcp__fake__hang") is same

    managed([fake()], body)


def test_what_was_accepted_in_an_earlier_session_is_compared(managed):
    async def first(manager: Manager, heard):
        manager.start()
        await manager.wait(30)
        assert not any(change.altered for change in heard)
        return manager.hashes()

    known = managed([fake()], first)
    assert set(known) >= {"mcp__fake__echo", "mcp__fake__hang"}

    async def second(manager: Manager, heard):
        manager.start()
        await manager.wait(30)
        return [change.altered for change in heard if change.altered]

    assert managed([fake()], second, known=known) == []
    assert managed([fake()], second, known=known | {"mcp__fake__echo": "other"}) == [("mcp__fake__echo",)]


def test_tools_that_come_and_go(managed, soon):
    async def body(manager: Manager, heard):
        manager.start()
        await manager.wait(30)
        heard.clear()
        new = [{"name": "echo", "description": "Says it back.", "inputSchema": {}}, {"name": "Echo", "inputSchema": {}}]
        await manager.server("fake").call("rename", {"tools": new})
        await soon(lambda: heard)
        (change,) = heard
        names = [tool.name for tool in manager.tools()]
        # Two that differ in letter case only are both told apart, whatever case a model writes.
        assert len(names) == 2 and len({name.casefold() for name in names}) == 2
        assert set(change.added) == set(names) and "mcp__fake__hang" in change.removed

    managed([fake()], body)


def test_tools_of_a_server_that_died_stay_and_a_call_brings_it_back(managed, monkeypatch):
    async def body(manager: Manager, heard):
        manager.start()
        await manager.wait(30)
        tool = manager.tool("mcp__fake__echo")
        with pytest.raises(McpError):
            await tool.server.call("die", {})
        assert not manager.ready() and manager.tool("mcp__fake__echo") is tool
        assert heard[-1] == Change("fake", state="down")
        await tool.server.call("echo", {"text": "back"})
        assert manager.tool("mcp__fake__echo") is tool and len(manager.ready()) == 1

    managed([fake()], body)


def test_servers_come_and_go_while_the_session_lives(managed, lives):
    async def body(manager: Manager, heard):
        manager.start()
        await manager.wait(30)
        added = manager.add(fake("late"))
        assert manager.add(fake("LATE")) is added
        await manager.wait(30)
        assert {one.name: one.state for one in manager.states()} == {"first": "ready", "late": "ready"}
        assert manager.tool("mcp__late__echo") is not None
        (pid, *_) = json.loads((await added.call("spawn", {})).blocks[0]["text"])
        heard.clear()
        await manager.remove("late")
        (change,) = heard
        assert change.state == "closed" and "mcp__late__echo" in change.removed and not change.added
        assert not lives(pid) and manager.tool("mcp__late__echo") is None
        assert [one.name for one in manager.states()] == ["first"]
        await manager.remove("late")

    managed([fake("first")], body)


def test_closing_takes_two_seconds_at_most_whatever_the_servers_do(drive, host, lives, tmp_path, soon):
    log = tmp_path / "log"

    async def body(processes):
        slow = [fake(f"s{n}", options={"start": "never", "log": str(log)}) for n in range(3)]
        manager = Manager([*slow, fake("fake", options={"log": str(log)})], host(processes), lambda change: None)
        manager.start()
        await soon(lambda: len(manager.ready()) == 1 and log.read_text().count("started") == 4)
        pids = json.loads((await manager.server("fake").call("spawn", {})).blocks[0]["text"])
        begun = time.monotonic()
        await manager.close()
        assert time.monotonic() - begun < 2.5
        pids += [int(line.split()[1]) for line in log.read_text().splitlines() if line.startswith("started")]
        assert not any(map(lives, pids))
        await manager.close()

    drive(body)


COST = """
import asyncio, json, os, sys, time
from agenyx.proc.spawn import Processes
from agenyx.tools.registry import Registry

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

async def main():
    processes = Processes()
    before, begun = resident(), time.process_time()
    from agenyx.ext.mcp.config import ServerConfig
    from agenyx.ext.mcp.connection import Host
    from agenyx.ext.mcp.manager import Manager
    configs = [ServerConfig(f"s{n}", sys.executable, ("-I", "-S", sys.argv[1])) for n in range(6)]
    manager = Manager(configs, Host(processes, "/", {"PATH": os.environ["PATH"]}), lambda change: None)
    manager.start()
    used = time.process_time() - begun
    await manager.wait(30)
    print(json.dumps([used, resident() - before, len(manager.ready())]))
    await manager.close()
    await processes.close()

asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_six_servers_cost_a_start_little():
    argv = (sys.executable, "-c", COST, str(FAKE))
    done = subprocess.run(argv, stdout=subprocess.PIPE, timeout=60, check=True)
    used, grown, ready = json.loads(done.stdout)
    assert ready == 6
    assert used < 0.1  # 20 ms of a calm machine
    assert grown < 15 << 20


def test_an_empty_manager_does_nothing(managed):
    async def body(manager: Manager, heard):
        manager.start()
        await manager.wait(5)
        assert manager.states() == () and manager.tools() == () and heard == []

    managed([], body)


def test_a_server_is_found_by_its_name_or_slug(managed):
    async def body(manager: Manager, heard):
        (server,) = manager.servers()
        assert manager.server("MY server") is server
        assert manager.server(server.config.slug) is server

    managed([ServerConfig("my server", "x")], body)

"""MCP servers of a program: functions, servers of the official SDK, and commands; all behind the one boundary."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import support
from agenyx import AgenyxError, UsageError
from support.programs import KEY, agent, closed, place, results, statuses, transcript
from support.scripted import Scripted, call, calls, say

REAL = Path.home() / ".cache" / "agenyx-mcp" / "venv"
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}


class Adder:
    """A server that is a function: it speaks the protocol and nothing else."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, message: dict[str, Any]) -> dict[str, Any] | None:
        method, ident = message["method"], message.get("id")
        self.asked.append(method)
        match method:
            case "initialize":
                found: Any = {
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "adder", "version": "1"},
                }
            case "tools/list":
                found = {"tools": [{"name": "add", "description": "Adds.", "inputSchema": SCHEMA}]}
            case "tools/call":
                args = message["params"]["arguments"]
                if args["a"] == 13:
                    raise ValueError("not 13")
                found = {"content": [{"type": "text", "text": f"{args['a'] + args['b']} {KEY}"}]}
            case _ if ident is None:
                return None
            case _:
                return {"jsonrpc": "2.0", "id": ident, "error": {"code": -32601, "message": "no such method"}}
        return {"jsonrpc": "2.0", "id": ident, "result": found}


def test_a_function_is_a_server_and_its_tools_are_judged_and_masked(tmp_path: Path) -> None:
    script = Scripted([calls(call("mcp__adder__add", a=1, b=2)), say("done")])
    result = agent(tmp_path, script, mcp_servers={"adder": Adder()}).run_sync("go")
    assert (result.kind, result.waiting[0].call.name) == ("waiting", "mcp__adder__add")
    assert script.requests[0].tools[-1].name == "mcp__adder__add"

    script = Scripted([calls(call("mcp__adder__add", a=1, b=2), call("mcp__adder__add", "x", a="1")), say("done")])
    made = agent(tmp_path, script, mcp_servers={"adder": Adder()}, allow=["mcp__adder"])
    result = made.run_sync("go")
    first, second = results(script.requests[-1])
    assert first.startswith("3 ") and KEY not in transcript(tmp_path, result.session_id)
    assert statuses(script.requests[-1]) == ["ok", "malformed"] and "b" in second


def test_a_crash_of_it_is_a_result(tmp_path: Path) -> None:
    script = Scripted([calls(call("mcp__adder__add", a=13, b=2)), say("done")])
    made = agent(tmp_path, script, mcp_servers={"adder": Adder()}, allow=["mcp__adder"])
    assert made.run_sync("go").text == "done"
    assert statuses(script.requests[-1]) == ["error"] and "not 13" in results(script.requests[-1])[0]


def test_a_session_goes_on_with_it(tmp_path: Path) -> None:
    script = Scripted([say("one"), calls(call("mcp__adder__add", a=1, b=2)), say("two")])
    made = agent(tmp_path, script, mcp_servers={"adder": Adder()}, allow=["mcp__adder"])
    first = made.run_sync("go")
    assert made.run_sync("on", resume=first.session_id).text == "two"
    assert statuses(script.requests[-1]) == ["ok"]


def test_one_that_cannot_be_agreed_with_is_told_at_once(tmp_path: Path) -> None:
    async def broken(message: dict[str, Any]) -> dict[str, Any]:
        raise RuntimeError("out of order")

    with pytest.raises(AgenyxError) as error:
        agent(tmp_path, [say("x")], mcp_servers={"broken": broken}).run_sync("go")
    assert "broken" in error.value.message and "out of order" in error.value.message


@pytest.mark.parametrize("thing", [object(), "python server.py", lambda message: None])
def test_what_is_no_server(tmp_path: Path, thing: Any) -> None:
    with pytest.raises(UsageError) as error:
        agent(tmp_path, [say("x")], mcp_servers={"thing": thing}).run_sync("go")
    assert "is no MCP server" in error.value.message


def test_a_command_is_a_server_and_ends_with_the_session(tmp_path: Path) -> None:
    server = Path(support.__path__[0]) / "mcp_fake.py"
    given = {"fake": {"command": sys.executable, "args": ["-I", str(server)]}}
    script = Scripted([say("done")])
    agent(tmp_path, script, mcp_servers=given).run_sync("go")
    assert any(spec.name.startswith("mcp__fake__") for spec in script.requests[0].tools)


SDK = """
import asyncio, sys
from pathlib import Path
from mcp.server.mcpserver import MCPServer
from support.programs import agent, results
from support.scripted import Scripted, call, calls, say

server = MCPServer("peer")
where = []

@server.tool()
def add(a: int, b: int) -> int:
    "Adds."
    where.append(a)
    return a + b

script = Scripted([calls(call("mcp__peer__add", a=1, b=2)), say("done")])
made = agent(Path(sys.argv[1]), script, mcp_servers={"peer": server}, allow=["mcp__peer"])

async def main():
    async with made.session() as session:
        result = await session.prompt("go")
        print(result.text, results(script.requests[-1])[0].split()[0], where)
    print((await made.run("again")).text, where)

asyncio.run(main())
"""


@pytest.mark.skipif(not os.environ.get("AGENYX_REAL_MCP"), reason="needs the official SDK, which CI installs")
def test_a_server_of_the_official_sdk_runs_in_the_process(tmp_path: Path) -> None:
    (packages,) = REAL.glob("lib/python*/site-packages")
    path = os.pathsep.join([str(packages), str(Path(support.__path__[0]).parent)])
    place(tmp_path)
    program = [sys.executable, "-c", SDK, str(tmp_path)]
    env = {**closed(tmp_path), "PYTHONPATH": path}
    done = subprocess.run(program, env=env, capture_output=True, text=True, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.splitlines() == ["done 3 [1]", "done [1, 1]"]


def test_servers_of_the_sdk_are_known_by_their_shape(tmp_path: Path) -> None:
    from agenyx.app.mcp_sdk import lowlevel

    class Low:
        def create_initialization_options(self) -> object:
            return object()

    class High:
        def __init__(self, name: str) -> None:
            setattr(self, name, Low())

    for name in ("_mcp_server", "_lowlevel_server"):
        assert isinstance(lowlevel(High(name)), Low)
    assert isinstance(lowlevel(Low()), Low)

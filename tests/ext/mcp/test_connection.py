"""Connections to a server of the official SDK, in both eras of the protocol."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agenyx.core.messages import Text
from agenyx.ext.mcp import answers, listing
from agenyx.ext.mcp.config import ServerConfig
from agenyx.ext.mcp.connection import Connection
from agenyx.ext.mcp.model import McpError, Progress, Reply
from agenyx.ext.mcp.result import outcome
from support import mcp_servers

PEER = Path(mcp_servers.__file__).parent / "mcp_sdk_server.py"


@pytest.fixture(params=["new", "old"])
def peer(request, drive, host):
    """Run a coroutine function with a connection to the SDK's server, in one of the eras."""

    def run(body: Callable[[Connection], Awaitable[None]], changed=lambda what: None, **fields) -> None:
        config = ServerConfig("peer", str(mcp_servers.sdk_python()), (str(PEER),))

        async def main(processes):
            connection = Connection(config, host(processes, **fields), changed, lambda why: None)
            try:
                await connection.open(probe=request.param == "new")
                assert connection.agreed.modern == (request.param == "new")
                await body(connection)
            finally:
                await connection.close()

        drive(main)

    run.era = request.param
    return run


async def call(connection: Connection, tool: str, on_progress=None, **arguments):
    answer = await connection.ask("tools/call", {"name": tool, "arguments": arguments}, 20, on_progress=on_progress)
    return outcome(answers.called(answer))


def text(result) -> str:
    return result[1][0].text


def test_all_that_it_offers(peer, soon):
    """One server for all of it: it takes two seconds to start."""
    changes: list[str] = []

    async def body(connection: Connection):
        await tools_and_their_schemas(connection)
        await progress(connection)
        await resources_and_prompts(connection)
        await nobody_to_ask(connection)
        assert text(await call(connection, "grow")) == "grown"
        if connection.agreed.modern:
            assert connection.agreed.tells("tools")
            await soon(lambda: "tools" in changes)
        tools, _ = listing.tools(await connection.pages("tools/list", "tools"))
        assert "grown" in [tool.name for tool in tools]

    peer(body, changes.append)


async def tools_and_their_schemas(connection: Connection) -> None:
    tools, problems = listing.tools(await connection.pages("tools/list", "tools"))
    by_name = {tool.name: tool for tool in tools}
    assert not problems and set(by_name) == {"add", "middle", "order", "count", "picture", "fail", "grow"}
    points = by_name["middle"].schema["properties"]["points"]
    assert points["items"]["properties"] == {"x": {"type": "number"}, "y": {"type": "number"}}  # was a reference
    assert list(by_name["order"].schema["properties"]) == ["what"]
    assert await call(connection, "add", a=1, b=2) == ("ok", (Text("3"),))
    assert text(await call(connection, "middle", points=[{"x": 0, "y": 0}, {"x": 2, "y": 4}])).count('"x"') == 1
    status, content = await call(connection, "fail")
    assert status == "error" and "it went wrong" in content[0].text
    assert text(await call(connection, "picture")) == "[image, image/png, 6 bytes: it cannot be shown here]"
    assert connection.agreed.instructions == "Add before you multiply."
    assert connection.agreed.title.startswith("peer")
    await connection.ping()


async def progress(connection: Connection) -> None:
    heard: list[Progress] = []
    assert text(await call(connection, "count", heard.append, to=3)) == "counted"
    assert heard == [Progress(number, 3.0, f"at {number:.0f}") for number in (1.0, 2.0, 3.0)]


async def resources_and_prompts(connection: Connection) -> None:
    templates = await connection.pages("resources/templates/list", "resourceTemplates")
    assert [one.uri for one in listing.resources(templates, template=True)] == ["note://{name}"]
    (contents,) = answers.contents(await connection.ask("resources/read", {"uri": "note://ann"}, 20))
    assert contents.text == "note of ann"
    (prompt,) = listing.prompts(await connection.pages("prompts/list", "prompts"))
    assert (prompt.name, prompt.arguments[0].name) == ("review", "code")
    answer = await connection.ask("prompts/get", {"name": "review", "arguments": {"code": "x = 1"}}, 20)
    assert answers.prompted(answer)[0].block["text"] == "Review x = 1."
    with pytest.raises(McpError) as caught:
        await connection.ask("resources/read", {"uri": "other://x"}, 20)
    assert caught.value.code != 0


async def nobody_to_ask(connection: Connection) -> None:
    try:
        status, content = await call(connection, "order", what="a hat")
    except McpError as error:
        assert "elicitation" in error.message.lower()
    else:
        assert status == "error" and content


def test_a_question_to_the_person(peer):
    asked = []

    async def elicit(ask):
        asked.append(ask)
        return Reply("accept", {"size": 5})

    async def body(connection: Connection):
        assert text(await call(connection, "order", what="a hat")) == "a hat 5 blue"
        (ask,) = asked
        assert (ask.server, ask.message) == ("peer", "How large?")
        assert [(one.name, one.kind, one.required) for one in ask.fields] == [
            ("size", "integer", True),
            ("colour", "string", False),
        ]

    peer(body, elicit=elicit)

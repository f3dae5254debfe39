from __future__ import annotations

import asyncio
import json
import time

import pytest

from agenyx.ext.mcp.model import McpError, Progress, Reply
from agenyx.ext.mcp.result import outcome
from agenyx.ext.mcp.server import Server
from support.mcp_servers import fake

ERAS = pytest.mark.parametrize("era", ["old", "new"])


def said(answer) -> str:
    return outcome(answer)[1][0].text


def started(log) -> list[int]:
    return [int(line.split()[1]) for line in log.read_text().splitlines() if line.startswith("started")]


@ERAS
def test_it_connects_lists_and_calls_in_both_eras(serve, era):
    async def body(server: Server):
        assert server.state == "ready" and server.why == ""
        assert server.standing.revision == ("2026-07-28" if era == "new" else "2025-11-25")
        assert server.instructions == "Call echo\\x1b[2J first."
        return said(await server.call("echo", {"text": "hi ", "times": 2}))

    config = fake(options={"era": era, "instructions": "Call echo\x1b[2J first."})
    assert serve(config, body) == "hi hi "


@pytest.mark.parametrize("revision", ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"])
def test_each_older_revision_is_taken(serve, revision):
    async def body(server: Server):
        return server.standing.revision

    assert serve(fake(options={"revision": revision}), body) == revision


def test_a_revision_that_nobody_knows_is_refused_with_its_name(serve):
    async def body(server: Server):
        raise AssertionError("it must not connect")

    with pytest.raises(McpError, match="'fake': it speaks revision 1999-01-01 of MCP"):
        serve(fake(options={"revision": "1999-01-01"}), body)


@pytest.mark.parametrize("start", ["dies-on-probe", "silent-to-probe"])
def test_a_server_that_cannot_bear_the_probe_is_asked_in_the_older_way(serve, start, monkeypatch):
    monkeypatch.setattr("agenyx.ext.mcp.handshake.PROBE", 0.3)

    async def body(server: Server):
        return said(await server.call("echo", {"text": "still here"}))

    assert serve(fake(options={"start": start}), body) == "still here"


def test_all_pages_are_read(serve):
    async def body(server: Server):
        return [tool.name for tool in server.tools()]

    whole = serve(fake(), body)
    assert serve(fake(options={"pages": 3}), body) == whole and len(whole) > 6


def test_a_list_without_an_end_is_cut_off(serve, tmp_path):
    log = tmp_path / "log"

    async def body(server: Server):
        return len(server.tools())

    assert serve(fake(options={"endless": True, "log": str(log)}), body) > 6
    assert log.read_text().count("> tools/list") == 2


@pytest.mark.parametrize(("pages", "taken"), [(1000, 2000), (10, 1000)])
def test_a_long_list_is_cut_off_at_2000_items_and_100_pages(serve, tmp_path, pages, taken):
    more = tmp_path / "more.json"
    more.write_text(json.dumps({"tools": [{"name": f"t{n}", "inputSchema": {}} for n in range(3000)]}))

    async def body(server: Server):
        return len(server.tools())

    assert serve(fake(options={"more": str(more), "pages": pages}), body) == taken


@ERAS
def test_resources_and_prompts(serve, era):
    async def body(server: Server):
        resources = await server.resources()
        assert [(one.uri, one.template, one.size) for one in resources] == [
            ("note://one", False, 5),
            ("note://{n}", True, None),
        ]
        (contents,) = await server.read_resource("note://one")
        assert contents.text == "text of note://one"
        (binary,) = await server.read_resource("note://bin")
        assert binary.data == b"\0\1"
        (prompt,) = await server.prompts()
        assert (prompt.name, prompt.arguments[0].name, prompt.arguments[0].required) == ("greet", "who", True)
        (message,) = await server.get_prompt("greet", {"who": "Ann"})
        assert (message.role, message.block["text"]) == ("user", "Greet Ann.")
        await server.ping()

    serve(fake(options={"era": era}), body)


@ERAS
def test_roots_name_the_workspace(serve, tmp_path, era):
    root = tmp_path / "a b#ü"
    root.mkdir()

    async def body(server: Server):
        return json.loads(said(await server.call("roots", {})))

    told = serve(fake(options={"era": era}), body, root=str(root))
    assert told["roots"] == [{"uri": f"file://{tmp_path}/a%20b%23%C3%BC", "name": "a b#ü"}]


@ERAS
def test_a_form_is_put_to_the_person_with_the_servers_name_and_defaults_are_put_in(serve, era):
    asked = []

    async def elicit(ask):
        asked.append(ask)
        return Reply("accept", {"size": 3})

    async def body(server: Server):
        return json.loads(said(await server.call("form", {})))

    answer = serve(fake("shop", options={"era": era}), body, elicit=elicit)
    assert answer == {"action": "accept", "content": {"colour": "blue", "size": 3, "gift": False}}
    (ask,) = asked
    assert (ask.server, ask.message) == ("shop", "Which \\u202ecolour?")
    assert [(one.name, one.kind, one.required) for one in ask.fields] == [
        ("colour", "choice", False),
        ("size", "integer", True),
        ("gift", "boolean", False),
    ]
    assert ask.fields[0].choices == (("red", "Red"), ("blue", "Blue"))


@ERAS
@pytest.mark.parametrize(
    ("action", "content", "becomes"),
    [
        ("decline", {}, {"action": "decline"}),
        ("cancel", {}, {"action": "cancel"}),
        ("accept", {}, {"action": "cancel"}),  # a required field is missing
        ("accept", {"size": 0}, {"action": "cancel"}),
        ("accept", {"size": "3"}, {"action": "cancel"}),
    ],
)
def test_what_is_no_valid_answer_is_none(serve, era, action, content, becomes):
    async def elicit(ask):
        return Reply(action, content)

    async def body(server: Server):
        return json.loads(said(await server.call("form", {})))

    assert serve(fake(options={"era": era}), body, elicit=elicit) == becomes


@ERAS
def test_addresses_are_not_opened_and_nobody_is_asked_where_nobody_can_be(serve, era):
    async def elicit(ask):
        raise AssertionError("no person may see it")

    async def url(server: Server):
        return json.loads(said(await server.call("form", {"mode": "url"})))

    async def form(server: Server):
        return json.loads(said(await server.call("form", {})))

    async def nested(server: Server):
        schema = {"type": "object", "properties": {"a": {"type": "object"}}}
        return json.loads(said(await server.call("form", {"schema": schema})))

    config = fake(options={"era": era})
    assert serve(config, url, elicit=elicit) == {"action": "decline"}
    assert serve(config, nested, elicit=elicit) == {"action": "decline"}
    assert serve(config, form) == {"action": "decline"}


def test_sampling_is_refused(serve):
    async def body(server: Server):
        return json.loads(said(await server.call("sample", {})))

    assert serve(fake(), body)["error"]["code"] == -32601

    with pytest.raises(McpError, match="it wants sampling/createMessage of Agenyx first, which is refused"):
        serve(fake(options={"era": "new"}), body)


def test_input_that_is_wanted_for_ever_ends(serve):
    async def body(server: Server):
        await server.call("insist", {})

    with pytest.raises(McpError, match="it wanted more input after 10 rounds"):
        serve(fake(options={"era": "new"}), body)


def test_time_stands_still_while_a_person_is_asked(serve):
    async def elicit(ask):
        await asyncio.sleep(0.6)
        return Reply("accept", {"size": 1})

    async def body(server: Server):
        return json.loads(said(await server.call("form", {})))["action"]

    assert serve(fake(tool_timeout=0.4), body, elicit=elicit) == "accept"


def test_a_call_runs_out_of_time_and_the_server_is_told(serve, tmp_path, soon):
    log = tmp_path / "log"

    async def body(server: Server):
        with pytest.raises(McpError, match=r"it did not answer tools/call within 0\.[3-9] seconds") as caught:
            await server.call("hang", {})
        assert caught.value.timed_out and caught.value.unsure
        await soon(lambda: "notifications/cancelled" in log.read_text())
        assert said(await server.call("echo", {"text": "on"})) == "on"

    serve(fake(options={"log": str(log)}, tool_timeout=0.3), body)
    assert '"reason": "time is up"' in log.read_text()


@ERAS
def test_a_cancelled_call_is_told_to_the_server(serve, tmp_path, soon, era):
    log = tmp_path / "log"

    async def body(server: Server):
        call = asyncio.ensure_future(server.call("hang", {}))
        await soon(lambda: "hang" in log.read_text())
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await soon(lambda: "notifications/cancelled" in log.read_text())
        id_ = log.read_text().partition("hang ")[2].split()[0]
        assert f'"requestId": {id_}' in log.read_text()
        assert said(await server.call("echo", {"text": "on"})) == "on"

    serve(fake(options={"era": era, "log": str(log)}), body)


def test_progress_gives_a_call_more_time_but_not_for_ever(serve, monkeypatch):
    heard: list[Progress] = []

    async def patient(server: Server):
        return said(await server.call("progress", {"steps": 12}, heard.append))

    assert serve(fake(tool_timeout=0.7), patient) == "done"
    assert [one.done for one in heard] == list(range(1, 13))
    assert (heard[0].total, heard[0].message) == (12, "step 1")

    monkeypatch.setattr("agenyx.ext.mcp.server.TOTAL", 2)

    async def endless(server: Server):
        await server.call("progress", {"steps": 600, "forever": True})

    with pytest.raises(McpError) as caught:
        serve(fake(tool_timeout=0.5), endless)
    assert caught.value.timed_out


def test_three_calls_run_at_once_and_the_rest_waits(serve, tmp_path, soon):
    log, gate = tmp_path / "log", tmp_path / "gate"

    async def body(server: Server):
        calls = [asyncio.ensure_future(server.call("slow", {"file": str(gate)})) for _ in range(10)]
        await soon(lambda: log.read_text().count("slow") == 3)
        gate.touch()
        return max(int(said(answer)) for answer in await asyncio.gather(*calls))

    assert serve(fake(options={"log": str(log)}), body) == 3


def test_too_many_waiting_calls_are_refused(serve, tmp_path):
    gate = tmp_path / "gate"

    async def body(server: Server):
        calls = [asyncio.ensure_future(server.call("slow", {"file": str(gate)})) for _ in range(80)]
        done, _ = await asyncio.wait(calls, return_when="FIRST_COMPLETED")
        assert all("64 requests to it are waiting" in str(task.exception()) for task in done)
        gate.touch()
        results = await asyncio.gather(*calls, return_exceptions=True)
        return sum(isinstance(one, McpError) for one in results)

    assert serve(fake(), body) == 80 - 64 - 3


@ERAS
def test_a_changed_list_is_read_anew_once_for_many_notices(serve, soon, era):
    heard: list[str] = []

    async def body(server: Server):
        before = server.tool("echo")
        count = heard.count("tools")
        await server.call("rename", {"times": 500})
        await soon(lambda: server.tool("echo") != before)
        assert "IMPORTANT" in server.tool("echo").description
        await server.ping()
        return heard.count("tools") - count

    assert serve(fake(options={"era": era}), body, heard=heard) <= 3


def test_one_that_cannot_list_its_tools_is_of_use_all_the_same(serve):
    async def body(server: Server):
        assert server.state == "ready" and server.tools() == ()
        assert server.standing.problems == ("its tools could not be listed: not today",)
        assert [one.uri for one in await server.resources()] == ["note://one"]
        with pytest.raises(McpError, match="The MCP server 'fake': not today"):
            await server.prompts()

    serve(fake(options={"refuses": ["tools/list", "resources/templates/list", "prompts/list"]}), body)


def test_a_list_that_keeps_changing_is_read_a_few_times_a_second(serve, tmp_path, soon):
    log = tmp_path / "log"

    async def body(server: Server):
        begun = time.monotonic()
        for number in range(40):
            await server.call("rename", {"described": str(number)})
        await soon(lambda: server.tool("echo").description == "39")
        return time.monotonic() - begun

    seconds = serve(fake(options={"log": str(log)}), body)
    assert log.read_text().count("> tools/list") <= 3 + seconds / 0.2


def test_it_comes_back_with_the_next_use_after_it_died(serve, tmp_path, monkeypatch):
    monkeypatch.setattr("agenyx.ext.mcp.server.BACKOFF", (0.0, 0.01, 0.02))
    log = tmp_path / "log"

    async def body(server: Server):
        for _ in range(3):
            with pytest.raises(McpError, match="ended with exit code 3; it said last: Traceback: the disk") as caught:
                await server.call("die", {})
            assert caught.value.unsure
            assert server.state == "down" and server.tools()
            assert said(await server.call("echo", {"text": "back"})) == "back"
        with pytest.raises(McpError, match="ended with exit code 3"):
            await server.call("die", {})
        assert server.state == "failed"
        with pytest.raises(McpError, match="ended with exit code 3") as caught:
            await server.call("echo", {"text": "back"})
        assert caught.value.fix == "The user can connect it again with /mcp."
        await server.connect()
        assert said(await server.call("echo", {"text": "by hand"})) == "by hand"

    serve(fake(options={"log": str(log)}), body)
    assert len(started(log)) == 5  # never once more than for a use


def test_what_ended_long_ago_does_not_count(serve, monkeypatch):
    monkeypatch.setattr("agenyx.ext.mcp.server.BACKOFF", (0.0, 0.0, 0.0))
    monkeypatch.setattr("agenyx.ext.mcp.server.STEADY", 0.0)

    async def body(server: Server):
        for _ in range(5):
            with pytest.raises(McpError):
                await server.call("die", {})
            assert server.state == "down"
            await server.ping()

    serve(fake(), body)


def test_a_program_that_is_not_there_is_said_so(drive, host):
    async def body(processes):
        server = Server(fake().__class__("gone", "/no/such/server"), host(processes), lambda *_: None)
        with pytest.raises(McpError, match="The MCP server 'gone': the program '/no/such/server' was not found"):
            await server.connect()
        return server.state, server.why

    assert drive(body) == ("failed", "the program '/no/such/server' was not found")


def test_a_server_that_ends_at_once_says_why(drive, host):
    async def body(processes):
        server = Server(fake(options={"start": "exit"}), host(processes), lambda *_: None)
        with pytest.raises(McpError, match="ended with exit code 7; it said last: cannot find my configuration"):
            await server.connect()
        return server.state

    assert drive(body) == "failed"


def test_a_server_that_never_answers_is_given_up(drive, host, lives, tmp_path):
    log = tmp_path / "log"

    async def body(processes):
        config = fake(options={"start": "never", "log": str(log)}, connect_timeout=1.0)
        server = Server(config, host(processes), lambda *_: None)
        begun = time.monotonic()
        with pytest.raises(McpError, match="it was not ready within 1 seconds"):
            await server.connect()
        assert time.monotonic() - begun < 5
        assert not any(map(lives, started(log)))
        return server.state

    assert drive(body) == "failed"


def test_closing_while_it_connects_leaves_nothing(drive, host, lives, tmp_path, soon):
    log = tmp_path / "log"

    async def body(processes):
        config = fake(options={"start": "never", "log": str(log)})
        server = Server(config, host(processes), lambda *_: None)
        connecting = asyncio.ensure_future(server.connect())
        await soon(log.exists)
        await server.close()
        with pytest.raises(McpError):
            await connecting
        assert server.state == "closed"
        assert not any(map(lives, started(log)))
        with pytest.raises(McpError, match="it was closed"):
            await server.connect()

    drive(body)

"""The link alone, with a server of a few lines in the same loop: bounds that a process would reach only slowly."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.ext.mcp.link import Link
from agenyx.ext.mcp.model import McpError
from agenyx.ext.mcp.wire import RpcError
from agenyx.proc.duplex import Full


class Peer:
    """A link whose bytes are kept; `say` answers."""

    def __init__(self, limit: int = 1 << 20) -> None:
        self.sent: list[dict[str, Any]] = []
        self.heard: list[str] = []
        self.ends: list[str] = []
        self.full = False
        self.gate = asyncio.Event()
        self.link = Link(limit, self.take, self.handle, lambda method, _: self.heard.append(method), self.ends.append)

    def take(self, data: bytes) -> None:
        if self.full:
            raise Full
        assert data.endswith(b"\n") and data.count(b"\n") == 1
        self.sent.append(json.loads(data))

    async def handle(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "wait":
            await self.gate.wait()
        if method == "bug":
            raise ZeroDivisionError
        if method == "no":
            raise RpcError(-32601, "no such thing")
        return {"method": method}

    def say(self, *messages: Any) -> None:
        self.link.feed(b"".join(json.dumps(one).encode() + b"\n" for one in messages))

    def ask(self, timeout: float = 20, **more: Any) -> asyncio.Future[Any]:
        return asyncio.ensure_future(self.link.request("m", {}, timeout, **more))


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def test_answers_find_their_requests_in_any_order_and_in_lists():
    async def main():
        peer = Peer()
        first, second, third = peer.ask(), peer.ask(), peer.ask()
        await settled()
        one, two, three = (sent["id"] for sent in peer.sent)
        peer.say([{"id": two, "result": {"n": 2}}, {"id": one, "result": {"n": 1}}])
        peer.say({"id": three, "error": {"code": 5, "message": "bad"}}, {"id": one, "result": {"n": 9}})
        assert (await first, await second) == ({"n": 1}, {"n": 2})
        with pytest.raises(RpcError, match="bad"):
            await third

    asyncio.run(main())


@pytest.mark.parametrize("error", [{}, None, "x", {"code": "x", "message": 7}, {"code": True}])
def test_errors_without_sense(error):
    async def main():
        peer = Peer()
        asked = peer.ask()
        await settled()
        peer.say({"id": peer.sent[0]["id"], "error": error})
        with pytest.raises(RpcError, match="an error without words") as caught:
            await asked
        assert caught.value.code == 0

    asyncio.run(main())


def test_requests_of_the_server_are_all_answered():
    async def main():
        peer = Peer()
        peer.say(
            {"id": "a", "method": "ping"},
            {"id": 1, "method": "no"},
            {"id": 2, "method": "bug"},
            {"id": [3], "method": "odd"},
            {"method": "notifications/x"},
        )
        await settled()
        by_id = {sent["id"]: sent for sent in peer.sent}
        assert by_id["a"]["result"] == {"method": "ping"}
        assert by_id[1]["error"] == {"code": -32601, "message": "no such thing"}
        assert by_id[2]["error"]["code"] == -32603
        assert peer.heard == ["odd", "notifications/x"]

    asyncio.run(main())


def test_too_many_requests_of_the_server_and_one_that_it_takes_back():
    async def main():
        peer = Peer()
        peer.say(*({"id": n, "method": "wait"} for n in range(12)))
        await settled()
        assert [sent["error"]["message"] for sent in peer.sent] == ["too many requests"] * 4
        peer.say({"method": "notifications/cancelled", "params": {"requestId": 0}})
        peer.gate.set()
        await settled()
        assert sorted(sent["id"] for sent in peer.sent[4:]) == [1, 2, 3, 4, 5, 6, 7]

    asyncio.run(main())


def test_the_end_fails_everything_once():
    async def main():
        peer = Peer()
        asked = peer.ask()
        await settled()
        peer.link.end("it ended")
        peer.link.end("again")
        with pytest.raises(McpError, match="it ended") as caught:
            await asked
        assert caught.value.unsure and peer.ends == ["it ended"]
        with pytest.raises(McpError, match="it ended"):
            await peer.ask()
        peer.link.notify("notifications/x")
        peer.say({"id": 1, "result": {}})

    asyncio.run(main())


def test_a_server_that_does_not_read_and_a_request_that_is_too_long():
    async def main():
        peer = Peer(limit=1000)
        with pytest.raises(McpError, match="the request has"):
            await peer.link.request("m", {"x": "y" * 2000}, 1)
        assert not peer.link.why
        peer.full = True
        with pytest.raises(McpError, match="it does not read what it is sent"):
            await peer.ask()
        assert peer.ends == ["it does not read what it is sent"]

    asyncio.run(main())


def test_large_answers_are_no_noise_but_what_nobody_asked_for_is():
    async def main():
        peer = Peer(limit=4 << 20)
        for _ in range(10):
            asked = peer.ask()
            await settled()
            peer.say({"id": peer.sent[-1]["id"], "result": {"x": "y" * (3 << 20)}})
            await asked
        assert not peer.link.why
        for _ in range(5):
            peer.say({"id": 77, "result": {"x": "y" * (3 << 20)}})
        assert peer.link.why == "it sent more than 8 MiB that nobody asked for"

    asyncio.run(main())


def test_progress_without_sense_is_passed_over():
    async def main():
        peer, heard = Peer(), []
        asked = peer.ask(on_progress=heard.append)
        await settled()
        token = peer.sent[0]["params"]["_meta"]["progressToken"]
        for params in (
            {"progressToken": "other", "progress": 1},
            {"progressToken": [token], "progress": 1},
            {"progressToken": token, "progress": "1"},
            {"progressToken": token},
            None,
        ):
            peer.say({"method": "notifications/progress", "params": params})
        assert heard == []
        peer.say({"method": "notifications/progress", "params": {"progressToken": token, "progress": 1, "total": "x"}})
        assert (heard[0].done, heard[0].total, heard[0].message) == (1.0, None, "")
        asked.cancel()

    asyncio.run(main())


ANY = st.recursive(
    st.none() | st.booleans() | st.integers(0, 4) | st.floats(allow_nan=False) | st.sampled_from(["ping", "wait", "a"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["requestId", "progressToken", "progress", "code", "message"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
METHODS = st.sampled_from(
    ["notifications/progress", "notifications/cancelled", "notifications/tools/list_changed", "no"]
)
FIELDS = {"id": ANY, "method": METHODS | ANY, "params": ANY, "result": ANY, "error": ANY, "jsonrpc": ANY}
MESSAGE = st.fixed_dictionaries({}, optional=FIELDS)


@given(st.lists(MESSAGE | st.lists(MESSAGE, max_size=3) | ANY, max_size=8), st.binary(max_size=50))
def test_whatever_a_server_sends_breaks_nothing(messages, junk):
    async def main():
        peer = Peer()
        asked = [peer.ask(on_progress=lambda progress: None) for _ in range(2)]
        await settled()
        peer.link.feed(junk.replace(b"\n", b" ") + b"\n")
        peer.say(*messages)
        await settled()
        assert not peer.link.why
        peer.link.end("over")
        await asyncio.gather(*asked, return_exceptions=True)

    asyncio.run(main(), debug=False)

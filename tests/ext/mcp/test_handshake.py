"""Agreeing on a revision, with answers as servers give them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agenyx.ext.mcp.handshake import MODERN, OLDER, Agreed, agree
from agenyx.ext.mcp.model import McpError
from agenyx.ext.mcp.wire import RpcError

UNKNOWN = RpcError(-32601, "Method not found")
LATE = McpError("it did not answer", timed_out=True)
NEW = {"supportedVersions": [MODERN], "capabilities": {"tools": {"listChanged": True}}}
OLD = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}


def settle(*answers: Any, probe: bool = True) -> tuple[Agreed, list[str]]:
    """What is agreed on when the requests get these answers, and what was said."""
    left, said = list(answers), list[str]()

    async def request(method: str, params: dict[str, Any], timeout: float) -> dict[str, Any]:
        said.append(method)
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    agreed = asyncio.run(agree(request, said.append, {"name": "agenyx"}, {}, 30.0, probe))
    assert not left
    return agreed, said


def unsupported(*versions: str) -> RpcError:
    return RpcError(-32022, "unsupported", {"supported": list(versions), "requested": MODERN})


def test_a_new_server_needs_one_question():
    agreed, said = settle(NEW)
    assert (agreed.revision, agreed.modern, said) == (MODERN, True, ["server/discover"])
    assert agreed.has("tools") and agreed.tells("tools") and not agreed.has("prompts")


@pytest.mark.parametrize("first", [UNKNOWN, RpcError(0, "?"), RpcError(-32600, "not initialized"), LATE])
def test_an_older_one_is_asked_again(first):
    agreed, said = settle(first, OLD)
    assert (agreed.revision, agreed.modern, agreed.title) == ("2025-06-18", False, "s 1")
    assert said == ["server/discover", "initialize", "notifications/initialized"]


@pytest.mark.parametrize("first", [{}, {"supportedVersions": ["2025-11-25"]}, {"supportedVersions": "x"}])
def test_an_answer_to_the_probe_without_our_revision_is_an_older_server(first):
    assert settle(first, OLD)[0].revision == "2025-06-18"


def test_a_probe_that_was_answered_too_late_is_made_again():
    agreed, said = settle(LATE, unsupported(MODERN), NEW)
    assert agreed.modern and said == ["server/discover", "initialize", "server/discover"]


def test_no_common_revision():
    with pytest.raises(McpError, match="it speaks only 2027-01-01 of MCP"):
        settle(unsupported("2027-01-01"))
    assert settle(unsupported("2027-01-01", OLDER[0]), OLD)[0].revision == "2025-06-18"
    with pytest.raises(McpError, match=r"it speaks revision 2027-01-01 of MCP"):
        settle(UNKNOWN, {"protocolVersion": "2027-01-01"})
    with pytest.raises(McpError, match=r"it speaks revision \? of MCP"):
        settle(UNKNOWN, {"protocolVersion": 7})


def test_a_refusal_is_told():
    with pytest.raises(McpError, match="it refused to initialize: no licence"):
        settle(UNKNOWN, RpcError(-1, "no\nlicence"))


def test_one_that_ended_is_not_asked_further():
    with pytest.raises(McpError, match="it ended"):
        settle(McpError("it ended"))


def test_without_a_probe():
    assert settle(OLD, probe=False)[1] == ["initialize", "notifications/initialized"]


def test_what_a_server_says_about_itself_is_cut_and_visible():
    agreed, _ = settle({**NEW, "instructions": "a\x1b" + "x" * 20_000, "serverInfo": {"name": "n\n\u202e"}})
    assert agreed.instructions.startswith("a\\x1bx") and len(agreed.instructions) <= 8192
    assert agreed.title == "n \\u202e"

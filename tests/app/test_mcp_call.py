"""The dispatcher: whose call it is, and what it refuses to be."""

from __future__ import annotations

import json

import pytest

from agenyx.app.mcp_call import McpCall, meant
from agenyx.core import json as ours
from agenyx.tools.registry import Registry, parse_args
from agenyx.tools.spec import Outcome, describe


def make(met: list[str] | None = None) -> McpCall:
    return McpCall(lambda name: Outcome.ok(f"about {name}"), (met if met is not None else []).append)


@pytest.mark.parametrize(
    ("given", "args"),
    [
        ({"arguments": {"text": "hey"}}, {"text": "hey"}),
        ({"arguments": '{"text": "hey"}'}, {"text": "hey"}),
        ({"arguments": None}, {}),
        ({"arguments": ""}, {}),
        ({}, {}),
        ({"describe": False, "arguments": {"a": 1}}, {"a": 1}),
    ],
)
def test_its_call_is_that_of_the_tool(given: dict[str, object], args: dict[str, object]) -> None:
    met: list[str] = []
    name, text = Registry([make(met)]).resolve("mcpcall", json.dumps({"tool": "mcp__a__b", **given}))  # type: ignore[list-item]
    assert (name, json.loads(text)) == ("mcp__a__b", args) and met == ["mcp__a__b"]


def test_a_call_that_asks_for_a_description_stays_its_own() -> None:
    registry, args = Registry([make()]), json.dumps({"tool": "mcp__a__b", "describe": True})  # type: ignore[list-item]
    assert registry.resolve("McpCall", args) == ("McpCall", args)
    assert parse_args(make(), args) is not None  # type: ignore[arg-type]


@pytest.mark.parametrize("given", ["", "[]", "{}", '{"tool": 7}', '{"tool": "Bash", "arguments": {}}', "{"])
def test_it_stands_for_nothing_but_tools_of_servers(given: str) -> None:
    with pytest.raises(ours.JsonError):
        make().unwrap(given)


def test_it_takes_few_bytes_in_a_request() -> None:
    assert len(ours.encode(describe(make()))) < 700  # type: ignore[arg-type]


def test_a_hidden_tool_is_found_and_not_told_of() -> None:
    registry = Registry([make()])  # type: ignore[list-item]
    tool = make()
    tool.name, tool.hidden = "mcp__a__b", True  # type: ignore[attr-defined, misc]
    registry.add(tool)  # type: ignore[arg-type]
    assert registry.find("mcp__a__B") is tool
    assert registry.names() == ["McpCall"] and registry.hidden() == ["mcp__a__b"]
    assert [spec.name for spec in registry.specs()] == ["McpCall"]


def test_people_are_told_the_tool_that_is_meant() -> None:
    assert meant("McpCall", '{"tool": "mcp__a__b"}') == "mcp__a__b"
    assert meant("McpCall", "{") == "McpCall" and meant("Bash", '{"tool": "mcp__a__b"}') == "Bash"

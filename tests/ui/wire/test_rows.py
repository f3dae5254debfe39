"""Each row of what hosts reject (protocols.md §1.8): what must be in a record is there in every one that is written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.raw_server import RawServer
from support.wire_host import Host, Record, calls, says

FLAGS = ("--include-partial-messages", "--include-hook-events", "--replay-user-messages", "--allowedTools=Bash")
Members = Callable[[Record], bool]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    """All records of a stream with text, calls, a refusal, a slash command, a failure and an interrupt."""
    folder = tmp_path_factory.mktemp("rows")
    script = [calls("Bash", command="echo hi"), calls("Write", file_path="a", content="x"), says()]
    with RawServer(script) as server, Host(folder, server, *FLAGS) as host:
        host.initialize()
        host.prompt("go")
        host.result()
        host.prompt("/cost")
        host.result()
        host.request("set_permission_mode", mode="plan")
        host.prompt("", uuid="019a0000-0000-7000-8000-000000000001")
        host.result()
        host.close()
        host.end()
    return host.seen


def blocks(record: Record) -> list[dict[str, Any]]:
    content = record["message"]["content"]
    return content if isinstance(content, list) else []


def has(*names: str) -> Members:
    return lambda one: all(name in one for name in names)


def well_said(one: Record) -> bool:
    needs = {"text": ("text",), "thinking": ("thinking", "signature"), "tool_use": ("id", "name", "input")}
    whole = all(name in block for block in blocks(one) for name in needs[block["type"]])
    return isinstance(one["message"]["content"], list) and bool(one["message"]["model"]) and whole


def well_answered(one: Record) -> bool:
    return all("tool_use_id" in block for block in blocks(one) if block["type"] == "tool_result")


RESULT = ("subtype", "duration_ms", "duration_api_ms", "is_error", "num_turns", "session_id")
ROWS: dict[str, tuple[str, Members]] = {
    "any": ("", has("type")),
    "system/*": ("system", has("subtype", "uuid", "session_id")),
    "system/init": (
        "system/init",
        has("cwd", "session_id", "tools", "mcp_servers", "model", "permissionMode", "slash_commands", "apiKeySource",
            "claude_code_version", "output_style", "skills", "plugins", "agents", "capabilities", "uuid"),
    ),
    "assistant": ("assistant", well_said),
    "user": ("user", well_answered),
    "stream_event": ("stream_event", has("uuid", "session_id", "event")),
    "result": ("result", has(*RESULT, "uuid", "usage", "total_cost_usd", "modelUsage", "permission_denials")),
}  # fmt: skip
NEVER = ("task_started", "task_progress", "task_notification", "task_updated", "rate_limit_event", "conversation_reset")


@pytest.mark.parametrize("row", ROWS)
def test_what_a_row_demands_is_in_every_record(seen: list[Record], row: str) -> None:
    kind, well = ROWS[row]
    found = [
        one for one in seen if kind in ("", one["type"], f"{one['type']}/{one.get('subtype')}" if "/" in kind else None)
    ]
    assert found, row
    assert [one for one in found if not well(one)] == []


@pytest.mark.parametrize("kind", NEVER)
def test_records_that_demand_more_are_not_written(seen: list[Record], kind: str) -> None:
    """There is no task that a host has to track, so that nothing it waits for can fail to come."""
    assert kind not in {one["type"] for one in seen} | {one.get("subtype") for one in seen}


def test_a_version_stands_first_as_hosts_look_for_it(seen: list[Record]) -> None:
    first = next(one for one in seen if one.get("subtype") == "init")
    assert [part.isdigit() for part in first["claude_code_version"].split(".")] == [True] * 3


def test_no_line_is_too_long_for_a_host(tmp_path: Path) -> None:
    """Python hosts give up at 1,048,576 characters."""
    script = [calls("Bash", command="head -c 3000000 /dev/zero | tr '\\0' x"), says("x" * 900_000)]
    with RawServer(script) as server, Host(tmp_path, server, "--allowedTools=Bash") as host:
        host.prompt("go")
        host.result()
    assert max(len(json.dumps(one)) for one in host.seen) < 1_048_576

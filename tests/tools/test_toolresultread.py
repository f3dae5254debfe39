"""ToolResultRead pages what was put aside: every byte once, whole characters, and only results of this session."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any, cast

import pytest

from agenyx.core.messages import Assistant, Step, Text, ToolCall, ToolResult, User
from agenyx.tools.registry import parse_args
from agenyx.tools.spec import Context, Outcome
from agenyx.tools.toolresultread import ToolResultRead, spill_of

TOOL = ToolResultRead()


@pytest.fixture
def read(tmp_path: Path):
    path = tmp_path / "spill"

    def run(args: str, content: bytes | None = None, result_chars: int = 50_000) -> Outcome:
        if content is not None:
            path.write_bytes(content)
        nothing = cast(Any, None)
        found = {"call_1": str(path)}.get
        ctx = Context(nothing, {}, nothing, nothing, lambda _: None, result_chars=result_chars, spilled=found)
        return asyncio.run(TOOL.run(cast(Any, parse_args(TOOL, args)), ctx))

    return run


def said(outcome: Outcome) -> str:
    return "".join(getattr(block, "text", "") for block in outcome.content)


@pytest.mark.parametrize("limit", [1, 2, 3, 5, 1000])
def test_pages_give_everything_in_whole_characters(read: Any, limit: int) -> None:
    content = "aé€🙂 ende\n" * 3
    whole, offset, pages = "", 0, 0
    read('{"tool_use_id": "call_1"}', content.encode())
    while True:
        # A limit below the size of a character still makes progress.
        text = said(read(f'{{"tool_use_id": "call_1", "offset": {offset}, "limit": {limit}}}'))
        body, _, note = text.rpartition("\n")
        whole += body
        pages += 1
        following = re.search(r"continue with offset=(\d+)\]", note)
        if following is None:
            assert note.endswith("end of the result]")
            break
        assert int(following[1]) > offset
        offset = int(following[1])
    if limit >= 5:
        assert whole == content
    assert pages >= 36 // limit // 2


def test_what_was_not_put_aside_and_what_is_gone(read: Any, tmp_path: Path) -> None:
    assert "No result of the call '../x' was put aside" in said(read('{"tool_use_id": "../x"}'))
    outcome = read('{"tool_use_id": "call_1"}')
    assert outcome.status == "error" and "Make the call again" in said(outcome)
    assert "lies behind its end" in said(read('{"tool_use_id": "call_1", "offset": 9}', b"abc"))


def test_a_page_fits_into_a_result(read: Any) -> None:
    text = said(read('{"tool_use_id": "call_1", "limit": 100000}', b"x" * 200_000, 2000))
    assert len(text) <= 2000 and "continue with offset=1800]" in text


def test_bytes_that_are_no_text_are_escaped(read: Any) -> None:
    assert said(read('{"tool_use_id": "call_1"}', b"a\xff\xfeb")).startswith("a\\xff\\xfeb\n[bytes 0-4 of 4;")


@pytest.mark.parametrize("args", ['{"tool_use_id": "a", "limit": 0}', '{"tool_use_id": "a", "offset": -1}', "{}"])
def test_wrong_arguments(args: str) -> None:
    with pytest.raises(ValueError):
        parse_args(TOOL, args)


def step(id: str, wire: str, spill: str | None) -> Step:
    call = ToolCall(id, wire, "Bash", "{}")
    return Step(Assistant((call,), "calls"), (ToolResult(id, "ok", (Text("x"),), spill),))


def test_results_are_found_by_either_id_the_latest_first() -> None:
    entries = (User((Text("go"),), "typed", "p"), step("c1", "w", "/a"), step("c2", "w", "/b"), step("c3", "v", None))
    assert spill_of(entries, "c1") == "/a"
    assert spill_of(entries, "w") == "/b"
    assert spill_of(entries, "v") is None
    assert spill_of(entries, "/a") is None

"""Tools that lean on the session, in a real conversation: results put aside, commands in the background."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.messages import Assistant, Step
from agenyx.llm.request import Request
from support.conversation import open_scripted
from support.scripted import call, calls, say


@pytest.fixture
def play(tmp_path: Path):
    """Run a script of model answers in a conversation; gives the texts of all results."""
    (tmp_path / "work").mkdir()

    def run(*script: Any) -> list[str]:
        async def main() -> list[str]:
            conversation, session = open_scripted([*script, say("done")], tmp_path / "home", tmp_path / "work")
            try:
                async with asyncio.timeout(50):
                    await conversation.prompt("go")
            finally:
                await conversation.close()
            steps = [entry for entry in session.state.entries if isinstance(entry, Step)]
            return [result.text for step in steps for result in step.results]

        return asyncio.run(main())

    return run


def test_a_long_output_is_paged_by_the_id_in_its_note(play: Any) -> None:
    def read_on(request: Request) -> Assistant:
        (result,) = next(entry for entry in request.entries if isinstance(entry, Step)).results
        found = re.search(r"ToolResultRead with tool_use_id (\S+?)\]", result.text)
        assert found, result.text[-500:]
        return calls(call("ToolResultRead", tool_use_id=found[1], offset=100_000))

    texts = play(
        calls(call("Bash", "w1", command="seq 1 60000")),
        read_on,
        calls(call("ToolResultRead", tool_use_id="w1", limit=10)),
    )
    whole = "".join(f"{number}\n" for number in range(1, 60_001))
    assert texts[1].startswith(whole[100_000:130_000])
    assert texts[2].startswith("1\n2\n3\n4\n5\n") and "continue with offset=10]" in texts[2]


def test_a_command_in_the_background_lives_from_step_to_step_and_ends_with_the_session(
    play: Any, tmp_path: Path
) -> None:
    texts = play(
        calls(call("Bash", command="echo $$ >pid; echo up; exec sleep 600", run_in_background=True)),
        calls(call("Bash", command="until [ -s pid ]; do sleep 0.05; done")),
        calls(call("BashOutput", task_id="b1", block=False)),
        calls(call("TodoWrite", todos=[{"content": "x", "status": "pending"}])),
    )
    assert "task_id b1" in texts[0] and "[b1 is running" in texts[2] and "1 item" in texts[3]
    pid = int((tmp_path / "work" / "pid").read_text("utf-8"))
    assert not Path(f"/proc/{pid}").exists()

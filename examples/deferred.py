"""Calls that wait: the run ends, and another process answers, today or another day. The model is not asked again.

python deferred.py            begins, and prints the session where a call waits
python deferred.py SESSION    answers yes and goes on; `agenyx approvals list` shows such a call as well
"""

import asyncio
import sys
from pathlib import Path

from agenyx import Agent, tool


@tool(writes="path")
def publish(path: Path, text: str) -> str:
    """Publishes a text as a file of the workspace."""
    path.write_text(text, "utf-8")
    return f"published {path.name}"


agent = Agent(tools=[publish], builtin_tools=[])  # without an approver, what would be asked waits


async def begin() -> None:
    result = await agent.run("Publish the text 'Hello' as news.txt with the tool.")
    for approval in result.waiting:
        print(f"{approval.id} waits: {approval.verdict.text}")
    print(f"session {result.session_id}")


async def go_on(name: str) -> None:
    async with agent.session(resume=name) as session:
        for approval in session.waiting:
            await session.answer(approval, "allow")
        result = await session.resume()
        print(result.text)


asyncio.run(go_on(sys.argv[1]) if len(sys.argv) > 1 else begin())

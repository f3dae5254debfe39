"""One prompt, the answer as it comes, and what it cost. Run it in any directory: python hello.py"""

import asyncio

from agenyx import Agent
from agenyx.events import TextDelta


async def main() -> None:
    run = Agent().run("Say in one sentence what is in this directory.")
    async for event in run:
        if isinstance(event.body, TextDelta) and not event.agent:
            print(event.body.text, end="", flush=True)
    result = run.result.check()  # raises RunError unless it is done
    tokens = f"{result.usage.given} tokens in, {result.usage.out} out" if result.usage else "no token counts"
    print(f"\n[{result.steps} steps, {tokens}, session {result.session_id}]")


asyncio.run(main())

"""Several turns in one session: a plan first, then the change, then a copy that goes another way."""

import asyncio

from agenyx import Agent


async def main() -> None:
    agent = Agent(mode="plan")
    async with agent.session() as session:
        print((await session.prompt("How would you add a file notes.txt with one line? Do not do it yet.")).text)
        session.set_mode("acceptEdits")
        done = await session.prompt("Now do it.")
        print(done.text)
        print(f"{session.usage.given if session.usage else 0} tokens were sent in session {session.id}")
    async with agent.session(resume=done.session_id, fork=True) as copy:
        print((await copy.prompt("What did you write?")).text)


asyncio.run(main())

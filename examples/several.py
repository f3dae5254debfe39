"""Several agents at once, each with what it may do; they share nothing but the program."""

import asyncio
import sys

from agenyx import Agent, Result

QUESTIONS = {
    "tests": "Which parts of this directory have no tests? One sentence.",
    "names": "Which name in this directory is hard to understand? One sentence.",
    "docs": "What is missing in the documentation here? One sentence.",
}


async def ask(question: str) -> Result[None]:
    return await Agent(mode="plan", builtin_tools=["Read", "Glob", "Grep"], max_steps=20).run(question)


async def main() -> int:
    results = await asyncio.gather(*map(ask, QUESTIONS.values()))
    for name, result in zip(QUESTIONS, results, strict=True):
        print(f"{name}: {result.text if result.ok else result.message}")
    return 0 if all(result.ok for result in results) else 1


sys.exit(asyncio.run(main()))

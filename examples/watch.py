"""All that happens in a run, as lines: what the model says, each call with its result, warnings, the end."""

import asyncio

from agenyx import Agent, events


def line(body: events.Body) -> str:
    match body:
        case events.TurnStarted(prompt, model, mode):
            return f"> {prompt}  ({model}, mode {mode})"
        case events.CallAccepted(call):
            return f"* {call.name} {call.args}"
        case events.CallFinished(result, name, seconds):
            return f"  {name} {result.status} after {seconds:.1f} s: {result.text[:60]!r}"
        case events.Retrying(attempt, limit, _, reason):
            return f"! attempt {attempt} of {limit}: {reason}"
        case events.Notice(_, text, fix):
            return f"! {text} {fix}"
        case events.TurnFinished(outcome, text, steps):
            return f"= {outcome.kind} after {steps} steps: {text}"
        case _:
            return ""


async def main() -> None:
    async for event in Agent(mode="plan").run("Which files are here? Look, then name the largest."):
        if told := line(event.body):
            print(told)


asyncio.run(main())

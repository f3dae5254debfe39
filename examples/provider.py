"""A provider of one's own: here one without any model, that reads README.md and says how it begins."""

from collections.abc import AsyncIterator

from agenyx import Agent
from agenyx.providers import Assistant, Done, ModelEvent, Request, Step, Text, TextDelta, ToolCall, Usage


class Reader:
    binding = "reader-1"  # sessions go on only with a provider of the same binding

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        last = request.entries[-1]
        if not isinstance(last, Step):
            yield Done(Assistant((ToolCall("", "1", "Read", '{"file_path": "README.md"}'),), "calls"))
            return
        text = f"It begins with: {last.results[0].text.splitlines()[0]}"
        yield TextDelta(0, text)
        yield Usage(fresh=len(request.entries), out=1)
        yield Done(Assistant((Text(text),), "end"))

    async def close(self) -> None:
        pass


print(Agent(provider=Reader()).run_sync("How does the README begin?").text)

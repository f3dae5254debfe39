"""A provider that plays a script. The next answer is read from the request, so that a new process goes on right."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

from msgspec.structs import replace

from agenyx.core import json
from agenyx.core.events import Done, Failure, ModelEvent, Started, TextDelta, Usage
from agenyx.core.messages import Assistant, Step, Text, ToolCall
from agenyx.llm.request import Request

Turn = Assistant | Failure | Callable[[Request], Assistant]


def say(text: str, stop: str = "end") -> Assistant:
    return Assistant((Text(text),), stop)  # type: ignore[arg-type]


def call(name: str, wire_id: str = "", /, **args: object) -> ToolCall:
    return ToolCall("", wire_id or f"w{name}", name, json.encode(args).decode())


def calls(*made: ToolCall, text: str = "") -> Assistant:
    blocks = ((Text(text),) if text else ()) + made
    return Assistant(blocks, "calls")


class Scripted:
    """Answers request number n of the conversation with `script[n]`; says so when the script is over."""

    binding = "scripted"

    def __init__(self, script: Sequence[Turn]) -> None:
        self.script = list(script)
        self.requests: list[Request] = []

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        done = sum(isinstance(entry, Step) for entry in request.entries)
        self.requests.append(replace(request, entries=tuple(request.entries)))
        turn = self.script[done] if done < len(self.script) else say("The script is over.")
        if isinstance(turn, Failure):
            yield turn
            return
        assistant = turn if isinstance(turn, Assistant) else turn(request)
        yield Started(f"resp_{done}", "scripted-model")
        if assistant.text:
            yield TextDelta(0, assistant.text)
        yield Usage(fresh=10, out=5)
        yield Done(assistant)

    async def close(self) -> None:
        pass

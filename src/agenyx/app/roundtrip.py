"""One tool round-trip with a model: it is asked to call a tool, gets the result and answers. It is measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from agenyx.core import json
from agenyx.core.events import CallDraft, Done, Failure, ReasoningDelta, Retrying, TextDelta
from agenyx.core.messages import Assistant, Entry, Step, Text, ToolCall, ToolResult, User
from agenyx.core.tools import ToolSpec
from agenyx.llm.request import Options, Provider, Request

WORD = "periwinkle"
TOOL = ToolSpec(
    "Lookup",
    "Looks a word up. Call it whenever you are asked to look something up.",
    {
        "type": "object",
        "properties": {"word": {"type": "string", "description": "The word to look up."}},
        "required": ["word"],
        "additionalProperties": False,
    },
)
# As plain as it can be said: what fails here shall be the tool call, not the reading of the request.
PROMPT = f"Call the Lookup tool with the word {WORD}, then say in one short sentence what it found."
SYSTEM = "You have one tool, Lookup. When the user asks to look something up, call it first, then answer."


class Trip(Struct, frozen=True):
    """What came of it. Times in seconds; `first` until the first event of text, thinking or a call.

    `pieces` counts those events of the first response, all that one read brought being one. `called` says that
    the tool was called, `parsed` that its arguments were the wanted JSON, `answered` that the result was taken up.
    """

    first: float
    total: float
    pieces: int
    called: bool
    parsed: bool
    answered: bool
    failure: Failure | None = None


async def round_trip(
    provider: Provider, model: str, options: Options, clock: Callable[[], float] = time.monotonic
) -> Trip:
    """Two requests at most. Does not raise for what the provider answers."""
    begun = clock()
    prompt = User((Text(PROMPT),))
    first, pieces, assistant, failure = await _respond(provider, model, options, [prompt], clock, begun)
    if assistant is None or not assistant.calls:
        return Trip(first, clock() - begun, pieces, False, False, False, failure)
    calls = tuple(replace(call, id=f"call_{index}") for index, call in enumerate(assistant.calls))
    parsed = any(call.name == TOOL.name and _parsed(call.args) for call in calls)
    step = Step(_with(assistant, calls, provider.binding), tuple(_result(call) for call in calls))
    _, _, answer, failure = await _respond(provider, model, options, [prompt, step], clock, begun)
    answered = answer is not None and bool(answer.text.strip())
    return Trip(first, clock() - begun, pieces, True, parsed, answered, failure)


async def _respond(
    provider: Provider, model: str, options: Options, entries: list[Entry], clock: Callable[[], float], begun: float
) -> tuple[float, int, Assistant | None, Failure | None]:
    first, pieces = 0.0, 0
    async for event in provider.stream(Request(model, options, (TOOL,), (SYSTEM,), entries, "doctor")):
        match event:
            case TextDelta() | ReasoningDelta() | CallDraft():
                pieces += 1
                first = first or clock() - begun
            case Retrying():
                pieces = 0
            case Done(assistant):
                return first or clock() - begun, pieces, assistant, None
            case Failure():
                return first or clock() - begun, pieces, None, event
            case _:
                pass
    return first, pieces, None, Failure("protocol", "the provider ended without an answer", "Try again.")


def _parsed(args: str) -> bool:
    try:
        value: Any = json.decode(args)
    except json.JsonError:
        return False
    return isinstance(value, dict) and isinstance(cast("dict[str, Any]", value).get("word"), str)


def _result(call: ToolCall) -> ToolResult:
    return ToolResult(call.id, "ok", (Text(f"{WORD}: a small plant with blue flowers"),))


def _with(assistant: Assistant, calls: tuple[ToolCall, ...], binding: str) -> Assistant:
    rest = iter(calls)
    blocks = tuple(next(rest) if isinstance(block, ToolCall) else block for block in assistant.blocks)
    return replace(assistant, blocks=blocks, binding=binding)

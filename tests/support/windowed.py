"""A model server with a context window: it counts what it is sent, keeps a cache, and refuses what is too long."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

from msgspec.structs import replace

from agenyx.agent.budget import Meter
from agenyx.agent.context import Choice
from agenyx.agent.prune import kept
from agenyx.agent.room import Room
from agenyx.core.events import Done, Failure, ModelEvent, Started, TextDelta, Usage
from agenyx.core.messages import Assistant, Step, User
from agenyx.llm.anthropic_encode import strip_marks
from agenyx.llm.chat_encode import ChatEncoder
from agenyx.llm.dialects import OPENAI
from agenyx.llm.encode import Encoder
from agenyx.llm.request import Request
from support.parts import Parts
from support.scripted import say

CHARS = 4  # a token


def is_summary(request: Request) -> bool:
    """Whether a request asks for a summary and not for the next step."""
    last = request.entries[-1]
    return isinstance(last, User) and "Stop here for a moment" in last.text


def shared(one: bytes, other: bytes) -> int:
    """How many bytes both begin with."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    return next(at for at in range(most) if one[at] != other[at])


class Windowed:
    """`answer` makes the next response; `summary` what it writes when it is asked for one, None for a failure."""

    binding = "windowed"

    def __init__(
        self,
        window: int,
        answer: Callable[[Request], Assistant],
        summary: Callable[[Request], Assistant | None] = lambda request: say("SUMMED UP"),
        make: Callable[[], Encoder] = lambda: ChatEncoder(OPENAI),
    ) -> None:
        self.window, self._answer, self._summary, self._make = window, answer, summary, make
        self._encoder = make()
        self.requests: list[Request] = []
        self.bodies: list[bytes] = []
        self.refused = 0

    @property
    def summaries(self) -> list[Request]:
        return [request for request in self.requests if is_summary(request)]

    async def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        body = self._encoder.encode(request)
        assert body == self._make().encode(request)
        body = strip_marks(body)
        before = self.bodies[-1] if self.bodies else b""
        self.requests.append(replace(request, entries=tuple(request.entries)))
        self.bodies.append(body)
        tokens = len(body) // CHARS
        if tokens > self.window:
            self.refused += 1
            yield Failure("overflow", f"{tokens} tokens are more than {self.window}", "Shorten it.")
            return
        made = self._summary(request) if is_summary(request) else self._answer(request)
        if made is None:
            yield Failure("server", "no summary today")
            return
        yield Started("r", "windowed")
        if made.text:
            yield TextDelta(0, made.text)
        cached = shared(before[:-2], body) // CHARS
        yield Usage(fresh=tokens - cached, cache_read=cached, out=len(made.text) // CHARS + 1)
        yield Done(made)

    async def close(self) -> None:
        pass


def roomy(parts: Parts, window: int | None, spill: Any = None, choice: Choice = Choice(), pages: bool = True) -> Room:
    """Gives the engine of `parts` what keeps it within a window of so many tokens."""
    engine: Any = parts.engine
    engine._room = Room(
        parts.session,
        engine._ports,
        engine._emit,
        Meter(),
        lambda used: window,
        lambda: None,
        lambda call, text: kept(str(spill), call, text) if spill else None,
        pages,
        choice,
    )
    return engine._room


def results(request: Request) -> list[str]:
    """The texts of all results in a request."""
    return [result.text for entry in request.entries if isinstance(entry, Step) for result in entry.results]

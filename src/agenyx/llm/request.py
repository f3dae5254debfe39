"""What a provider is asked, and what a provider is. Adapters encode the fields in this order, entries last."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

from msgspec import Struct

from agenyx.core.events import ModelEvent
from agenyx.core.messages import Ability, Entry, Media
from agenyx.core.tools import ToolSpec


class Options(Struct, frozen=True):
    """Sampling and size. They stand at the head of the request, so they are fixed for a session.

    `max_output` in tokens, None for the server's limit; `effort` is a reasoning effort, "" for the server's default.
    """

    temperature: float | None = None
    max_output: int | None = None
    effort: str = ""


def _none(_media: Media) -> bytes | None:
    return None


class Request(Struct, frozen=True):
    """One request. `prefix_id` names the stored head (options, tools, system): equal ids, equal heads.

    `sees` is what the model can be shown; `media` gives the bytes of it, None where they are gone.
    """

    model: str
    options: Options
    tools: tuple[ToolSpec, ...]
    system: tuple[str, ...]
    entries: Sequence[Entry]
    prefix_id: str = ""
    sees: tuple[Ability, ...] = ()
    media: Callable[[Media], bytes | None] = _none


class Provider(Protocol):
    """A configured model server. `binding` is the fingerprint that responses are stamped with."""

    binding: str

    def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """Ends with exactly one Done or Failure. Cancelling the consumer closes the connection."""
        ...

    async def close(self) -> None: ...

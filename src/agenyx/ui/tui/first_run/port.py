"""What the steps of a first run ask of whoever shows them. Knows no toolkit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from msgspec import Struct

T = TypeVar("T")


class Choice(Struct, frozen=True):
    """`name` is what is given back; `label` and `text` are shown."""

    name: str
    label: str
    text: str = ""


class Ready(Struct, frozen=True):
    """What a conversation is to begin with. `told` is what the person should read about it."""

    provider: str
    model: str = ""
    told: str = ""


class Stopped(Exception):
    """The person did not wait for it."""


class Shows(Protocol):
    """Each returns when the person has answered. None means Esc: one step back."""

    async def choose(self, title: str, choices: Sequence[Choice], note: str = "") -> str | None: ...
    async def enter(
        self, title: str, label: str, *, hidden: bool = False, text: str = "", note: str = ""
    ) -> str | None:
        """A text on one line; a hidden one is not shown while it is typed."""
        ...

    async def busy(self, text: str, work: Callable[[Callable[[str], None]], Awaitable[T]]) -> T:
        """Show the text while `work` runs; it may give others. Raises what it raised, Stopped when the person did."""
        ...

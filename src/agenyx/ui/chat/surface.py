"""Where a conversation is shown and typed into: a screen, an editor below text, or plain lines.

The loop knows only this: a board to write to and a surface to wake.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from agenyx.core.events import AgentEvent
from agenyx.ui.chat.talk import Talk


class Board(Protocol):
    """What stands in the conversation. Texts may hold anything: it makes them safe, or who draws from it does."""

    def apply(self, event: AgentEvent) -> None: ...
    def typed(self, text: str, *, steer: bool = False) -> None:
        """The input of the person, as it was sent."""
        ...

    def say(self, text: str, style: str = "") -> None:
        """Words of the program."""
        ...

    def complain(self, message: str, fix: str = "") -> None: ...
    def restart(self, talk: Talk) -> None:
        """This conversation goes on from here: a board that is not only added to shows its history."""
        ...

    def diff(self, text: str) -> None: ...


class Driver(Protocol):
    """What a surface calls, always from the loop's thread."""

    hint: str
    status: str

    @property
    def running(self) -> bool: ...
    @property
    def queued(self) -> Collection[str]: ...
    def submit(self, text: str, images: Sequence[str] = (), *, keyed: bool = True) -> None:
        """`images` are paths of what the model is to be shown; `keyed`: typed, so that `!` runs a command."""
        ...

    def withdraw(self, index: int = -1) -> str | None:
        """Take an input that waits out of the queue, None when it is gone."""
        ...

    def steer(self, text: str) -> bool: ...
    def interrupt(self) -> None: ...
    def leave(self) -> None: ...


class Surface(Protocol):
    """`columns` is the width for text; `echoes`: what is typed stands on the screen without our help."""

    @property
    def columns(self) -> int: ...
    @property
    def echoes(self) -> bool: ...
    def changed(self) -> None:
        """Something new stands on the board, or the figures or the hint are others: to be drawn soon."""
        ...

    def ready(self) -> None:
        """The next input is wanted: nothing runs."""
        ...

    def take_back(self, text: str) -> None:
        """Put text that was queued back in front of what is being typed."""
        ...

    def paint(self, theme: str) -> bool:
        """Use the colours of a theme from now on. False where there are none."""
        ...

    async def flush(self) -> None:
        """Return when everything shown is written. Raises AgenyxError when the terminal is gone."""
        ...

"""Where the REPL is shown and typed into: an editor on a terminal, or plain lines. The loop knows only this."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from agenyx.ui.spans import Line


class Driver(Protocol):
    """What a surface calls, always from the loop's thread."""

    hint: str
    status: str

    @property
    def running(self) -> bool: ...
    @property
    def queued(self) -> Collection[str]: ...
    def live(self, rows: int) -> list[Line]: ...
    def submit(self, text: str) -> None: ...
    def steer(self, text: str) -> bool: ...
    def interrupt(self) -> None: ...
    def leave(self) -> None: ...


class Surface(Protocol):
    """`columns` is the width for text; `echoes`: what is typed stands on the screen without our help."""

    @property
    def columns(self) -> int: ...
    @property
    def echoes(self) -> bool: ...
    def show(self, lines: list[Line]) -> None:
        """Write finished lines, once each, soon."""
        ...

    def changed(self) -> None:
        """The live part is to be drawn again, soon."""
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

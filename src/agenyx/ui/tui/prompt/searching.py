"""Searching earlier inputs: letters narrow a list, the marked input is shown below it, and goes into the box."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from textual import events

from agenyx.ui.chat.fuzzy import closeness
from agenyx.ui.tui.prompt import graphemes as g
from agenyx.ui.tui.prompt.menu import Item, Menu

TITLE = "search earlier inputs:"
SHOWN = 100
_PREVIEW = 4  # rows
_LOOKED = 2_000  # characters of an input that are searched
_FAR = 40  # letters further apart than that in all are no match


class Searching:
    """`entries` gives the inputs, the oldest first; `take` gets the one that is chosen."""

    def __init__(self, menu: Menu, entries: Callable[[], Sequence[str]], take: Callable[[str], None]) -> None:
        self._menu, self._entries, self._take = menu, entries, take
        self.open = False
        self._typed = ""
        self._found: list[str] = []
        self._task: asyncio.Task[None] | None = None

    def start(self, typed: str = "") -> None:
        """Open the list with these letters to begin with."""
        self.open, self._typed = True, typed
        self._search()

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None
        if self.open:
            self.open = False
            self._menu.close()

    def accept(self) -> None:
        """Take the marked input."""
        at, found = self._menu.at, self._found
        self.close()
        if at < len(found):
            self._take(found[at])

    def move(self, by: int) -> None:
        self._menu.move(by)
        self._preview()

    def type(self, event: events.Key) -> bool:
        """Change the letters; every other key is swallowed too while the list is open."""
        match event.key:
            case "backspace" | "ctrl+h":
                self._typed = self._typed[: g.before(self._typed, len(self._typed))]
            case "ctrl+u" | "ctrl+w":
                self._typed = ""
            case _ if event.is_printable and event.character:
                self._typed += g.without_units(event.character)
            case _:
                return False
        self._search()
        return True

    def paste(self, text: str) -> None:
        self._typed += " ".join(text[:200].split())
        self._search()

    def _search(self) -> None:
        if self._task is not None:
            self._task.cancel()
        entries = list(self._entries())
        if len(entries) < 200:
            self._show(matching(self._typed, entries))
        else:
            self._task = asyncio.get_running_loop().create_task(self._beside(self._typed, entries))

    async def _beside(self, typed: str, entries: list[str]) -> None:
        self._show(await asyncio.to_thread(matching, typed, entries))

    def _show(self, found: list[str]) -> None:
        self._found = found
        self._menu.show([Item(str(n), _row(text)) for n, text in enumerate(found)], title=TITLE, typed=self._typed)
        self._preview()

    def _preview(self) -> None:
        at = self._menu.at
        lines = self._found[at][:_LOOKED].split("\n") if at < len(self._found) else []
        if len(lines) > 1:
            more = [f"… {len(lines) - _PREVIEW + 1} more lines"] if len(lines) > _PREVIEW else []
            self._menu.preview = [*lines[: _PREVIEW - len(more)], *more]
        else:
            self._menu.preview = [] if self._found else ["nothing was typed like that"]
        self._menu.refresh(layout=True)


def _row(text: str) -> str:
    return " ".join(text[:300].split())


def matching(typed: str, entries: Sequence[str]) -> list[str]:
    """The inputs that hold what was typed, the newest first; then those that hold its letters close together."""
    wanted = typed.lower()
    sure, near = list[str](), list[tuple[int, int, str]]()
    for age, text in enumerate(reversed(entries)):
        if wanted in (folded := text[:_LOOKED].lower()):
            sure.append(text)
            if len(sure) == SHOWN:
                return sure
        elif (score := closeness(wanted, folded)) is not None and score <= _FAR:
            near.append((score, age, text))
    return [*sure, *(text for _, _, text in sorted(near))][:SHOWN]

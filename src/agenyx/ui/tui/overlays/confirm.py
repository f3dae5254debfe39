"""One question of the program itself, with yes and no. It is no approval: those have a panel of their own."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen

from agenyx.core.tty import safe
from agenyx.ui.spans import Line, line, wrap
from agenyx.ui.tui.asking.ears import DEAF, Ears
from agenyx.ui.tui.sheet import Foot, Sheet, app_of

Make = Callable[[int], Sequence[Line]]


class Confirm(ModalScreen[bool]):
    """`text` may hold anything. y says yes, a moment after it stands there; n, Enter, Esc and Ctrl+C say no."""

    DEFAULT_CSS = """
    Confirm { align: center middle; }
    Confirm > Vertical {
        width: 94%; max-width: 110; height: auto; border: heavy $warning; background: $surface; padding: 0 1;
    }
    """

    def __init__(self, title: str, text: str | Make, yes: str = "yes", *, deaf: float = DEAF) -> None:
        super().__init__()
        self._title_text, self._yes = title, yes
        self._make: Make = _plain(text) if isinstance(text, str) else text
        self._ears = Ears(time.monotonic, deaf)
        self._sheet = Sheet(self._rows_of, drawn=self._ears.open)
        self._sheet.can_focus = True

    def compose(self) -> ComposeResult:
        with Vertical():
            yield self._sheet
            yield Foot(self._foot)

    def on_mount(self) -> None:
        self._sheet.focus()
        self.fit_rows()

    def on_resize(self) -> None:
        self.fit_rows()

    def fit_rows(self) -> None:
        """All of it where there is room, else what fits, to scroll."""
        columns, lines = app_of(self).size
        width = self._sheet.size.width or max(min(columns * 94 // 100, 110) - 4, 10)
        room = max(lines - 4 - len(self._foot(width)), 1)
        self._sheet.styles.height = max(min(len(self._sheet.rows_at(width)), room), 1)

    def on_key(self, event: events.Key) -> None:
        event.stop()
        event.prevent_default()
        match event.key:
            case "y" | "Y":
                if self._ears.counts:
                    self.dismiss(True)
            case "n" | "N" | "enter" | "escape" | "ctrl+c" | "ctrl+d":
                self.dismiss(False)
            case "up" | "down":
                self._sheet.move(1 if event.key == "down" else -1)
            case "pageup" | "pagedown" | "space":
                self._sheet.page(-1 if event.key == "pageup" else 1)
            case "home":
                self._sheet.move_to(0)
            case "end":
                self._sheet.end()
            case _:
                pass

    def _rows_of(self, width: int) -> list[Line]:
        return [*wrap(line(safe(self._title_text), "title"), width), (), *self._make(width), ()]

    def _foot(self, width: int) -> list[Line]:
        return wrap((("key", "[y]"), ("", f" {self._yes}   "), ("key", "[n]"), ("", " no (Enter)")), max(width - 1, 10))


def _plain(text: str) -> Make:
    def rows(width: int) -> list[Line]:
        return [piece for row in safe(text).split("\n") for piece in wrap(line(row), width, "  ")]

    return rows

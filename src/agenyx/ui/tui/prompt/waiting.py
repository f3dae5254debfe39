"""What stands above the prompt: the inputs that wait for the running turn to end, and a word about what is typed."""

from __future__ import annotations

from rich.segment import Segment
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from agenyx.core.tty import safe
from agenyx.ui.spans import cells
from agenyx.ui.tui.keymap import Keymap
from agenyx.ui.tui.prompt.colours import style
from agenyx.ui.tui.prompt.graphemes import graphemes
from agenyx.ui.tui.prompt.sources import Waits

MOST = 3  # rows


class Waiting(Widget):
    """Takes no row while nothing waits and there is no `note`. `update` after any change."""

    ALLOW_SELECT = False

    def __init__(self, driver: Waits, keymap: Keymap, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._driver, self._key = driver, keymap.shown("edit-queued")
        self._rows: list[str] = []
        self.note = ""

    def on_mount(self) -> None:
        self.display = False

    def update(self) -> None:
        queued = list(self._driver.queued)
        rows = [f"queued: {clipped(_line(text), 60)}" for text in queued[:MOST]]
        if len(queued) > MOST:
            rows[-1] = f"queued: {len(queued) - MOST + 1} more"
        if rows and self._key:
            rows[-1] += f"  ({self._key} edits)"
        if self.note:
            rows.append(self.note)
        if rows == self._rows:
            return
        taller = len(rows) != len(self._rows)
        self._rows, self.display = rows, bool(rows)
        self.refresh(layout=taller)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._rows)

    def render_line(self, y: int) -> Strip:
        base, width = self.rich_style, self.content_size.width
        if y >= len(self._rows):
            return Strip.blank(width, base)
        text = clipped(self._rows[y], width)
        return Strip([Segment(text, base + style(self, "dim"))]).adjust_cell_length(width, base)


def _line(text: str) -> str:
    return " ".join(text[:2_000].split())


def clipped(text: str, width: int) -> str:
    """The begin of a text, safe, at most `width` columns."""
    text = safe(text)
    if cells(text) <= width:
        return text
    cut, used = "", 0
    for piece in graphemes(text):
        size = cells(piece)
        if used + size > width - 1:
            break
        cut, used = cut + piece, used + size
    return cut + "…" if width > 0 else ""

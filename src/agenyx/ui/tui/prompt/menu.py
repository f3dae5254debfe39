"""The list above the prompt: what could be meant, one entry marked, and what is shown of it. Draws; decides nothing."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from rich.segment import Segment
from textual import events
from textual.geometry import Offset, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from agenyx.ui.spans import cells
from agenyx.ui.tui.prompt.colours import app_of, style
from agenyx.ui.tui.prompt.waiting import clipped

MOST = 8  # entries that are seen at once


class Item(Struct, frozen=True):
    """`value` is what is taken; `label` is shown, and `text` behind it."""

    value: str
    label: str
    text: str = ""


class Menu(Widget):
    """Shown while `open`. `title` is a row above the entries; `typed` is text that is typed into it, None for none."""

    ALLOW_SELECT = False

    class Chosen(Message):
        """An entry was clicked."""

        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.items: Sequence[Item] = ()
        self.at = 0
        self.title = ""
        self.typed: str | None = None
        self.preview: list[str] = []
        self._top = 0

    def on_mount(self) -> None:
        self.display = False

    @property
    def open(self) -> bool:
        return bool(self.display)

    @property
    def chosen(self) -> Item | None:
        return self.items[self.at] if 0 <= self.at < len(self.items) else None

    def show(self, items: Sequence[Item], *, title: str = "", typed: str | None = None, at: int = 0) -> None:
        """Show these entries; the one that was marked stays marked where `at` is -1 and it is still there."""
        kept = self.chosen.value if at < 0 and self.chosen else None
        self.items, self.title, self.typed = items, title, typed
        self.at = next((n for n, item in enumerate(items) if item.value == kept), 0) if at < 0 else at
        self.preview = []
        self.display = True
        self._drawn()

    def close(self) -> None:
        if self.display:
            self.display = False
            self.items, self.at, self._top, self.typed, self.preview = (), 0, 0, None, []
            self.refresh(layout=True)

    def move(self, by: int) -> None:
        """Mark another entry; beyond an end goes on at the other, but not by pages."""
        count = len(self.items)
        if not count:
            return
        self.at = (self.at + by) % count if abs(by) == 1 else max(0, min(self.at + by, count - 1))
        self._drawn()

    def _drawn(self) -> None:
        rows = self._room
        self._top = min(max(self._top, self.at - rows + 1), self.at, max(len(self.items) - rows, 0))
        self.refresh(layout=True)

    @property
    def _room(self) -> int:
        """Entries that are seen at once."""
        return max(min(MOST, app_of(self).size.height // 3 - (1 if self.title else 0)), 2)

    @property
    def _count(self) -> int:
        return min(len(self.items), self._room)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return (1 if self.title else 0) + self._count + len(self.preview)

    def render_line(self, y: int) -> Strip:
        base, width = self.rich_style, self.content_size.width
        if self.title:
            if y == 0:
                return self._head(width)
            y -= 1
        if y < self._count:
            return self._entry(y + self._top, width)
        y -= self._count
        text = clipped(f"  {self.preview[y]}", width) if y < len(self.preview) else ""
        return Strip([Segment(text, base + style(self, "dim"))]).adjust_cell_length(width, base)

    def _head(self, width: int) -> Strip:
        base = self.rich_style
        title = clipped(self.title, width)
        parts = [Segment(title, base + style(self, "title"))]
        if self.typed is not None:
            room = width - cells(title) - 2
            query = self.typed if cells(self.typed) <= room else "…" + self.typed[-max(room // 2, 1) :]
            parts += [Segment(" ", base), Segment(query, base), Segment(" ", base + style(self, "selected"))]
            region = self.content_region
            app_of(self).cursor_position = Offset(region.x + cells(title) + 1 + cells(query), region.y)
        return Strip(parts).adjust_cell_length(width, base)

    def _entry(self, index: int, width: int) -> Strip:
        item, base = self.items[index], self.rich_style
        marked = index == self.at
        mark = "> " if marked else "  "
        look = base + style(self, "selected" if marked else "")
        label = clipped(item.label, max(width - 2, 0))
        parts = [Segment(mark + label, look)]
        room = width - 2 - cells(label) - 2
        if item.text and room > 8:
            gap = max(24 - cells(label), 2)
            gap = gap if room - gap > 8 else 2
            text = " " * gap + clipped(item.text, room - gap + 2)
            parts.append(Segment(text, look if marked else base + style(self, "dim")))
        return Strip(parts).adjust_cell_length(width, look if marked else base)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        row = offset.y - (1 if self.title else 0)
        if 0 <= row < self._count:
            event.stop()
            self.post_message(self.Chosen(row + self._top))

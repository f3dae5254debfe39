"""The rows that are typed into: draws the text and the caret, turns editing keys into changes of it.

Knows no conversation: what is sent, recalled and looked up is the box around it.
"""

from __future__ import annotations

from collections.abc import Callable

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Offset, Size
from textual.strip import Strip
from textual.widget import Widget

from agenyx.ui.intake import pasted, typed
from agenyx.ui.tui.prompt.buffer import Buffer
from agenyx.ui.tui.prompt.colours import app_of, style
from agenyx.ui.tui.prompt.editing import EDITS
from agenyx.ui.tui.prompt.graphemes import without_units
from agenyx.ui.tui.prompt.rows import Cell, Rows
from agenyx.ui.tui.prompt.units import Units

LEAD = 2  # columns before the text
_REVERSE = Style(reverse=True)


class Editor(Widget, can_focus=True):
    """`before` is asked about each key first; what it takes is not edited with. `paste` gets what was pasted.

    `changed` is called when the text or the place of the caret is another one.
    """

    ALLOW_SELECT = False

    def __init__(
        self,
        before: Callable[[events.Key], bool],
        paste: Callable[[str], None],
        changed: Callable[[], None],
        *,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self.buffer, self.units = Buffer(), Units()
        self.lead, self.lead_style, self.hint = "> ", "prompt", ""
        self.caret = True  # drawn here; False while something else is typed into
        self._before, self._paste, self._changed = before, paste, changed
        self._rows: tuple[tuple[int, int], Rows] | None = None
        self._top = 0  # the first row that is seen
        self._shown = (-1, -1, -1)

    # --- rows --------------------------------------------------------------------------------------------------------

    @property
    def rows(self) -> Rows:
        """The text in rows, as wide as there is room."""
        return self._laid(self.content_size.width or 80)

    def _laid(self, width: int) -> Rows:
        key = (self.buffer.version, width)
        if self._rows is None or self._rows[0] != key:
            self._rows = (key, Rows(self.buffer.text, max(width - LEAD - 1, 4), self.units.labels))
        return self._rows[1]

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many rows as there are, up to a third of the screen."""
        return min(len(self._laid(width)), self.most)

    @property
    def most(self) -> int:
        return max(app_of(self).size.height // 3, 1)

    def update(self) -> None:
        """The text, the caret or the lead is another one: have it drawn, and say so."""
        rows = self.rows
        row, _ = rows.place(self.buffer.at)
        height = min(len(rows), self.most)
        self._top = min(max(self._top, row - height + 1), row, max(len(rows) - height, 0))
        self.refresh(layout=height != self.content_size.height)
        now = (self.buffer.version, self.buffer.at, len(self.lead))
        if now != self._shown:
            self._shown = now
            self._changed()

    def on_resize(self) -> None:
        self.update()

    def render_line(self, y: int) -> Strip:
        rows, row = self.rows, y + self._top
        base, width = self.rich_style, self.content_size.width
        lead = Segment(self.lead if row == 0 else " " * LEAD, base + style(self, self.lead_style))
        if row >= len(rows):
            return Strip([lead]).adjust_cell_length(width, base)
        at_row, at_column = rows.place(self.buffer.at)
        begin, end = self.buffer.selection
        segments = [lead]
        caret = self.has_focus and self.caret and row == at_row
        drawn = False
        for cell in rows.cells(row):
            here = self._style_of(base, cell, begin, end)
            if caret and cell.at == self.buffer.at:
                here, drawn = here + _REVERSE, True
            segments.append(Segment(cell.shown, here))
        if caret and not drawn:
            segments.append(Segment(" ", base + _REVERSE))
        if self.hint and not self.buffer.text:
            segments.append(Segment(self.hint, base + style(self, "dim")))
        if caret:
            region = self.content_region
            app_of(self).cursor_position = Offset(region.x + LEAD + at_column, region.y + y)
        return Strip(segments).adjust_cell_length(width, base).simplify()

    def _style_of(self, base: Style, cell: Cell, begin: int, end: int) -> Style:
        if begin <= cell.at < end:
            return base + style(self, "selected")
        return base + style(self, "code" if cell.unit else "")

    # --- keys --------------------------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        if self._before(event) or self._edit(event.key) or self._type(event):
            event.stop()
            event.prevent_default()

    def _edit(self, key: str) -> bool:
        """Change the text by an editing key; False for other keys."""
        match key:
            case "up" | "shift+up":
                self.vertical(-1, select=key != "up")
            case "down" | "shift+down":
                self.vertical(1, select=key != "down")
            case "ctrl+d" if not self.buffer.text:
                return False
            case _ if (edit := EDITS.get(key)) is not None:
                edit(self.buffer)
            case _:
                return False
        self.update()
        return True

    def _type(self, event: events.Key) -> bool:
        char = event.character
        if char is None or not (event.is_printable or (len(char) == 1 and ord(char) >= 0x80)):
            return False
        if any(held in event.key.split("+")[:-1] for held in ("ctrl", "alt", "super", "hyper", "meta")):
            return False
        self.insert(char)
        return True

    def insert(self, text: str) -> None:
        """Type text, as it comes from a keyboard."""
        clean = without_units(pasted(typed(text)))
        if clean:
            self.buffer.insert(clean)
            self.update()

    def vertical(self, by: int, *, select: bool = False) -> bool:
        """Go rows up or down. False where there is none: then the caret goes to the end of that row."""
        rows, buffer = self.rows, self.buffer
        row, column = rows.place(buffer.at)
        goal = column if buffer.goal is None else buffer.goal
        inside = 0 <= row + by < len(rows)
        buffer.move(rows.offset(row + by, goal), select=select)
        buffer.goal = goal
        self.update()
        return inside

    def at_edge(self, by: int) -> bool:
        """Whether the caret stands in the first row, or with `by` 1 in the last."""
        rows = self.rows
        row, _ = rows.place(self.buffer.at)
        return row == (0 if by < 0 else len(rows) - 1)

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._paste(without_units(pasted(typed(event.text))))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None:
            self.buffer.move(self.rows.offset(offset.y + self._top, max(offset.x - LEAD, 0)))
            self.update()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, -1)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, 1)

    def _wheel(self, event: events.MouseEvent, by: int) -> None:
        if len(self.rows) > self.content_size.height:
            event.stop()
            self.vertical(by)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

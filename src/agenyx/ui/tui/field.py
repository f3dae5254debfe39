"""A small text field: what is typed in questions and lists. Enter and Esc are left to whoever asks.

What cannot be seen is shown as escapes. The terminal's own cursor stands at the caret, for input methods.
"""

from __future__ import annotations

from collections.abc import Callable

from textual import events
from textual.geometry import Offset, Size
from textual.strip import Strip
from textual.widget import Widget

from agenyx.ui.intake import pasted, typed
from agenyx.ui.tui.prompt import graphemes as g
from agenyx.ui.tui.prompt.buffer import Buffer
from agenyx.ui.tui.prompt.rows import Rows
from agenyx.ui.tui.sheet import app_of, painter_of


class Field(Widget, can_focus=True):
    """`changed` is called after each change of the text. With `lines` the text may have several."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "Field { height: auto; }"

    def __init__(
        self, changed: Callable[[], None] = lambda: None, *, label: str = "", lines: bool = False, id: str | None = None
    ) -> None:
        super().__init__(id=id)
        self._on_changed, self.label, self.lines = changed, label, lines
        self._buffer = Buffer()
        self._top = 0

    @property
    def text(self) -> str:
        return typed(self._buffer.text)

    def set(self, text: str, *, label: str = "", lines: bool = False) -> None:
        """Begin with this text, with nothing to undo."""
        self._buffer, self.label, self.lines, self._top = Buffer(text), label, lines, 0
        self._show()

    def rows(self, width: int) -> Rows:
        return Rows(self._buffer.text, max(width - len(self.label) - 1, 2), {})

    # --- the toolkit -------------------------------------------------------------------------------------------------

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.rows(width))

    def render_line(self, y: int) -> Strip:
        width, height = self.size.width, self.size.height
        rows, painter = self.rows(width), painter_of(self)
        row, column = rows.place(self._buffer.at)
        self._top = max(min(self._top, row, len(rows) - height), row - height + 1, 0)
        at = self._top + y
        lead = self.label if at == 0 else " " * len(self.label)
        spans = [("key", lead)]
        if at < len(rows):
            used = 0
            for cell in rows.cells(at):
                spans.append(("caret" if at == row and used == column and self.has_focus else "", cell.shown))
                used += cell.width
            if at == row and used <= column and self.has_focus:
                spans.append(("caret", " "))
        return painter.strip(tuple(spans), width)

    def _show(self) -> None:
        self.refresh(layout=True)
        if self.is_mounted:
            self.call_after_refresh(self._place)

    def _place(self) -> None:
        """Put the terminal's cursor where the caret is."""
        if self.has_focus and self.is_mounted:
            row, column = self.rows(self.size.width).place(self._buffer.at)
            inside = Offset(len(self.label) + column, max(row - self._top, 0))
            app_of(self).cursor_position = self.content_region.offset + inside

    def on_focus(self) -> None:
        self._show()

    def on_blur(self) -> None:
        self.refresh()

    def on_resize(self) -> None:
        self._place()

    def on_paste(self, event: events.Paste) -> None:
        event.stop()
        text = pasted(event.text)
        self._insert(text if self.lines else " ".join(text.split("\n")))

    def on_key(self, event: events.Key) -> None:
        buffer, before = self._buffer, self._buffer.version
        key = event.key
        if key in _MOVES:
            buffer.move(_MOVES[key](buffer.text, buffer.at))
        elif key in _CHANGES:
            _CHANGES[key](buffer)
        elif key in ("up", "down") and self.lines:
            rows = self.rows(self.size.width)
            row, column = rows.place(buffer.at)
            buffer.move(rows.offset(row + (1 if key == "down" else -1), column))
        elif self.lines and key == "ctrl+j":
            buffer.insert("\n")
        elif event.is_printable and event.character:
            buffer.insert(g.without_units(event.character))
        else:
            return
        event.stop()
        event.prevent_default()
        self._show()
        if buffer.version != before:
            self._on_changed()

    def newline(self) -> None:
        self._insert("\n")

    def _insert(self, text: str) -> None:
        if text:
            self._buffer.insert(g.without_units(text))
            self._show()
            self._on_changed()


def _word_left(buffer: Buffer) -> None:
    buffer.cut(g.blank_left(buffer.text, buffer.at), buffer.at, back=True)


_MOVES: dict[str, Callable[[str, int], int]] = {
    "left": g.before,
    "ctrl+b": g.before,
    "right": g.after,
    "ctrl+f": g.after,
    "home": g.line_start,
    "ctrl+a": g.line_start,
    "end": g.line_end,
    "ctrl+e": g.line_end,
    "ctrl+left": g.word_left,
    "alt+b": g.word_left,
    "ctrl+right": g.word_right,
    "alt+f": g.word_right,
}
_CHANGES: dict[str, Callable[[Buffer], object]] = {
    "backspace": Buffer.erase_back,
    "ctrl+h": Buffer.erase_back,
    "delete": Buffer.erase_forward,
    "ctrl+w": _word_left,
    "alt+backspace": _word_left,
    "ctrl+u": Buffer.cut_to_start,
    "ctrl+k": Buffer.cut_to_end,
    "ctrl+y": Buffer.yank,
    "ctrl+underscore": Buffer.undo,
}

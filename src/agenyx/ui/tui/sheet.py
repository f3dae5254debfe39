"""Rows of styled text that can be scrolled, with a mark of the place at the right. No cursor, no answer to clicks.

It tells when it stands on the screen, and whether its end has been shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from textual import events
from textual.app import App
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from agenyx.ui.spans import Line
from agenyx.ui.tui.colours import PREFIX, palette
from agenyx.ui.tui.transcript.paint import Painter

_WHEEL = 3  # rows
Make = Callable[[int], Sequence[Line]]
"""Rows for a width in columns, each of at most so many."""


def app_of(widget: Widget) -> App[object]:
    return cast("App[object]", widget.app)  # pyright: ignore[reportUnknownMemberType]


def theme_of(widget: Widget) -> str:
    """The name in settings.toml of the theme that is in use."""
    return app_of(widget).theme.removeprefix(PREFIX)


def painter_of(widget: Widget) -> Painter:
    """For what a widget draws itself, on its own background."""
    return Painter(palette(theme_of(widget)), widget.visual_style.rich_style)


class Sheet(Widget):
    """`show` gives it other rows; they are made anew for another width."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "Sheet { height: 1fr; }"

    def __init__(
        self,
        make: Make | None = None,
        *,
        drawn: Callable[[], None] = lambda: None,
        moved: Callable[[], None] = lambda: None,
        id: str | None = None,
    ) -> None:
        """`drawn` is called when the rows stand on the screen, first and after their width changed; `moved` when
        another part is shown, or the end was for the first time."""
        super().__init__(id=id)
        self._on_drawn, self._on_moved = drawn, moved
        self._make: Make = make or (lambda _: ())
        self._rows: Sequence[Line] = ()
        self._width = -1
        self.top = 0
        self.drawn = False
        self.seen = False  # the last row has stood on the screen

    # --- what is shown -----------------------------------------------------------------------------------------------

    def show(self, make: Make, *, keep: bool = False) -> None:
        """Other rows, from the first on; with `keep` at the place where it is."""
        self._make, self._width = make, -1
        if not keep:
            self.top, self.seen, self.drawn = 0, False, False
        self.refresh(layout=True)

    def rows_at(self, width: int) -> Sequence[Line]:
        """The rows for a width of the whole sheet; one column belongs to the mark at the right."""
        width = max(width - 1, 1)
        if width != self._width:
            share = self.top / len(self._rows) if self._rows else 0
            self._rows, self._width = self._make(width), width
            self.top = round(share * len(self._rows))
            self.drawn = False
        return self._rows

    @property
    def below(self) -> int:
        """Rows below the part that is shown."""
        return max(len(self._rows) - self.top - self.size.height, 0)

    # --- moving ------------------------------------------------------------------------------------------------------

    def move(self, rows: int) -> None:
        self.move_to(self.top + rows)

    def move_to(self, row: int) -> None:
        rows = self.rows_at(self.size.width) if self.size.width else self._rows
        top = max(min(row, len(rows) - self.size.height), 0)
        if top != self.top:
            self.top = top
            self.refresh()
            self._on_moved()

    def page(self, pages: int) -> None:
        self.move(pages * max(self.size.height - 1, 1))

    def reveal(self, first: int, last: int) -> None:
        """Have these rows on the screen."""
        if first < self.top:
            self.move_to(first)
        elif last >= self.top + self.size.height:
            self.move_to(last - self.size.height + 1)

    def end(self) -> None:
        self.move_to(len(self._rows))

    # --- the toolkit -------------------------------------------------------------------------------------------------

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self.rows_at(width))

    def render_line(self, y: int) -> Strip:
        width, height = self.size.width, self.size.height
        rows = self.rows_at(width)
        self.top = max(min(self.top, len(rows) - height), 0)
        at = self.top + y
        painter = painter_of(self)
        row: Line = rows[at] if at < len(rows) else ()
        self._mark(at, y, height)
        body = painter.strip(row, width - 1)
        return Strip.join([body, painter.strip(self._bar(y, height), 1)])

    def _mark(self, at: int, y: int, height: int) -> None:
        """Keep account of what is drawn."""
        if y == height - 1 and at + 1 >= len(self._rows) and not self.seen:
            self.seen = True
            self.call_after_refresh(self._on_moved)
        if not self.drawn:
            self.drawn = True
            self.call_after_refresh(self._on_drawn)

    def _bar(self, y: int, height: int) -> Line:
        count = len(self._rows)
        if count <= height:
            return ()
        size = max(height * height // count, 1)
        start = self.top * (height - size) // max(count - height, 1)
        ascii_ = getattr(app_of(self), "plain_signs", False)
        return (("key", "#" if ascii_ else "┃"),) if start <= y < start + size else (("dim", "|" if ascii_ else "│"),)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.move(_WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.move(-_WHEEL)


class Foot(Widget):
    """A few rows that somebody else makes."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "Foot { height: auto; }"

    def __init__(self, make: Make) -> None:
        super().__init__()
        self._make = make

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._make(width))

    def render_line(self, y: int) -> Strip:
        made = self._make(self.size.width)
        return painter_of(self).strip(made[y] if y < len(made) else (), self.size.width)

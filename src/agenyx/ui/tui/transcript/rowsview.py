"""The rows of a window on the screen: drawing, scrolling, selected text. Knows no key."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from textual import events
from textual.app import App
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from agenyx.ui.scene.scene import Scene
from agenyx.ui.spans import Glyphs, Line, plain
from agenyx.ui.tui.colours import PREFIX, palette
from agenyx.ui.tui.transcript.cursor import Cursor
from agenyx.ui.tui.transcript.finding import Search
from agenyx.ui.tui.transcript.paint import Painter, lit
from agenyx.ui.tui.transcript.render import Renderer
from agenyx.ui.tui.transcript.window import Window

MARGIN = 2  # columns at the left: the cursor, and a blank
WHEEL = 3  # rows
_KEPT = 300  # rows that were drawn
_SELECTED = 20_000  # rows of a selection that are copied
_SIZE = cast("Reactive[Size]", Widget.virtual_size)


class RowsView(ScrollView, can_focus=True, inherit_bindings=False):
    """`opened` tells of a key whether all of its block is shown."""

    DEFAULT_CSS = """
    RowsView { height: 1fr; overflow-x: hidden; overflow-y: scroll; scrollbar-size-vertical: 1; }
    """

    def __init__(self, scene: Scene, glyphs: Glyphs, opened: Callable[[int], bool], id: str | None) -> None:
        super().__init__(id=id)
        self.scene = scene
        self.renderer = Renderer(glyphs, opened, lambda: scene.pulse.clock())
        self.window = Window(scene, self.renderer)
        self.cursor = Cursor(self.window)
        self.search: Search | None = None
        self._painter: Painter | None = None
        self._strips: dict[int, tuple[Line, bool, Strip]] = {}  # by row, with what they were made of
        self._drawn: tuple[object, list[Line]] = (None, [])  # what the screen shows
        self._placing = False

    # --- drawing -----------------------------------------------------------------------------------------------------

    def render_lines(self, crop: Region) -> list[Strip]:
        """The rows of a part of the view. There is no border and no padding, so what the toolkit does for those, row by
        row, is left out."""
        filters, (_, background) = self.get_line_filters(), self.background_colors
        selection, focused = self.text_selection, self.has_focus
        strips: list[Strip] = []
        for y in crop.line_range:
            strip = self._strip(y, selection, focused)
            for filter in filters:
                strip = strip.apply_filter(filter, background)
            strips.append(strip if crop.column_span == (0, self.size.width) else strip.crop(*crop.column_span))
        return strips

    def render_line(self, y: int) -> Strip:
        """One row with its place in it, which is asked for where text is selected. It is not drawn: styles that
        differ in every row would fill the caches of the toolkit."""
        return self._strip(y, self.text_selection, self.has_focus).apply_offsets(0, self.window.top + y)

    def _strip(self, y: int, selection: Selection | None, focused: bool) -> Strip:
        painter, window = self._paint(), self.window
        width, row = self.size.width, window.top + y
        spans, key = window.row(row)
        marked = focused and bool(key) and key == self.cursor.key
        chosen = selection.get_span(row) if selection is not None else None
        plainly = self.search is None and chosen is None
        kept = self._strips.get(row)
        if kept is not None and plainly and kept[0] is spans and kept[1] == marked and kept[2].cell_length == width:
            strip = kept[2]
        else:
            lead = ("prompt", f"{self.renderer.signs.cursor} ") if marked else ("", " " * MARGIN)
            strip = painter.strip(self._marked((lead, *spans), chosen), width)
            if plainly:
                self._strips[row] = (spans, marked, strip)
                if len(self._strips) > _KEPT:
                    del self._strips[next(iter(self._strips))]
        if y == self.size.height - 1 and window.below:
            told = self._below(window.below)
            mark = painter.strip((("selected", told),), min(len(told), width))
            strip = Strip.join([strip.crop(0, max(width - len(told), 0)), mark])
        return strip

    def _marked(self, spans: Line, chosen: tuple[int, int] | None) -> Line:
        """With what is searched for and what is selected."""
        if self.search is not None:
            spans = lit(spans, self.search.places(plain(spans)), "found")
        if chosen is not None:
            end = len(plain(spans)) if chosen[1] == -1 else chosen[1]
            spans = lit(spans, [(chosen[0], end)], "chosen")
        return spans

    def _below(self, rows: int) -> str:
        return f" {self.renderer.signs.down} {rows:,} new line{'' if rows == 1 else 's'} below "

    def notify_style_update(self) -> None:
        """Other colours, or another theme."""
        super().notify_style_update()
        self._painter = None
        self._strips.clear()

    def _paint(self) -> Painter:
        if self._painter is None:
            theme = cast("App[object]", self.app).theme  # pyright: ignore[reportUnknownMemberType]
            chosen = self.screen.get_component_rich_style("screen--selection")
            self._painter = Painter(palette(theme.removeprefix(PREFIX)), self.visual_style.rich_style, chosen)
        return self._painter

    # --- where one looks ---------------------------------------------------------------------------------------------

    def place(self) -> None:
        """Show where the window looks."""
        size = Size(max(self.size.width, 1), self.window.total)
        self._placing = True
        if size != self.virtual_size:
            self.set_reactive(_SIZE, size)  # the rest of the screen need not be laid out for it
            self._scroll_update(size)
        self.scroll_target_y = self.scroll_y = self.window.top
        self._placing = False
        self._refresh_changed()

    def _refresh_changed(self) -> None:
        """Draw the rows that are others than before: what does not change costs a slow line nothing."""
        window, width = self.window, self.size.width
        beside = (self.cursor.key, self.search, window.below, width)
        rows = [window.row(window.top + y)[0] for y in range(self.size.height)]
        before, self._drawn = self._drawn, (beside, rows)
        if before[0] != beside or len(before[1]) != len(rows):
            self.refresh()
            return
        changed = [y for y, (old, new) in enumerate(zip(before[1], rows, strict=True)) if old is not new]
        if len(changed) > len(rows) // 2:
            self.refresh()
        elif changed:
            self.refresh(*(Region(0, y, width, 1) for y in changed))

    def look(self, change: Callable[[], object]) -> None:
        """Look elsewhere, by a change of the window."""
        added = self.scene.blocks.added
        change()
        self.cursor.shift(self.scene.blocks.added - added)
        self.place()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        row = round(new_value)
        if not self._placing and row != self.window.top:
            self.look(lambda: self.window.to(row))

    def on_resize(self) -> None:
        self.window.resize(self.scrollable_content_region.width - MARGIN, self.size.height)
        self.place()

    def page(self, pages: int) -> None:
        """Look so many pages down, or up."""
        self.look(lambda: self.window.move(pages * max(self.size.height - 2, 1)))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        event.prevent_default()
        self.look(lambda: self.window.move(WHEEL))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        event.prevent_default()
        self.look(lambda: self.window.move(-WHEEL))

    # --- selected text -----------------------------------------------------------------------------------------------

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The text of selected rows, without the margin."""
        first = selection.start.y if selection.start is not None else 0
        last = selection.end.y if selection.end is not None else self.window.total - 1
        rows: list[str] = []
        for row in range(first, min(last + 1, first + _SELECTED)):
            if (span := selection.get_span(row)) is not None:
                text = " " * MARGIN + plain(self.window.row(row)[0])
                rows.append(text[max(span[0], MARGIN) : len(text) if span[1] == -1 else span[1]].rstrip())
        return "\n".join(rows), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self.refresh()

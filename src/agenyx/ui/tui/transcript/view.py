"""The transcript: what keys and mouse do to it. Drawing is in `rowsview`, what is seen is decided in `window`.

Keys are those of the keymap's place "transcript"; they count while it has the focus.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any, cast

from textual import events
from textual.app import App
from textual.geometry import Offset
from textual.message import Message
from textual.widget import Widget

from agenyx.core.errors import AgenyxError
from agenyx.ui.scene.blocks import Block, Card, Mark, Thought, Typed
from agenyx.ui.scene.scene import Scene
from agenyx.ui.spans import Glyphs, plain
from agenyx.ui.tui.keymap import Keymap
from agenyx.ui.tui.transcript import copying
from agenyx.ui.tui.transcript.finding import FindBar, Search
from agenyx.ui.tui.transcript.plain import copied, text_of
from agenyx.ui.tui.transcript.rowsview import RowsView

Level = copying.Level
_ABOVE = 3  # rows above a place that was found


class TranscriptView(RowsView):
    """`refresh_scene` draws what changed in the scene; it costs little where nothing did."""

    class Told(Message):
        """Words for the person about what was done, such as a copy."""

        def __init__(self, text: str, level: Level = "info") -> None:
            super().__init__()
            self.text = text
            self.level: Level = level

    def __init__(self, scene: Scene, glyphs: Glyphs, keymap: Keymap | None = None, id: str | None = None) -> None:
        super().__init__(scene, glyphs, self.opened, id)
        self._keymap = keymap or Keymap()
        self._all = False
        self._flipped: set[int] = set()  # blocks that are not as `_all` says
        self._begun, self._changed = scene.begun, -1
        self._pressed: Offset | None = None
        window = self.window
        self._deeds: dict[str, Callable[[], object]] = {
            "previous": lambda: self.look(lambda: self.cursor.step(False)),
            "next": lambda: self.look(lambda: self.cursor.step(True)),
            "up": lambda: self.look(lambda: window.move(-1)),
            "down": lambda: self.look(lambda: window.move(1)),
            "top": lambda: self._go(window.to_start, self.cursor.first),
            "bottom": lambda: self._go(window.to_end, self.cursor.last),
            "toggle": self._toggle_here,
            "toggle-all": self.toggle_all,
            "copy": lambda: self._work(self.copy()),
            "open": lambda: self._work(self.open_in_editor()),
            "find": self.ask_for_search,
            "find-next": lambda: self._work(self._find(True)),
            "find-previous": lambda: self._work(self._find(False)),
        }

    def refresh_scene(self) -> None:
        """Take in what changed in the scene since the last time."""
        scene = self.scene
        if self._begun != scene.begun:
            self._begun = scene.begun
            self.cursor.set(0, 0)
            self.search = None
            self._flipped.clear()
        if self._changed != scene.changed or scene.pulse.since is not None or scene.pulse.children:
            self._changed = scene.changed
            self.window.sync()
            self.place()

    # --- keys and mouse ----------------------------------------------------------------------------------------------

    def on_key(self, event: events.Key) -> None:
        if deed := self._deeds.get(self._keymap.action("transcript", event.key)):
            event.stop()
            event.prevent_default()
            deed()

    def on_focus(self) -> None:
        self.cursor.begin()
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._pressed = event.offset

    def on_click(self, event: events.Click) -> None:
        """A click on a block chooses it; on the first row of one that opens it shows more or less."""
        window, row = self.window, self.window.top + event.y
        if event.offset != self._pressed:
            return  # text was selected
        if event.y == self.size.height - 1 and window.below:
            self.look(window.to_end)
        elif window.row(row)[1]:
            self.cursor.set(*window.place(row))
            if row == self.cursor.rows()[0] and _opens(self.cursor.block()):
                self.toggle(self.cursor.key)
            self.refresh()

    def _go(self, change: Callable[[], object], then: Callable[[], None]) -> None:
        self.look(change)
        then()
        self.refresh()

    def _here(self) -> Block | None:
        """The block that keys act on: one in view."""
        self.cursor.begin()
        return self.cursor.block()

    def _work(self, deed: Any) -> None:
        self.run_worker(deed, exclusive=True, group="transcript")

    # --- what is open ------------------------------------------------------------------------------------------------

    def opened(self, key: int) -> bool:
        """Whether all of a block is shown."""
        return (key in self._flipped) != self._all

    def toggle(self, key: int) -> None:
        """Show more or less of a block."""
        self._flipped ^= {key}
        self._anew()

    def toggle_all(self) -> None:
        """Show more or less of all blocks."""
        self._all = not self._all
        self._flipped.clear()
        self._anew()

    def _toggle_here(self) -> None:
        self.cursor.begin()
        if self.cursor.key:
            self.toggle(self.cursor.key)

    def _anew(self) -> None:
        """Draw all anew; the block of the cursor stays where it is seen."""
        window, cursor = self.window, self.cursor
        first = cursor.rows()[0] - window.top if cursor.valid() else -1
        self.renderer.forget()
        if 0 <= first < window.height:
            window.follows = window.follows and window.total <= window.height
            window.redraw(cursor.index, cursor.key, first)
        else:
            window.redraw()
        window.settle()
        self.place()

    # --- search ------------------------------------------------------------------------------------------------------

    def ask_for_search(self) -> None:
        """Show the line to type what is looked for."""
        parent = cast("Widget", self.parent)
        for bar in parent.query(FindBar):
            bar.focus()
            return

        def wanted(text: str) -> None:
            bar.remove()
            self.focus()
            self._work(self.search_for(text))

        bar = FindBar(wanted)
        parent.mount(bar, after=self)
        bar.focus()

    async def search_for(self, text: str) -> None:
        """Go to the nearest place of a text above; with "" mark nothing any more."""
        self.search = Search(self.window, text, self._open_found) if text else None
        self.refresh()
        await self._find(True)

    async def _find(self, up: bool) -> None:
        search = self.search
        if search is None:
            return
        before, found = search.at, await search.go(up)
        if self.scene.has_older and (found is None or found[2]):
            search.at = before
            await self._fetch(search)  # before it begins anew at the other end
            found = await search.go(up)
        if found is None:
            self._tell(f"“{search.text}” does not stand in the transcript.", "warning")
            return
        index, row, anew = found
        if anew:
            self._tell("The search went on from the other end.")

        def show() -> None:
            self.window.follows = False
            self.cursor.set(index, self.window.key_at(index, row))
            self.window.show(index, max(row - _ABOVE, 0), row + 1)

        self.look(show)

    async def _fetch(self, search: Search) -> None:
        """Have all older blocks, and what was found last where it is."""
        if (found := search.at) is not None:
            search.at = None
        while self.scene.has_older:
            added = self.scene.blocks.added
            self.look(lambda: (self.scene.more(), self.window.sync_front()))
            if found is not None:
                found = found[0] + self.scene.blocks.added - added, found[1]
            await asyncio.sleep(0)
        search.at = found

    def _open_found(self, index: int, block: Block) -> None:
        """What is found inside a closed block is shown."""
        if self.search is not None and _opens(block) and not self.opened(block.key):
            rows = self.window.rendered(index).rows
            if not any(self.search.places(plain(row)) for row in rows):
                self.toggle(block.key)

    # --- copies ------------------------------------------------------------------------------------------------------

    async def copy(self) -> None:
        """Copy what is selected, else the block of the cursor."""
        block = self._here()
        text = self.screen.get_selected_text() or (copied(block) if block is not None else "")
        if not text:
            self._tell("There is nothing to copy.", "warning")
            return
        driver = self._app()._driver  # pyright: ignore[reportPrivateUsage] - App.copy_to_clipboard knows no tmux
        write = None if driver is None or driver.is_headless else driver.write
        sent = copying.sequence(text, os.environ) if write is not None else ""
        if write is not None and sent:
            write(sent)
            self._tell(copying.told(text, os.environ))
        else:
            self._tell(*await asyncio.to_thread(copying.kept, text, os.environ))

    async def open_in_editor(self) -> None:
        """Show all of the cursor's block in the person's editor; what is changed there is not kept."""
        from agenyx.ui.tui.outside import edited

        block = self._here()
        if block is None:
            self._tell("There is nothing to open.", "warning")
            return
        try:
            await edited(self._app(), text_of(block), os.environ)
        except AgenyxError as error:
            self._tell(f"{error.message}. {error.fix}".strip(), "error")

    def _app(self) -> App[object]:
        return cast("App[object]", self.app)  # pyright: ignore[reportUnknownMemberType]

    def _tell(self, text: str, level: Level = "info") -> None:
        self.post_message(self.Told(text, level))


def _opens(block: Block | None) -> bool:
    """Whether there may be more of it than is shown."""
    return isinstance(block, Card | Thought | Mark | Typed)

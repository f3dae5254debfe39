"""A list to choose from: filtered by typing, the current entry marked, a preview where there is one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from msgspec import Struct

from agenyx.core.errors import AgenyxError
from agenyx.core.tty import safe
from agenyx.ui.spans import Line, cells, line
from agenyx.ui.tui.figures import clipped
from agenyx.ui.tui.keymap import Keymap
from agenyx.ui.tui.overlays.frame import Overlay
from agenyx.ui.tui.sheet import app_of

_PREVIEW_FROM = 20  # rows of the screen from which on the preview stands below the list
_PAUSE = 0.08  # seconds that the mark rests on an entry before its preview is made


class Entry(Struct, frozen=True):
    """`value` is what is chosen; `text` and `detail` may hold anything. `refused`: why it cannot be taken, or ""."""

    value: str
    text: str
    detail: str = ""
    current: bool = False
    refused: str = ""
    lead: str = ""


Load = Callable[[], Awaitable[Sequence[Entry]]]
Make = Callable[[int], Sequence[Line]]


class Picker(Overlay[str]):
    """The value that was chosen, or None. `marked` hears of each entry that the mark comes to; `own` makes an entry of
    what was typed where none fits; `preview` shows an entry, and is not asked for each that is passed by."""

    def __init__(
        self,
        title: str,
        entries: Sequence[Entry] | Load,
        keymap: Keymap,
        *,
        note: str = "",
        marked: Callable[[Entry], None] | None = None,
        own: Callable[[str], Entry] | None = None,
        preview: Callable[[Entry], Awaitable[Make]] | None = None,
    ) -> None:
        super().__init__(title, keymap)
        self._given, self._hint_text = entries, note
        self._marked, self._own, self._preview = marked, own, preview
        self._all: tuple[Entry, ...] = ()
        self.shown: tuple[Entry, ...] = ()
        self.at = 0
        self._showing: asyncio.Task[None] | None = None
        self._loading: asyncio.Task[None] | None = None
        self._looks = False  # the preview has the keys that scroll

    @property
    def entry(self) -> Entry | None:
        return self.shown[self.at] if self.at < len(self.shown) else None

    # --- filling -----------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        if callable(self._given):
            self.say("one moment")
            self._loading = asyncio.ensure_future(self._load(self._given))
        else:
            self.fill(self._given)
            self.say(self._hint_text)

    async def _load(self, load: Load) -> None:
        try:
            entries = await load()
        except AgenyxError as error:
            self.say(f"{error.message}. {error.fix}", "error")
            self.fill(())
            return
        except OSError as error:
            self.say(f"this cannot be listed: {error.strerror or error}", "error")
            return
        self.fill(entries)
        self.say(self._hint_text or ("" if entries else "there is nothing to choose from"))

    def again(self) -> None:
        """Load the entries anew; the mark stays on its place."""
        if callable(self._given):
            self._loading = asyncio.ensure_future(self._load(self._given))

    def fill(self, entries: Sequence[Entry]) -> None:
        self._all = tuple(entries)
        current = next((at for at, entry in enumerate(self._all) if entry.current), 0)
        self._filter(current if not self.field.text else 0)

    def typed(self) -> None:
        self._filter(0)

    def _filter(self, at: int) -> None:
        words = self.field.text.lower().split()
        kept = [one for one in self._all if all(word in f"{one.text} {one.detail}".lower() for word in words)]
        text = self.field.text.strip()
        if self._own is not None and text and all(one.value != text for one in kept):
            kept.append(self._own(text))
        self.shown = tuple(kept)
        self.at = max(min(at, len(kept) - 1), 0)
        self._draw()
        self._moved()

    # --- moving and taking -------------------------------------------------------------------------------------------

    def act(self, action: str) -> bool:
        if self._looks and self._scrolled(action):
            return True
        page = max(self.sheet.size.height - 1, 1)
        match action:
            case "pick-up":
                self._go(-1)
            case "pick-down":
                self._go(1)
            case "pick-page-up":
                self._go(-page)
            case "pick-page-down":
                self._go(page)
            case "pick-more" if self._preview is not None:
                self._looks = not self._looks
                self._fit()
                self.foot.refresh(layout=True)
            case "pick":
                self.take()
            case _:
                return False
        return True

    def take(self) -> None:
        entry = self.entry
        if entry is None:
            return
        if entry.refused:
            self.say(entry.refused, "error")
        else:
            self.dismiss(entry.value)

    def hints(self) -> Line:
        more = (("pick-more", "list" if self._looks else "preview"),) if self._preview is not None else ()
        return self.keymap.hints(("pick", "take"), *more, ("cancel", "close"))

    def _scrolled(self, action: str) -> bool:
        match action:
            case "pick-up":
                self.preview.move(-1)
            case "pick-down":
                self.preview.move(1)
            case "pick-page-up":
                self.preview.page(-1)
            case "pick-page-down":
                self.preview.page(1)
            case _:
                return False
        return True

    def _go(self, by: int) -> None:
        at = max(min(self.at + by, len(self.shown) - 1), 0)
        if at != self.at:
            self.at = at
            self._draw()
            self._moved()

    def _draw(self) -> None:
        entries, at = self.shown, self.at
        self.sheet.show(lambda width: _rows(entries, at, width), keep=True)
        self.fit_rows()
        self.sheet.reveal(at, at)

    def _moved(self) -> None:
        entry = self.entry
        if entry is not None and self._marked is not None:
            self._marked(entry)
        if self._preview is not None:
            self._fit()
            if self._showing is not None:
                self._showing.cancel()
            self._showing = asyncio.ensure_future(self._look(entry)) if entry is not None else None

    async def _look(self, entry: Entry) -> None:
        assert self._preview is not None
        await asyncio.sleep(_PAUSE)
        try:
            make = await self._preview(entry)
        except (AgenyxError, OSError) as error:
            words = error.message if isinstance(error, AgenyxError) else str(error.strerror)
            make = _said(f"this cannot be shown: {words}")
        self.preview.show(make)

    def _fit(self) -> None:
        """The preview below the list; in its place on a small screen, when it is asked for."""
        small = app_of(self).size.height < _PREVIEW_FROM
        self.preview.display = bool(self.shown) and (self._looks or not small)
        self.sheet.display = not (small and self._looks)
        self.fit_rows()

    def on_resize(self) -> None:
        super().on_resize()
        if self._preview is not None:
            self._fit()

    def on_unmount(self) -> None:
        super().on_unmount()
        for task in (self._showing, self._loading):
            if task is not None:
                task.cancel()


def _rows(entries: Sequence[Entry], at: int, width: int) -> list[Line]:
    """One row an entry, cut where it is too long; `*` marks the current one, and `>` the one that would be taken."""
    made: list[Line] = []
    for number, entry in enumerate(entries):
        here = number == at
        lead = f"{'>' if here else ' '}{'*' if entry.current else ' '} {entry.lead}"
        text = _flat(entry.text)
        detail = _flat(entry.detail)
        room = max(width - cells(lead), 4)
        text = clipped(text, room)
        left = room - cells(text) - 2
        detail = clipped(detail, left) if detail and left > 3 else ""
        style = "selected" if here else "dim" if entry.refused else ""
        gap = " " * max(room - cells(text) - cells(detail), 0)
        made.append(((style, f"{lead}{text}{gap}"), (style or "dim", detail)))
    return made or [line("nothing fits what is typed", "dim")]


def _flat(text: str) -> str:
    return safe(" ".join(text.split()))


def _said(text: str) -> Make:
    return lambda width: [line(clipped(_flat(text), width), "dim")]

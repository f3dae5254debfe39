"""The input of the full screen: what waits above it, what is looked up, the text, and what its keys mean.

Puts the parts together. It sends nothing itself: messages tell what the person meant.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path

from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.widget import Widget

from agenyx.core.errors import AgenyxError
from agenyx.ui.chat.recall import Recall
from agenyx.ui.tui.keymap import Keymap
from agenyx.ui.tui.prompt.colours import app_of
from agenyx.ui.tui.prompt.completing import Completing
from agenyx.ui.tui.prompt.editor import Editor
from agenyx.ui.tui.prompt.graphemes import is_unit
from agenyx.ui.tui.prompt.menu import Menu
from agenyx.ui.tui.prompt.pasting import Pasting
from agenyx.ui.tui.prompt.searching import Searching
from agenyx.ui.tui.prompt.sources import Sources
from agenyx.ui.tui.prompt.vim import Vim
from agenyx.ui.tui.prompt.waiting import Waiting

HINT = "/ commands  @ files  ! shell"
OWN = "It runs in the session's shell; the model is told what it prints."
_LEADS = {"insert": "> ", "normal": "N ", "visual": "V "}
_PAGE = 5


class PromptBox(Widget):
    """Mount it once. `text` is what would be sent now; `put_back` and `clear` change it from outside."""

    DEFAULT_CSS = Path(__file__).with_name("prompt.tcss").read_text("utf-8")

    class Sent(Message):
        """`images` are the paths of what is to be shown beside the words."""

        def __init__(self, text: str, images: tuple[str, ...] = ()) -> None:
            super().__init__()
            self.text, self.images = text, images

    class Steered(Message):
        """Meant for the turn that runs."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Shell(Message):
        """A command that the person runs, without the sign before it."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self, sources: Sources, keymap: Keymap | None = None, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._sources, self._keymap = sources, keymap or Keymap()
        self._recall = Recall()
        self._tasks: set[asyncio.Task[None]] = set()
        self._chord = False  # Ctrl+X was pressed
        self.waiting = Waiting(sources.driver, self._keymap)
        self.menu = Menu()
        self.editor = Editor(self._before, self._pasted, self._changed)
        self.editor.hint = HINT
        self.vim = Vim(self.editor.buffer, self._vertical) if sources.vim else None
        self._completing = Completing(self.editor, self.menu, sources, self._send)
        self._searching = Searching(self.menu, lambda: self._recall.entries, self._recalled)
        self._pasting = Pasting(self.editor, sources.workspace)

    def compose(self) -> ComposeResult:
        yield self.waiting
        yield self.menu
        yield self.editor

    def on_mount(self) -> None:
        if self._sources.history is not None:
            self._begin(self._load())

    async def _load(self) -> None:
        assert self._sources.history is not None
        self._recall.begin(await asyncio.to_thread(self._sources.history.load))

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- for others --------------------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        return self.editor.units.expand(self.editor.buffer.text)

    def focus(self, scroll_visible: bool = True) -> PromptBox:
        self.editor.focus(scroll_visible)
        return self

    def put_back(self, text: str) -> None:
        """Text to go on editing, in front of what is being typed."""
        rest = self.editor.buffer.text
        self._recall.leave()
        self._set(self.editor.units.collapse(text) + (f"\n{rest}" if rest else ""))

    def insert(self, text: str) -> None:
        """Text as if it had been typed, such as what came before the box was there."""
        self.editor.insert(text)

    def clear(self) -> bool:
        """Close a search, else take the text away, so that undo brings it back. False when there is neither."""
        if self._searching.open:
            self._close_search()
            return True
        if not self.editor.buffer.text:
            return False
        self._recall.leave()
        self._set("")
        return True

    def refresh_queue(self) -> None:
        """What waits is another."""
        self.waiting.update()

    def _set(self, text: str) -> None:
        self.editor.buffer.set(text)
        self.editor.update()

    def _changed(self) -> None:
        own = self.editor.buffer.text.startswith("!")
        lead = "$ " if own else _LEADS[self.vim.mode] if self.vim is not None else "> "
        if self.editor.lead != lead:
            self.editor.lead, self.editor.lead_style = lead, "warn" if own else "prompt"
            self.editor.refresh()
        self.waiting.note = OWN if own else ""
        self.waiting.update()
        if not self._searching.open:
            self._completing.changed()

    # --- keys --------------------------------------------------------------------------------------------------------

    def _before(self, event: events.Key) -> bool:
        """What a key means beside editing; False where it is for the editor, or for others."""
        key = event.key
        chord, self._chord = self._chord, key == "ctrl+x"
        if key == "ctrl+x" or (chord and key == "ctrl+e"):
            if key == "ctrl+e":
                self._begin(self._outside())
            return True
        if self._searching.open:
            return self._search_key(event)
        if self._completing.open and self._menu_key(key):
            return True
        if self.vim is not None and (self.vim.mode != "insert" or key == "escape") and self._vim_key(event):
            return True
        action = self._keymap.action("prompt", key)
        return bool(action) and self._act(action)

    def _vim_key(self, event: events.Key) -> bool:
        assert self.vim is not None
        mode = self.vim.mode
        if not self.vim.key(event.character if event.is_printable and event.character else event.key):
            return False
        self.editor.update()
        if self.vim.mode != mode:
            self._changed()
        return True

    def _menu_key(self, key: str) -> bool:
        match self._keymap.action("picker", key):
            case "pick-up":
                self.menu.move(-1)
            case "pick-down":
                self.menu.move(1)
            case "pick-page-up":
                self.menu.move(-_PAGE)
            case "pick-page-down":
                self.menu.move(_PAGE)
            case "pick":
                return self._completing.accept(enter=True)
            case _ if self._keymap.action("prompt", key) == "complete":
                return self._completing.accept()
            case _ if key == "escape":
                self._completing.close(for_good=True)
            case _:
                return False
        return True

    def _search_key(self, event: events.Key) -> bool:
        picked, asked = self._keymap.action("picker", event.key), self._keymap.action("prompt", event.key)
        if asked == "history-search" or picked == "pick-down":
            self._searching.move(1)
        elif picked == "pick-up":
            self._searching.move(-1)
        elif picked in ("pick-page-up", "pick-page-down"):
            self._searching.move(_PAGE if picked == "pick-page-down" else -_PAGE)
        elif picked == "pick" or asked == "complete":
            self._searching.accept()
            self.editor.caret = True
        elif event.key == "escape":
            self._close_search()
        elif not self._searching.type(event):
            return False
        return True

    def _act(self, action: str) -> bool:
        editor, buffer = self.editor, self.editor.buffer
        match action:
            case "send":
                self._send()
            case "newline":
                buffer.insert("\n")
                editor.update()
            case "steer" if self._sources.driver.running and buffer.text.strip():
                if editor.units.images(buffer.text):  # a word to the running turn has no images: it waits
                    self._send()
                else:
                    self.post_message(self.Steered(self._taken()))
            case "history-previous" if editor.at_edge(-1):
                self._previous()
            case "history-next" if editor.at_edge(1) and self._recall.walking:
                self._walk(self._recall.next(self.text))
            case "history-search":
                self._begin_search()
            case "complete":
                self._completing.start()
            case "editor":
                self._begin(self._outside())
            case "edit-queued":
                self._edit_queued()
            case "expand-paste" if (at := self._paste_at()) is not None:
                unit = editor.units.get(buffer.text[at])
                buffer.replace(at, at + 1, unit.text if unit is not None else "")
                editor.update()
            case _:
                return False
        return True

    # --- sending -----------------------------------------------------------------------------------------------------

    def _send(self) -> None:
        buffer = self.editor.buffer
        if buffer.at == len(buffer.text) and buffer.text.endswith("\\"):
            buffer.replace(len(buffer.text) - 1, len(buffer.text), "\n")
            self.editor.update()
            return
        images = self.editor.units.images(buffer.text)
        text = self._taken()
        if text.startswith("!") and text[1:].strip():
            self.post_message(self.Shell(text[1:].strip()))
        else:
            self.post_message(self.Sent(text, images))

    def _taken(self) -> str:
        """The text, which goes into the history and out of the box."""
        text = self.text
        self.editor.buffer.reset()
        if self.vim is not None:
            self.vim.reset()
        self._recall.add(text)
        if self._sources.history is not None:
            self._begin(asyncio.to_thread(self._sources.history.store, text))
        self.editor.update()
        return text

    # --- earlier and waiting inputs ----------------------------------------------------------------------------------

    def _vertical(self, by: int) -> None:
        """A row up or down; beyond the text, through earlier inputs."""
        if by < 0 and self.editor.at_edge(-1):
            self._previous()
        elif by > 0 and self.editor.at_edge(1):
            self._walk(self._recall.next(self.text))
        else:
            self.editor.vertical(by)

    def _previous(self) -> None:
        buffer = self.editor.buffer
        if not buffer.text and self._sources.driver.queued and not self._recall.walking:
            self._edit_queued()
            return
        prefix = "" if self._recall.walking else self.editor.units.expand(buffer.text[: buffer.at])
        self._walk(self._recall.previous(self.text, prefix))

    def _walk(self, text: str | None) -> None:
        if text is not None:
            self._set(self.editor.units.collapse(text))

    def _edit_queued(self) -> None:
        """Take the input that waits last back into the box."""
        taken = self._sources.driver.withdraw(-1)
        if taken is not None:
            self.put_back(taken)
        self.waiting.update()

    def _begin_search(self) -> None:
        self._completing.close()
        self.editor.caret = False
        self._searching.start(self.text if "\n" not in self.text and len(self.text) < 80 else "")
        self.editor.refresh()

    def _close_search(self) -> None:
        self._searching.close()
        self.editor.caret = True
        self.editor.refresh()

    def _recalled(self, text: str) -> None:
        self._recall.leave()
        self._set(self.editor.units.collapse(text))

    def on_menu_chosen(self, message: Menu.Chosen) -> None:
        """An entry was clicked."""
        message.stop()
        self.menu.at = message.index
        if self._searching.open:
            self._searching.accept()
            self.editor.caret = True
        else:
            self._completing.accept()
        self.editor.focus()

    # --- from elsewhere ----------------------------------------------------------------------------------------------

    async def _outside(self) -> None:
        """Have the text written in the person's editor."""
        from agenyx.ui.tui.outside import edited

        text = self.text
        try:
            new = (await edited(app_of(self), text, self._sources.env, "prompt.md")).removesuffix("\n")
        except AgenyxError as error:
            self._sources.complain(error.message, error.fix)
        else:
            if new != text:
                self._set(self.editor.units.collapse(new))

    def _pasted(self, text: str) -> None:
        if self._searching.open:
            self._searching.paste(text)
        elif (rest := self._pasting.paste(text)) is not None:
            self._begin(rest)

    def _paste_at(self) -> int | None:
        """Where the mark of a paste stands, at or before the caret."""
        text, at = self.editor.buffer.text, self.editor.buffer.at
        for place in (at, at - 1):
            if 0 <= place < len(text) and is_unit(text[place]):
                unit = self.editor.units.get(text[place])
                return place if unit is not None and unit.kind == "paste" else None
        return None

"""Completion while typing: what the text at the caret asks for is looked up, shown, and put in its place."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable

from agenyx.ui.chat import lookup
from agenyx.ui.chat.fuzzy import closeness
from agenyx.ui.chat.lookup import Ask, ask_of
from agenyx.ui.tui.prompt.editor import Editor
from agenyx.ui.tui.prompt.menu import Item, Menu
from agenyx.ui.tui.prompt.sources import Sources
from agenyx.ui.tui.prompt.units import is_image

SHOWN = 50


class Completing:
    """`send` sends the text as it stands. `changed` is to be called after each change of text or caret."""

    def __init__(self, editor: Editor, menu: Menu, sources: Sources, send: Callable[[], None]) -> None:
        self._editor, self._menu, self._sources, self._send = editor, menu, sources, send
        self.ask: Ask | None = None  # what the menu is open for
        self._closed: tuple[str, int] | None = None  # what the person closed the menu of
        self._task: asyncio.Task[None] | None = None

    @property
    def open(self) -> bool:
        return self.ask is not None and self._menu.open

    def changed(self) -> None:
        """Look up what is asked for now."""
        buffer = self._editor.buffer
        ask = ask_of(buffer.text, buffer.at) if buffer.mark is None else None
        if ask is None or (ask.kind, ask.begin) != self._closed:
            self._closed = None
        if ask == self.ask and self._menu.open:
            return
        self._stop()
        before, self.ask = self.ask, ask
        if ask is None or self._closed:
            self.ask = None
            if before is not None:
                self._menu.close()
            return
        if before is not None and (before.kind, before.begin) != (ask.kind, ask.begin):
            self._menu.close()
        match ask.kind:
            case "command":
                found = lookup.commands(ask.query, self._sources.commands())
                self._show([Item(one.name, f"/{one.name} {one.args}".rstrip(), one.text) for one in found[:SHOWN]])
            case "value":
                self._task = asyncio.get_running_loop().create_task(self._values(ask))
            case "mention":
                self._task = asyncio.get_running_loop().create_task(self._mentions(ask))

    async def _values(self, ask: Ask) -> None:
        command = lookup.named(ask.command, self._sources.commands())
        if command is None:
            self.close()
            return
        words = self._editor.buffer.text[: ask.begin].split()[1:]
        known = await self._sources.values(command, words)
        self._show([Item(value, value, text) for value, text in lookup.values(ask.query, known)[:SHOWN]])

    async def _mentions(self, ask: Ask) -> None:
        known = self._sources.resources() if ask.query else ()
        near = [(score, name, text) for name, text in known if (score := closeness(ask.query, name)) is not None]
        theirs = [Item(name, name, text) for _, name, text in sorted(near)[:SHOWN]]
        first = theirs if ":" in ask.query else theirs[:3]

        def show(found: list[str]) -> None:
            names = {item.value for item in first}
            here = ask.query if ask.query.endswith("/") else ""  # the folder that was gone into
            files = [Item(name, name) for name in found if name not in names and name != here]
            self._show([*first, *files, *theirs[len(first) :]][:SHOWN])

        if first:
            show([])
        if self._sources.files is not None:
            await self._sources.files.search(ask.query, SHOWN, show)
        elif not first:
            show([])

    def _show(self, items: list[Item]) -> None:
        if items:
            self._menu.show(items)
        else:
            self._menu.close()

    # --- what keys do ------------------------------------------------------------------------------------------------

    def close(self, *, for_good: bool = False) -> None:
        """Close the menu; `for_good` until something else is asked for."""
        if for_good and self.ask is not None:
            self._closed = (self.ask.kind, self.ask.begin)
        self._stop()
        if self.ask is not None:
            self.ask = None
            self._menu.close()

    def start(self) -> bool:
        """Open what was closed, or what can be asked for here. False when that is nothing."""
        buffer = self._editor.buffer
        if ask_of(buffer.text, buffer.at) is None:
            return False
        self._closed = self.ask = None
        self.changed()
        return True

    def accept(self, *, enter: bool = False) -> bool:
        """Put the marked entry into the text. With `enter` a command that can go is sent. False: nothing to take."""
        ask, item, buffer = self.ask, self._menu.chosen, self._editor.buffer
        if ask is None or item is None:
            return False
        if enter and item.value == ask.query:
            return False  # it stands there already: Enter is for sending
        match ask.kind:
            case "command":
                command = lookup.named(item.value, self._sources.commands())
                takes = command is not None and bool(command.args)
                needs = command is not None and takes and not command.args.startswith("[")
                self._put(0, f"/{item.value}" + (" " if takes and (needs or not enter) else ""))
                if enter and not needs:
                    self._send()
            case "value":
                self._put(ask.begin, item.value)
                if enter:
                    self._send()
            case "mention" if item.value.endswith("/"):
                self._put(ask.begin, lookup.mention(item.value))
            case "mention" if is_image(item.value) and ":" not in item.value:
                path = os.path.join(self._sources.workspace, item.value)
                self._put(ask.begin - 1, self._editor.units.image(path, buffer.held()) + " ")
            case "mention":
                self._put(ask.begin, lookup.mention(item.value) + " ")
        return True

    def _put(self, begin: int, text: str) -> None:
        buffer = self._editor.buffer
        end = buffer.at
        if text.endswith(" ") and buffer.text[end : end + 1] == " ":
            end += 1
        self._stop()
        self.ask = None
        self._menu.close()
        buffer.replace(begin, end, text)
        self._editor.update()

    def _stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

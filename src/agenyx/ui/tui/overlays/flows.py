"""What the keys and commands for overlays open, and what becomes of a choice: always the slash command that says it.

So there is one way to change a model or to go back, whoever asks for it, and the transcript shows what was done.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine
from typing import TypeVar

from textual.app import App
from textual.screen import Screen

from agenyx.app.commands.spec import Reply
from agenyx.app.commands.table import BY_NAME
from agenyx.app.rewind import Plan
from agenyx.core.errors import AgenyxError
from agenyx.ui.chat.commands.context import Context
from agenyx.ui.chat.loop import Chat
from agenyx.ui.spans import Line
from agenyx.ui.themes import chosen
from agenyx.ui.tui.keymap import Keymap
from agenyx.ui.tui.overlays import help as helping
from agenyx.ui.tui.overlays import rewinding, sources
from agenyx.ui.tui.overlays.confirm import Confirm
from agenyx.ui.tui.overlays.pager import Pager, text_rows
from agenyx.ui.tui.overlays.picker import Entry, Picker
from agenyx.ui.tui.overlays.stored import Stored

T = TypeVar("T")
LATER = "A turn runs: this waits until it is over."


class Flows:
    """`open` takes the name of an action of the keymap; `open_for` that of a command without arguments."""

    def __init__(self, app: App[None], chat: Chat, keymap: Keymap) -> None:
        self._app, self._chat, self._keymap = app, chat, keymap
        self._work: set[asyncio.Task[None]] = set()
        self._table: dict[str, Callable[[], Coroutine[None, None, None]]] = {
            "help": self._help,
            "model": self._model,
            "effort": self._effort,
            "mode": self._mode,
            "theme": self._theme,
            "sessions": self._sessions,
            "rewind": self._rewind,
            "tree": self._tree,
            "tasks": self._tasks,
        }

    def open(self, name: str) -> bool:
        """Whether there is an overlay of this name. One that is open already stays."""
        if name not in self._table:
            return False
        if len(self._app.screen_stack) == 1:
            task = asyncio.get_running_loop().create_task(self._guarded(self._table[name]()))
            self._work.add(task)
            task.add_done_callback(self._work.discard)
        return True

    def open_for(self, text: str) -> bool:
        """Whether an input is a command, without arguments, that opens an overlay; then it was opened."""
        name = text.strip()
        command = BY_NAME.get(name[1:]) if name.startswith("/") else None
        return command is not None and self.open({"resume": "sessions"}.get(command.name, command.name))

    # --- each of them ------------------------------------------------------------------------------------------------

    async def _help(self) -> None:
        commands = self._chat.commands()

        def rows(width: int) -> list[Line]:
            return helping.rows(self._keymap, commands, width)

        await self._show(Pager("Keys and commands", rows, self._keymap))

    async def _model(self) -> None:
        ctx = self._context

        async def load() -> list[Entry]:
            return await sources.models(ctx)

        def own(text: str) -> Entry:
            return Entry(text, text, "not listed: use it all the same")

        await self._choose("model", Picker("Models of this server", load, self._keymap, note=self._later(), own=own))

    async def _effort(self) -> None:
        entries, note = await asyncio.to_thread(sources.efforts, self._context)
        await self._choose("effort", Picker("Reasoning effort", entries, self._keymap, note=note))

    async def _mode(self) -> None:
        await self._choose("mode", Picker("Permission mode", sources.modes(self._context), self._keymap))

    async def _theme(self) -> None:
        ctx, before = self._context, chosen(self._context.home)
        seen = False

        def marked(entry: Entry) -> None:
            nonlocal seen
            if seen or not entry.current:  # what the list begins with is what there is
                seen = True
                self._chat.paint(entry.value)

        name = await self._show(Picker("Colours", sources.themes(chosen(ctx.home)), self._keymap, marked=marked))
        if name is None:
            self._chat.paint(before)
        else:
            self._chat.submit(f"/theme {name}")

    async def _sessions(self) -> None:
        folder = await self._show(Stored(self._context, self._keymap, self._later()))
        if folder is not None:
            self._chat.submit(f"/resume {os.path.basename(folder)}")

    async def _tree(self) -> None:
        entries = sources.turns(self._context.talk.tree())
        note = self._later() or ("" if entries else "There are no turns yet.")
        await self._choose("tree", Picker("Go on after a turn", entries, self._keymap, note=note))

    async def _rewind(self) -> None:
        talk = self._context.talk
        files = talk.files()
        entries = rewinding.points(talk.tree(), await asyncio.to_thread(files.history))
        note = self._later() or ("" if entries else "There is no turn to go back before.")
        point = await self._show(Picker("Go back before a turn", entries, self._keymap, note=note))
        entry = next((one for one in entries if one.value == point), None)
        if entry is None or point is None:
            return
        plan = await asyncio.to_thread(files.plan, point)
        title = f"Go back before {entry.text}"
        what = await self._show(Picker(title, rewinding.ways(entry, plan), self._keymap))
        if what == rewinding.CONVERSATION:
            self._chat.submit(f"/rewind {point}")
        elif what is not None and await self._agreed(plan, entry, what):
            self._chat.submit(f"/rewind {what} {point} yes")

    async def _agreed(self, plan: Plan, entry: Entry, what: str) -> bool:
        also = " and the conversation" if what == rewinding.BOTH else ""
        count = len(plan.acting)
        title = f"Put back {count} file{'' if count == 1 else 's'}{also}?"

        def rows(width: int) -> list[Line]:
            return rewinding.plan_rows(plan, width)

        return await self._show(Confirm(title, rows, "do it")) is True

    async def _tasks(self) -> None:
        from agenyx.app.commands import tasks

        await self._told("Tasks, and what runs beside the conversation", await tasks.run(self._context.desk, ""))

    # --- what they share ---------------------------------------------------------------------------------------------

    async def _show(self, screen: Screen[T]) -> T | None:
        """What it is closed with."""
        done: asyncio.Future[T | None] = asyncio.get_running_loop().create_future()

        def closed(result: T | None) -> None:
            if not done.done():
                done.set_result(result)

        self._app.push_screen(screen, closed)
        return await done

    @property
    def _context(self) -> Context:
        return self._chat.context

    def _later(self) -> str:
        return LATER if self._chat.running else ""

    async def _choose(self, command: str, picker: Picker) -> None:
        """Have the command done with what is chosen; nothing where it is what there is already."""
        value = await self._show(picker)
        entry = next((one for one in picker.shown if one.value == value), None)
        if value is not None and not (entry and entry.current):
            self._chat.submit(f"/{command} {value}")

    async def _told(self, title: str, reply: Reply) -> None:
        await self._show(Pager(title, text_rows(reply.text), self._keymap))

    async def _guarded(self, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except AgenyxError as error:
            self._chat.board.complain(error.message, error.fix)
        except OSError as error:
            self._chat.board.complain(f"this cannot be shown: {error.strerror or error}")
        self._chat.drawn()

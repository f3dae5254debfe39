"""The list of earlier sessions: go on with one, give it a title, delete it."""

from __future__ import annotations

import asyncio
import os

from agenyx.core.errors import AgenyxError
from agenyx.ui.chat.commands.context import Context
from agenyx.ui.spans import Line
from agenyx.ui.tui.keymap import Keymap
from agenyx.ui.tui.overlays import sources
from agenyx.ui.tui.overlays.confirm import Confirm
from agenyx.ui.tui.overlays.picker import Entry, Picker
from agenyx.ui.tui.overlays.words import Words
from agenyx.ui.tui.sheet import app_of


class Stored(Picker):
    """The folder of the session that was chosen, or None."""

    def __init__(self, ctx: Context, keymap: Keymap, note: str = "") -> None:
        async def load() -> list[Entry]:
            return await sources.sessions(ctx)

        super().__init__("Sessions of this workspace", load, keymap, note=note, preview=sources.session_preview)
        self._ctx = ctx
        self._work: asyncio.Task[None] | None = None

    def act(self, action: str) -> bool:
        entry = self.entry
        match action:
            case "pick-rename" if entry is not None:
                self._rename(entry)
            case "pick-delete" if entry is not None:
                self._delete(entry)
            case _:
                return super().act(action)
        return True

    def hints(self) -> Line:
        more = self.keymap.hints(("pick-rename", "rename"), ("pick-delete", "delete"))
        return (*super().hints(), ("", "   "), *more)

    def _rename(self, entry: Entry) -> None:
        def named(title: str | None) -> None:
            if title is not None and title.strip():
                self._do(self._renamed(entry, title))

        app_of(self).push_screen(Words("A title for this session", entry.text, self.keymap), named)

    async def _renamed(self, entry: Entry, title: str) -> None:
        from agenyx.app.sessions import rename

        if entry.current:
            self._ctx.talk.rename(title)
        else:
            await asyncio.to_thread(rename, entry.value, title, self._ctx.env)
        self.again()

    def _delete(self, entry: Entry) -> None:
        if entry.current:
            self.say("This session is open: go on with another one first.", "error")
            return
        text = f"{entry.text}\n{os.path.basename(entry.value)}, last used {entry.detail}\n\nIt cannot be brought back."

        def answered(yes: bool | None) -> None:
            if yes:
                self._do(self._deleted(entry))

        app_of(self).push_screen(Confirm("Delete this session for good?", text, "delete it"), answered)

    async def _deleted(self, entry: Entry) -> None:
        from agenyx.app.sessions import remove, revision

        def work() -> str:
            return remove(entry.value, revision(entry.value))

        status = await asyncio.to_thread(work)
        if status == "deleted":
            self.again()
            return
        why = {
            "session_locked": "another process uses it",
            "stale": "it was written just now",
            "not_found": "it is not there any more",
        }
        raise AgenyxError(f"it was not deleted: {why.get(status, status)}", "Try again in a moment.")

    def _do(self, work: object) -> None:
        async def guarded() -> None:
            try:
                await work  # pyright: ignore[reportGeneralTypeIssues]
            except AgenyxError as error:
                self.say(f"{error.message}. {error.fix}".rstrip(), "error")
            except OSError as error:
                self.say(f"it could not be done: {error.strerror or error}", "error")

        self._work = asyncio.ensure_future(guarded())

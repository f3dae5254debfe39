"""What is pasted or dropped: text, a mark for much of it, or images to be shown to the model."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Sequence

from agenyx.ui.tui.prompt.editor import Editor
from agenyx.ui.tui.prompt.graphemes import without_units
from agenyx.ui.tui.prompt.units import dropped


class Pasting:
    """`workspace` is where relative paths begin."""

    def __init__(self, editor: Editor, workspace: str) -> None:
        self._editor, self._workspace = editor, workspace

    def paste(self, text: str) -> Coroutine[None, None, None] | None:
        """Put clean text into the editor; what remains to be done where it may be files that were dropped."""
        paths = dropped(text)
        if paths:
            return self._files(text, paths)
        self._put(self._editor.units.paste(text, self._editor.buffer.held()))
        return None

    async def _files(self, text: str, paths: Sequence[str]) -> None:
        if not await asyncio.to_thread(self._all, paths):
            self._put(text)
            return
        for path in paths:
            self._put(self._editor.units.image(without_units(path), self._editor.buffer.held()) + " ")

    def _put(self, text: str) -> None:
        self._editor.buffer.insert(text)
        self._editor.update()

    def _all(self, paths: Sequence[str]) -> bool:
        """Whether all of them are files; may take its time."""
        return all(os.path.isfile(os.path.join(self._workspace, os.path.expanduser(path))) for path in paths)

"""Completion: `/` names commands and their values, `@` files of the workspace, found by fuzzy match.

The list of files comes from ripgrep, so that ignored files are left out; it is read in the background and kept a while.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from agenyx.app.commands.spec import Command
from agenyx.core.errors import AgenyxError
from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Processes
from agenyx.workspace import names
from agenyx.workspace.search import Searcher

SHOWN = 50
_BYTES = 8 << 20  # of paths
_SECONDS = 10.0
_FRESH = 15.0  # seconds
_COMMAND = re.compile(r"/(?P<name>[A-Za-z0-9_:?-]*)(?P<gap> +)?(?P<value>\S*)")
_FILE = re.compile(r"(?:^|(?<=\s))@(?P<path>\S*)$")


class Files:
    """The files of a workspace as text, read again when they are asked for and older than some seconds."""

    def __init__(
        self,
        processes: Processes,
        env: Mapping[str, str],
        workspace: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._searcher = Searcher(processes, child_env(env), workspace, _SECONDS)
        self._folder, self._clock = os.fsencode(workspace), clock
        self._found: list[str] = []
        self._read_at: float | None = None
        self._reading: asyncio.Task[None] | None = None

    async def get(self) -> list[str]:
        """The list; the first call waits for it, later ones take what there is and have it renewed."""
        old = self._read_at is None or self._clock() - self._read_at > _FRESH
        if old and (self._reading is None or self._reading.done()):
            self._reading = asyncio.get_running_loop().create_task(self._read())
        if self._read_at is None and self._reading is not None:
            await asyncio.shield(self._reading)
        return self._found

    async def _read(self) -> None:
        try:
            found, _ = await self._searcher.files(self._folder, _BYTES)
            self._found = sorted(names.show(path) for path in found)
        except AgenyxError:
            pass  # completion is a help: without rg there is none
        self._read_at = self._clock()


class Suggestions(Completer):
    """`commands` gives those there are; `files` lists the workspace."""

    def __init__(self, commands: Callable[[], Iterable[Command]], files: Files) -> None:
        self._commands, self._files = commands, files

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """What needs no waiting: commands."""
        found = _COMMAND.fullmatch(document.text_before_cursor)
        if found is None or document.text_after_cursor:
            return
        if not found["gap"]:
            for command in self._commands():
                if command.name.startswith(found["name"].lower()):
                    yield Completion(command.name, -len(found["name"]), display_meta=command.text)
            return
        for command in self._commands():
            if found["name"].lower() in (command.name, *command.aliases):
                for choice in command.choices:
                    if choice.lower().startswith(found["value"].lower()):
                        yield Completion(choice, -len(found["value"]))

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        for completion in self.get_completions(document, complete_event):
            yield completion
        if found := _FILE.search(document.text_before_cursor):
            for path in best(found["path"], await self._files.get(), SHOWN):
                yield Completion(path, -len(found["path"]))


def best(query: str, paths: list[str], most: int) -> list[str]:
    """The paths that hold the letters of `query` in order, the closest first, short ones before long ones."""
    if not query:
        return paths[:most]
    scored = [(score, len(path), path) for path in paths if (score := closeness(query, path)) is not None]
    return [path for _, _, path in sorted(scored)[:most]]


def closeness(query: str, path: str) -> int | None:
    """How far `path` is from `query`, 0 for the best; None when a letter is missing. Case counts for nothing."""
    wanted, folded = query.lower(), path.lower()
    name = folded.rpartition("/")[2]
    if folded == wanted:
        return 0
    for rank, (text, start) in enumerate(((name, True), (folded, True), (name, False), (folded, False)), 1):
        if text.startswith(wanted) if start else wanted in text:
            return rank
    at, gaps = -1, 5
    for letter in wanted:
        found = folded.find(letter, at + 1)
        if found < 0:
            return None
        gaps += found - at - 1 if at >= 0 else 0
        at = found
    return gaps

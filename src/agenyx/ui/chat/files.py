"""The files and folders of a workspace, as names to choose from. Ignored files are left out, as ripgrep lists them.

They can be searched while they are still being listed, and are listed again when they have become old.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping

from agenyx.core.errors import AgenyxError
from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Processes
from agenyx.ui.chat.fuzzy import Index
from agenyx.workspace import names
from agenyx.workspace.search import Searcher

MOST_BYTES = 16 << 20  # of paths
_SECONDS = 20.0
_FRESH = 15.0  # seconds
_BEAT = 0.03  # seconds between two answers of a search that goes on


class Files:
    """One per workspace. `refresh` begins listing where that is due; `found` asks what there is so far."""

    def __init__(
        self,
        processes: Processes,
        env: Mapping[str, str],
        workspace: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._searcher = Searcher(processes, child_env(env), workspace, _SECONDS)
        self._folder, self._clock = os.fsencode(workspace), clock
        self._index = Index()
        self._listed_at: float | None = None
        self._listing: asyncio.Task[None] | None = None
        self._moved: list[Callable[[], None]] = []

    def refresh(self) -> None:
        """Have the files listed, unless that was done a moment ago."""
        old = self._listed_at is None or self._clock() - self._listed_at > _FRESH
        if old and (self._listing is None or self._listing.done()):
            self._listing = asyncio.get_running_loop().create_task(self._list())

    async def all(self) -> list[str]:
        """All files, sorted; the first call waits for the list, later ones take what there is and have it renewed."""
        self.refresh()
        if self._listed_at is None and self._listing is not None:
            await asyncio.shield(self._listing)
        return sorted(name for name in self._index.names() if not name.endswith("/"))

    async def search(self, query: str, most: int, show: Callable[[list[str]], None]) -> None:
        """Find names on a thread and `show` the best so far, until all were looked at. Cancel it for another query."""
        self.refresh()
        index, looked, best = self._index, -1, list[str]()
        while True:
            whole = self._listing is None or self._listing.done()
            if index is not self._index:
                index, looked, best = self._index, -1, []
            if (count := len(index)) != looked:
                best = await self._look(index, query, most, show, (max(looked, 0), count), best)
                looked = count
                await asyncio.sleep(_BEAT)  # more may have come meanwhile
            if whole and index is self._index:
                return
            if self._listing is not None and not self._listing.done():
                await self._more()

    async def _look(
        self,
        index: Index,
        query: str,
        most: int,
        show: Callable[[list[str]], None],
        part: tuple[int, int],
        best: list[str],
    ) -> list[str]:
        """Look at a part of the names, where `best` is the answer of those before; returns the answer of both."""
        loop, stopped = asyncio.get_running_loop(), False

        def work() -> list[str]:
            last, told = best, time.monotonic() - _BEAT
            for last in index.search(query, most, lambda: stopped, *part, best):
                if (now := time.monotonic()) - told >= _BEAT:
                    told = now
                    loop.call_soon_threadsafe(tell, last)
            return last

        def tell(found: list[str]) -> None:
            if not stopped:
                show(found)

        try:
            found = await loop.run_in_executor(None, work)
            tell(found)
            return found
        finally:
            stopped = True

    async def _more(self) -> None:
        """Until more was listed, or all."""
        more = asyncio.get_running_loop().create_future()

        def moved() -> None:
            if not more.done():
                more.set_result(None)

        self._moved.append(moved)
        try:
            await more
        finally:
            self._moved.remove(moved)

    async def _list(self) -> None:
        first = self._listed_at is None
        index, seen, rest = Index(), set[str](), b""
        if first:
            self._index = index  # what is there is better than nothing

        def came(data: bytes) -> None:
            nonlocal rest
            *whole, rest = (rest + data).split(b"\0")
            if whole:
                index.add(_with_folders([names.show(path.removeprefix(b"./")) for path in whole], seen))
                if first:
                    self._told()

        try:
            await self._searcher.files(self._folder, MOST_BYTES, came)
            self._index = index
        except AgenyxError:
            pass  # it is a help: without rg there is none
        finally:
            self._listed_at = self._clock()
            asyncio.get_running_loop().call_soon(self._told)

    def _told(self) -> None:
        for moved in tuple(self._moved):
            moved()


def _with_folders(paths: list[str], seen: set[str]) -> list[str]:
    """The paths, with the folders above them that were not `seen` yet."""
    found = list[str]()
    for path in paths:
        at = path.rfind("/")
        while at > 0 and (folder := path[: at + 1]) not in seen:
            seen.add(folder)
            found.append(folder)
            at = path.rfind("/", 0, at)
    return [*found, *paths]

"""Which of many names a few letters mean: the closest first. Pure, and made for a thread beside the loop."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterator, Sequence

SLICE = 4_000  # names that are looked at between two looks whether the answer is still wanted


def best(query: str, paths: Sequence[str], most: int) -> list[str]:
    """The paths that hold the letters of `query` in order, the closest first, short ones before long ones."""
    if not query:
        return list(paths[:most])
    scored = [(score, len(path), path) for path in paths if (score := closeness(query, path)) is not None]
    return [path for _, _, path in heapq.nsmallest(most, scored)]


def closeness(query: str, path: str) -> int | None:
    """How far `path` is from `query`, 0 for the best; None when a letter is missing. Case counts for nothing."""
    wanted, folded = query.lower(), path.lower()
    name = folded.rstrip("/").rpartition("/")[2]
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


class Index:
    """Names that can be searched while more of them come: `add` on one thread, `search` on any."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._folded: list[str] = []

    def __len__(self) -> int:
        return len(self._folded)

    def add(self, names: Sequence[str]) -> None:
        self._names += names
        self._folded += map(str.lower, names)  # last: what is found here has its name

    def names(self) -> list[str]:
        return self._names[: len(self._folded)]

    def search(
        self,
        query: str,
        most: int,
        stopped: Callable[[], bool],
        start: int = 0,
        until: int = -1,
        best: Sequence[str] = (),
    ) -> Iterator[list[str]]:
        """Better and better answers, the last of them the best there is; nothing more once `stopped`.

        Without a query they are the ones that are nearest to the top. `start` and `until` tell which of the names are
        looked at, all where they are left out; `best` is the answer of those before.
        """
        names, folded, count = self._names, self._folded, len(self._folded) if until < 0 else until
        holds = _holding(query.lower())
        kept = _scored(query, best)
        for begin in range(start, count, SLICE):
            if stopped():
                return
            end = min(begin + SLICE, count)
            near = [names[at] for at in range(begin, end) if holds(folded[at])] if query else names[begin:end]
            if scored := _scored(query, near):
                kept = heapq.nsmallest(most, [*kept, *scored])
                yield [name for _, _, name in kept]


def _scored(query: str, names: Sequence[str]) -> list[tuple[int, int, str]]:
    """Names that hold the query, to be sorted: those that are closest first."""
    if query:
        return [(closeness(query, name) or 0, len(name), name) for name in names]
    return [(name.count("/", 0, -1), 0, name) for name in names]


def _holding(wanted: str) -> Callable[[str], object]:
    """Tells whether a name holds these letters in order, without ever looking back."""
    return re.compile("".join(f"[^{re.escape(char)}]*+{re.escape(char)}" for char in wanted), re.DOTALL).match

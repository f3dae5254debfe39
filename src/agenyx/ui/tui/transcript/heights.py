"""How many rows each block of a long list takes, with sums in logarithmic time. Pure; eight bytes a block and sum."""

from __future__ import annotations

from array import array
from collections.abc import Iterable


class Heights:
    """A Fenwick tree over the heights of blocks, from the first on."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._own = array("q", heights)
        self._sums = array("q", self._own)
        for at in range(1, len(self._own) + 1):
            above = at + (at & -at)
            if above <= len(self._own):
                self._sums[above - 1] += self._sums[at - 1]

    def __len__(self) -> int:
        return len(self._own)

    def __getitem__(self, index: int) -> int:
        return self._own[index]

    def append(self, height: int) -> None:
        at = len(self._own) + 1
        total, low = height, at & -at
        step = 1
        while step < low:
            total += self._sums[at - step - 1]
            step <<= 1
        self._own.append(height)
        self._sums.append(total)

    def set(self, index: int, height: int) -> None:
        grown = height - self._own[index]
        self._own[index] = height
        at = index + 1
        while grown and at <= len(self._sums):
            self._sums[at - 1] += grown
            at += at & -at

    def cut(self, count: int) -> None:
        """Keep the first `count`."""
        del self._own[count:]
        del self._sums[count:]

    def above(self, index: int) -> int:
        """The rows of all blocks before this one."""
        total = 0
        while index > 0:
            total += self._sums[index - 1]
            index &= index - 1
        return total

    @property
    def total(self) -> int:
        return self.above(len(self._own))

    def at(self, row: int) -> tuple[int, int]:
        """The block that holds a row, and which of its rows it is. The last for rows below all; (0, 0) if empty."""
        size = len(self._own)
        if not size:
            return 0, 0
        row = min(max(row, 0), max(self.total - 1, 0))
        index, step = 0, 1 << size.bit_length()
        while step:
            beyond = index + step
            if beyond <= size and self._sums[beyond - 1] <= row:
                index, row = beyond, row - self._sums[beyond - 1]
            step >>= 1
        return min(index, size - 1), row

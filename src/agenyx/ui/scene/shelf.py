"""The blocks of a long conversation in little room: the newest as they are, older ones packed until somebody looks.

A sequence of blocks. What is packed never changes any more; a block that is unpacked is another object each time.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from agenyx.ui.scene.blocks import AnyBlock, Block

LIVE = 256  # blocks that stay as they are
CHUNK = 64  # blocks that are packed together
_OPEN = 4  # chunks that stay unpacked, for who reads along
_LEVEL = 1  # of zlib: it is done between two frames

_encode = msgspec.msgpack.Encoder().encode
_decode: Callable[[bytes], list[Block]] = msgspec.msgpack.Decoder(list[AnyBlock]).decode  # type: ignore[assignment]


class Blocks(Sequence[Block]):
    """From the oldest on. `live` is the index of the first that may still change."""

    def __init__(self, blocks: Iterable[Block] = ()) -> None:
        self._packed: list[bytes | list[Block]] = []
        self._ends: list[int] = []  # of each chunk, as an index
        self._live: list[Block] = []
        self._unpacked: OrderedDict[int, list[Block]] = OrderedDict()
        self.added = 0  # blocks that were put in front, ever
        self.extend(blocks)

    @property
    def live(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __len__(self) -> int:
        return self.live + len(self._live)

    def __getitem__(self, index: int) -> Block:  # type: ignore[override]
        """One block; slices are not wanted."""
        if index < 0:
            index += len(self)
        live = self.live
        if index >= live:
            return self._live[index - live]
        if index < 0:
            raise IndexError(index)
        at = bisect_right(self._ends, index)
        chunk = self._chunk(at)
        return chunk[index - self._ends[at]]  # counted from its end

    def __iter__(self) -> Iterator[Block]:
        for index in range(len(self)):
            yield self[index]

    def append(self, block: Block) -> None:
        self._live.append(block)
        if len(self._live) >= LIVE + CHUNK:
            self._pack()

    def extend(self, blocks: Iterable[Block]) -> None:
        for block in blocks:
            self.append(block)

    def discard(self, block: Block) -> None:
        """Take out a block that may still change; nothing where it is not there."""
        for at in range(len(self._live) - 1, -1, -1):
            if self._live[at] is block:
                del self._live[at]
                return

    def holds(self, block: Block) -> bool:
        """Whether it is one that may still change."""
        return any(one is block for one in reversed(self._live))

    def put_before(self, blocks: Sequence[Block]) -> None:
        """Older blocks, which do not change any more."""
        chunks = [list(blocks[at : at + CHUNK]) for at in range(0, len(blocks), CHUNK)]
        self._packed[:0] = [_packed(chunk) for chunk in chunks]
        sizes = [len(chunk) for chunk in chunks]
        ends, total = list[int](), 0
        for size in sizes:
            total += size
            ends.append(total)
        self._ends = [*ends, *(end + total for end in self._ends)]
        self._unpacked.clear()
        self.added += len(blocks)

    def _pack(self) -> None:
        """Pack the oldest, if all of them are over."""
        oldest = self._live[:CHUNK]
        if all(block.over for block in oldest):
            self._packed.append(_packed(oldest))
            self._ends.append(self.live + CHUNK)
            del self._live[:CHUNK]

    def _chunk(self, at: int) -> list[Block]:
        packed = self._packed[at]
        if isinstance(packed, list):
            return packed
        if at in self._unpacked:
            self._unpacked.move_to_end(at)
            return self._unpacked[at]
        chunk = self._unpacked[at] = _decode(zlib.decompress(packed))
        if len(self._unpacked) > _OPEN:
            self._unpacked.popitem(last=False)
        return chunk


def _packed(blocks: list[Block]) -> bytes | list[Block]:
    """As bytes, or as they are where a text cannot be encoded."""
    try:
        return zlib.compress(_encode(blocks), _LEVEL)
    except (UnicodeEncodeError, msgspec.MsgspecError, OverflowError):
        return blocks

from __future__ import annotations

import asyncio

from agenyx.proc.lines import KEEP, LineBuffer


def test_lines_across_reads_and_the_rest():
    async def main():
        lines = LineBuffer()
        waiting = asyncio.create_task(lines.next())
        await asyncio.sleep(0)
        lines.feed(b"on")
        await asyncio.sleep(0)
        assert not waiting.done()
        lines.feed(b"e\ntwo\nthree")
        lines.end()
        return [await waiting, await lines.next(), await lines.next(), await lines.next()]

    assert asyncio.run(main()) == [b"one\n", b"two\n", b"three", b""]


def test_unread_lines_are_dropped_oldest_first():
    async def main():
        lines = LineBuffer()
        for number in range(600_000):
            lines.feed(b"%07d\n" % number)
        lines.end()
        got = []
        while line := await lines.next():
            got.append(line)
        return got

    got = asyncio.run(main())
    assert sum(map(len, got)) <= 2 * KEEP
    assert got[-1] == b"0599999\n"
    assert all(len(line) == 8 for line in got)


def test_an_endless_line_comes_in_pieces():
    async def main():
        lines = LineBuffer()
        lines.feed(b"x" * (KEEP + 5))
        return await lines.next()

    assert len(asyncio.run(main())) == KEEP + 5

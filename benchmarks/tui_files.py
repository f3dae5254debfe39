"""How long the `@` picker takes over many files: to its first hits, to its last, and how long the loop was held.

    python benchmarks/tui_files.py --files 100000

Makes a tree of that many empty files in a temporary folder (some seconds), then asks as the picker does: `fresh` begins
with nothing listed, `there` finds a list. Times in milliseconds, medians of 5 runs.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path

from agenyx.proc.spawn import Processes
from agenyx.ui.chat.files import Files

QUERIES = ("", "e", "mod", "module_77", "srcpkgtest", "zzzz")
MOST = 50


def lay_out(top: str, count: int) -> None:
    """`count` files in packages of 40, some folders deep."""
    for number in range(0, count, 40):
        folder = os.path.join(top, "src", f"package_{number % 97:02d}", f"part_{number // 40:05d}")
        os.makedirs(folder)
        for at in range(number, min(number + 40, count)):
            name = f"module_{at:06d}.py" if at % 3 else f"test_module_{at:06d}.py"
            os.close(os.open(os.path.join(folder, name), os.O_CREAT | os.O_WRONLY, 0o644))


async def ask(files: Files, query: str) -> tuple[float, float, float, int]:
    """First hits, last, the longest time that the loop was held, all in milliseconds; and the hits."""
    began, first, hits = time.perf_counter(), 0.0, 0

    def show(found: list[str]) -> None:
        nonlocal first, hits
        hits = len(found)
        if found and not first:
            first = time.perf_counter() - began

    held = asyncio.get_running_loop().create_task(beat())
    await files.search(query, MOST, show)
    last = time.perf_counter() - began
    held.cancel()
    return first * 1000, last * 1000, (await held) * 1000, hits


async def beat() -> float:
    worst, before = 0.0, time.perf_counter()
    try:
        while True:
            await asyncio.sleep(0.001)
            now = time.perf_counter()
            worst, before = max(worst, now - before), now
    except asyncio.CancelledError:
        return worst


async def measure(top: str, runs: int) -> None:
    env = dict(os.environ)
    print(f"{'query':<14}{'list':<8}{'first':>8}{'last':>8}{'held':>8}{'hits':>6}")
    for query in QUERIES:
        for there in (False, True):
            rows: list[tuple[float, float, float, int]] = []
            for _ in range(runs):
                processes = Processes()
                files = Files(processes, env, top)
                if there:
                    await files.all()
                rows.append(await ask(files, query))
                await processes.close()
            first, last, held = (statistics.median(row[at] for row in rows) for at in range(3))
            print(
                f"{query or '(none)':<14}{'there' if there else 'fresh':<8}{first:>8.0f}{last:>8.0f}{held:>8.0f}"
                f"{rows[-1][3]:>6}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as top:
        lay_out(top, chosen.files)
        print(f"{chosen.files:,} files, {sum(1 for _ in Path(top).rglob('*')):,} entries with folders")
        asyncio.run(measure(top, chosen.runs))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Memory of the full screen over a long sitting: resident megabytes after each hundred turns, and a line through them.

    python benchmarks/tui_soak.py [--turns 2000] [--from 200] [--json]

The real command line on a pseudo-terminal and a scripted model server; each turn is typed, calls a tool or answers in
Markdown, and is shown. The line is fitted from turn --from on; what it says is how much memory the rest of the turns
took. The conversation itself is part of that: its messages are kept for the next request. Needs the development tools
and no network.
"""
# ruff: noqa: T201, TID251

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from tui_start import Quiet, rss

from support.mock import command_env
from support.raw_server import RawServer, content, finish, stream

ANSWER = "Done: **ten** lines of `parser.py` read.\n\n- one\n- two\n\n```python\nprint(1)\n```\n"
EVERY = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=2000)
    parser.add_argument("--from", dest="start", type=int, default=200)
    parser.add_argument("--plain", action="store_true", help="the line surface, for what the conversation itself takes")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    points: list[tuple[int, float]] = []
    reply = [stream(content(ANSWER), finish())]
    with RawServer([reply]) as server, tempfile.TemporaryDirectory() as folder:
        home, work = Path(folder, "home"), Path(folder, "work")
        home.mkdir()
        work.mkdir()
        env = command_env(
            home,
            OPENAI_API_KEY="k" * 20,
            OPENAI_BASE_URL=f"{server.url}/v1",
            AGENYX_MODEL="m",
            TERM="xterm-256color",
        )
        with Quiet([sys.executable, "-m", "agenyx", *(["--plain"] if given.plain else [])], work, env) as screen:
            screen.see("shows commands and keys")
            screen.blind = True
            begun = time.monotonic()
            for turn in range(1, given.turns + 1):
                screen.type(f"turn {turn}\r")
                end = time.monotonic() + 60
                while len(server.requests) < turn:
                    screen.read()
                    if time.monotonic() > end or screen.process.poll() is not None:
                        raise SystemExit(f"turn {turn} was never asked")
                    time.sleep(0.001)
                server.requests[turn - 1].body = b""
                if turn % EVERY == 0:
                    points.append((turn, rss(screen.process.pid)))
                    print(f"turn {turn}: {points[-1][1]:.1f} MB", file=sys.stderr)
            seconds = time.monotonic() - begun
    used = [point for point in points if point[0] >= given.start]
    per_turn = slope(used)
    grown = per_turn * (given.turns - given.start)
    if given.json:
        print(json.dumps({"points": points, "kb_per_turn": per_turn * 1000, "grown_mb": grown, "seconds": seconds}))
    else:
        print(
            f"from turn {given.start} to {given.turns}: {grown:.2f} MB more by the line, "
            f"{per_turn * 1000:.2f} kB a turn"
        )
        print(f"{given.turns} turns in {seconds:.0f} s")


def slope(points: list[tuple[int, float]]) -> float:
    """Of the line with the least squares."""
    count = len(points)
    x = sum(point[0] for point in points) / count
    y = sum(point[1] for point in points) / count
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


if __name__ == "__main__":
    main()

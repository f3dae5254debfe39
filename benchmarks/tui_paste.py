"""What a paste of a megabyte costs from the terminal's bytes to the mark in the input, in milliseconds of processor.

    python benchmarks/tui_paste.py [--size 1000000]

`read` turns reads of 4,096 bytes, as a terminal gives them, into one event; `box` cleans it and puts it into the input;
`expand` puts the text in the place of its mark and lays it out in rows; `send` gives the whole text on.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

from textual.events import Paste

from agenyx.ui.intake import pasted, typed
from agenyx.ui.tui.keys import Keys
from agenyx.ui.tui.prompt.buffer import Buffer
from agenyx.ui.tui.prompt.graphemes import without_units
from agenyx.ui.tui.prompt.rows import Rows
from agenyx.ui.tui.prompt.units import Units

KINDS = {
    "ascii": "def function(argument): return argument + 1\n",
    "words": "Größe und Maß, naïve façade — 漢字かな\n",
    "one line": "x" * 44,
}


def measure(body: str) -> dict[str, float]:
    took: dict[str, float] = {}

    def part(name: str, work: Callable[[], object]) -> None:
        began = time.process_time()
        work()
        took[name] = (time.process_time() - began) * 1000

    data = b"\x1b[200~" + body.encode() + b"\x1b[201~"
    found: list[Paste] = []
    buffer, units = Buffer("see "), Units()

    def read() -> None:
        keys = Keys()
        for at in range(0, len(data), 4_096):
            found.extend(event for event in keys.feed(data[at : at + 4_096]) if isinstance(event, Paste))

    def box() -> None:
        buffer.insert(units.paste(without_units(pasted(typed(found[0].text))), buffer.held()))
        Rows(buffer.text, 80, units.labels)

    part("read", read)
    part("box", box)
    part("send", lambda: units.expand(buffer.text))
    part("expand", lambda: Rows(units.expand(buffer.text), 80, {}))
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1_000_000)
    size = parser.parse_args().size
    measure("warm up " * 100)
    for name, piece in KINDS.items():
        body = (piece * (size // len(piece.encode()) + 1))[: size // (len(piece.encode()) // len(piece) or 1)]
        rows = [measure(body) for _ in range(3)]
        best = {part: min(row[part] for row in rows) for part in rows[0]}
        print(f"{name:<10}" + "".join(f"{part:>8} {took:6.1f}" for part, took in best.items()))


if __name__ == "__main__":
    main()

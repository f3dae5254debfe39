"""What the transcript of the full screen costs: frames while a model streams, pages of a long session, memory.

    python benchmarks/tui_view.py [--size COLUMNSxROWS] [streaming] [pages] [growth]

Draws into the toolkit's own compositor, without a terminal. Prints milliseconds a frame for one answer of 20,000
pieces, milliseconds for PageUp in a session of 5,000 messages and for a resize of it, the memory that it takes, and the
bytes that a turn adds from turn 200 to turn 2,000 (a linear fit).
"""
# ruff: noqa: T201

from __future__ import annotations

import asyncio
import gc
import os
import random
import sys
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import mean, quantiles

from textual.app import App, ComposeResult

from agenyx.core.events import (
    AgentEvent,
    Body,
    CallAccepted,
    CallFinished,
    Done,
    EffectStarted,
    Outcome,
    StepStarted,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from agenyx.core.messages import Assistant, Text, ToolCall, ToolResult
from agenyx.core.tools import Effects
from agenyx.ui.scene.scene import Scene
from agenyx.ui.spans import Glyphs
from agenyx.ui.tui.colours import PREFIX, themes
from agenyx.ui.tui.transcript.view import TranscriptView

SENTENCE = "the file holds a list of rows that are read once and kept while the session lives"
WORDS = [*SENTENCE.split(), "`code`", "**bold**", "日本語"]
CODE = """```python
def total(rows: list[int]) -> int:
    # one pass
    return sum(row for row in rows if row > 0)
```
"""
TABLE = "| name | what |\n| --- | --- |\n| a | the first of them |\n| b | another one |\n"


class Bench(App[None]):
    def __init__(self) -> None:
        super().__init__()
        self.scene = Scene()
        self.view = TranscriptView(self.scene, Glyphs())
        for theme in themes():
            self.register_theme(theme)
        self.theme = f"{PREFIX}default"

    def compose(self) -> ComposeResult:
        yield self.view

    def frame(self) -> None:
        """Take up what changed and make the whole screen's bytes."""
        self.view.refresh_scene()
        self.paint()

    def paint(self) -> int:
        strips = self.screen._compositor.render_strips()
        return sum(len(strip.render(self.console)) for strip in strips)


class Times:
    """How long something took, each time: by the clock, and of the processor."""

    def __init__(self) -> None:
        self._clock: list[float] = []
        self._used: list[float] = []

    @contextmanager
    def taken(self) -> Iterator[None]:
        clock, used = time.perf_counter(), time.process_time()
        yield
        self._clock.append((time.perf_counter() - clock) * 1000)
        self._used.append((time.process_time() - used) * 1000)

    def told(self) -> str:
        if len(self._clock) == 1:
            return f"{self._clock[0]:.1f} ms ({self._used[0]:.1f} of the processor)"
        parts = [quantiles(of, n=100) for of in (self._clock, self._used)]
        clock, used = ([f"{cuts[at]:.1f}" for at in (49, 94)] for cuts in parts)
        return f"p50 {clock[0]} ms, p95 {clock[1]} ms (of the processor {used[0]} and {used[1]})"


def text(random_: random.Random, words: int) -> str:
    parts: list[str] = []
    for number in range(words):
        parts.append(random_.choice(WORDS))
        parts.append("\n\n" if number % 60 == 59 else "\n- " if number % 25 == 24 else " ")
        if number % 200 == 199:
            parts.append(f"\n\n{random_.choice((CODE, TABLE))}\n")
    return "".join(parts)


class Source:
    """Events of one session, in their order."""

    def __init__(self) -> None:
        self.seq = 0
        self.random = random.Random(7)

    def event(self, body: Body) -> AgentEvent:
        self.seq += 1
        return AgentEvent(self.seq, "s", "t", 1, body)

    def turn(self, number: int, words: int = 60) -> Iterator[AgentEvent]:
        """A prompt, a call with its result, an answer."""
        call = ToolCall(f"call_{number:08d}", f"w{number}", "Read", f'{{"file_path":"src/module_{number % 40}.py"}}')
        yield self.event(TurnStarted("go on", "m", "default"))
        yield self.event(StepStarted())
        yield self.event(Done(Assistant((call,), "calls", "m")))
        yield self.event(CallAccepted(call, Effects(parallel=True)))
        yield self.event(EffectStarted((call.id,)))
        result = ToolResult(call.id, "ok", (Text(text(self.random, 30)),))
        yield self.event(CallFinished(result, "Read", 0.01))
        yield self.event(StepStarted())
        answer = text(self.random, words)
        for at in range(0, len(answer), 40):
            yield self.event(TextDelta(0, answer[at : at + 40]))
        yield self.event(Done(Assistant((Text(answer),), "end", "m")))
        yield self.event(TurnFinished(Outcome("done"), answer, 2, 1.0))


async def streaming(size: tuple[int, int]) -> None:
    app, source, frames = Bench(), Source(), Times()
    async with app.run_test(size=size):
        whole = text(source.random, 20_000)
        pieces = [whole[at * len(whole) // 20_000 : (at + 1) * len(whole) // 20_000] for at in range(20_000)]
        begun = time.process_time()
        for at, piece in enumerate(pieces):
            app.scene.apply(source.event(TextDelta(0, piece)))
            if at % 20 == 19:
                with frames.taken():
                    app.frame()
        used = time.process_time() - begun
    print(f"20,000 pieces, {len(whole):,} characters, a frame each 20: {frames.told()}; {used:.1f} s of it in all")


async def pages(size: tuple[int, int]) -> None:
    app, source = Bench(), Source()
    async with app.run_test(size=size):
        gc.collect()
        before, count = resident(), 0
        while len(app.scene.blocks) < 5_000:
            app.scene.typed(f"Look at module {count} and say what it does.")
            for event in source.turn(count):
                app.scene.apply(event)
            count += 1
            if count % 5 == 0:
                app.view.refresh_scene()
        app.frame()
        gc.collect()
        held = resident() - before
        up, first, width = Times(), Times(), Times()
        for _ in range(300):
            with up.taken():
                app.view.page(-1)
                app.paint()
        with first.taken():
            app.view.look(app.view.window.to_start)
            app.paint()
        with width.taken():
            app.view.window.resize(size[0] - 20, size[1])
            app.view.place()
            app.paint()
        print(f"5,000 messages, {app.view.window.total:,} rows, resident +{held / 1e6:.1f} MB")
        for name, times in (("PageUp", up), ("to the begin", first), ("another width", width)):
            print(f"  {name}: {times.told()}")


async def growth(size: tuple[int, int]) -> None:
    app, source = Bench(), Source()
    points: list[tuple[int, int]] = []
    async with app.run_test(size=size):
        tracemalloc.start()
        for number in range(2_000):
            app.scene.typed("go on")
            for event in source.turn(number, 30):
                app.scene.apply(event)
            app.frame()
            if number >= 200 and number % 50 == 0:
                gc.collect()
                points.append((number, tracemalloc.get_traced_memory()[0]))
        tracemalloc.stop()
    middle, held = mean(at for at, _ in points), mean(size for _, size in points)
    slope = sum((at - middle) * (size - held) for at, size in points) / sum((at - middle) ** 2 for at, _ in points)
    print(
        f"2,000 turns: {slope:.0f} bytes a turn in scene and view, {slope * 1800 / 1e6:.2f} MB from turn 200 to 2,000"
    )


def resident() -> int:
    """Bytes of this process in memory."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def main() -> None:
    wanted = sys.argv[sys.argv.index("--size") + 1] if "--size" in sys.argv else "120x40"
    columns, _, rows = wanted.partition("x")
    size = int(columns), int(rows)
    parts = {"streaming": streaming, "pages": pages, "growth": growth}
    for part in [name for name in parts if name in sys.argv] or list(parts):
        await parts[part](size)


if __name__ == "__main__":
    asyncio.run(main())

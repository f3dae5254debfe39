"""The last row of the screen: what goes on just now, and the figures of the conversation. It moves only while a turn
runs, four times a second at most."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Protocol

from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from agenyx.core.tty import safe
from agenyx.ui.activity import call_line
from agenyx.ui.chat.talk import Status
from agenyx.ui.scene.pulse import Pulse
from agenyx.ui.spans import Glyphs, Line, cells
from agenyx.ui.tui.figures import clipped, figures, fitted
from agenyx.ui.tui.sheet import painter_of

BEAT = 0.25  # seconds between two steps of the sign that something runs
_SPIN = "⠋⠙⠸⠴⠦⠇"
_PLAIN_SPIN = "|/-\\"
_LEAST = 24  # columns that are left to what goes on


class Shown(Protocol):
    """What is asked of the loop."""

    hint: str
    last: Status | None

    @property
    def running(self) -> bool: ...
    @property
    def queued(self) -> Collection[str]: ...


class StatusLine(Widget):
    """`update` takes up what changed. `pulse` tells what goes on, anew at each drawing."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "StatusLine { height: 1; dock: bottom; background: $panel; }"

    def __init__(
        self,
        pulse: Callable[[], Pulse | None] = lambda: None,
        glyphs: Glyphs | None = None,
        *,
        stop: str = "Esc",
        clock: Callable[[], float] = time.monotonic,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._pulse, self._glyphs, self._stop, self._clock = pulse, glyphs or Glyphs(), stop, clock
        self._told: tuple[object, ...] = ()
        self._line: tuple[str, Status | None, int, bool] = ("", None, 0, False)
        self._beat: Timer | None = None
        self._beats = 0

    def update(self, shown: Shown) -> None:
        """Take up what the loop says; nothing is drawn where it is the same as before."""
        pulse = self._pulse()
        doing = (pulse.doing, len(pulse.running), len(pulse.asked)) if pulse is not None else ()
        told = (shown.hint, shown.last, len(shown.queued), shown.running, doing)
        if told == self._told:
            return
        self._told = told
        self._line = (shown.hint, shown.last, len(shown.queued), shown.running)
        self._run(shown.running)
        self.refresh()

    def _run(self, running: bool) -> None:
        if running and self._beat is None and self.is_mounted:
            self._beat = self.set_interval(BEAT, self._step)
        elif not running and self._beat is not None:
            self._beat.stop()
            self._beat = None

    def _step(self) -> None:
        self._beats += 1
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        hint, status, queued, running = self._line
        room = max(width - 2, 1)
        parts = figures(status, queued)
        now = self._now(hint, running)
        if not now:
            return self._strip(fitted(parts, room, self._glyphs), (), width)
        whole = fitted(parts, max(room - max(room // 2, _LEAST) - 2, 0), self._glyphs)
        left = room - sum(cells(text) for _, text in whole) - 2
        return self._strip(_cut(now, max(left, min(room, _LEAST))), whole, width)

    def _strip(self, left: Line, right: Line, width: int) -> Strip:
        used = 1 + sum(cells(text) for _, text in (*left, *right)) + 1
        gap = (("", " " * max(width - used, 1)),) if right else ()
        return painter_of(self).strip((("", " "), *left, *gap, *right), width)

    def _now(self, hint: str, running: bool) -> Line:
        if hint:
            return (("warn", safe(hint)),)
        if not running:
            return ()
        pulse = self._pulse()
        spin = _PLAIN_SPIN if self._glyphs.bullet == "-" else _SPIN
        lead = ("prompt", f"{spin[self._beats % len(spin)]} ")
        if pulse is None or pulse.since is None:
            return (lead, ("", "working"))
        dot = self._glyphs.dot
        seconds = duration(self._clock() - pulse.since)
        if pulse.asked:
            return (lead, ("warn", "waits for your answer"), ("dim", f"{dot}{seconds}"))
        return (lead, ("", seconds), ("dim", f"{dot}{self._stop} stops{dot}"), ("", doing(pulse)))


def doing(pulse: Pulse) -> str:
    """What goes on, in words; text of others is safe in it."""
    if not pulse.running:
        return safe(pulse.doing) or "working"
    call = next(iter(pulse.running))
    known = pulse.calls.get(call)
    name = " ".join(safe(call_line(known[0])).split()).removeprefix("* ") if known else "a call"
    return f"running {name}{f' and {len(pulse.running) - 1} more' if len(pulse.running) > 1 else ''}"


def duration(seconds: float) -> str:
    """`7s`, `3m 07s`, `2h 05m`."""
    whole = max(int(seconds), 0)
    if whole < 60:
        return f"{whole}s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes}m {rest:02}s" if minutes < 60 else f"{minutes // 60}h {minutes % 60:02}m"


def _cut(spans: Line, width: int) -> Line:
    """The beginning of a row, at most so wide."""
    made: list[tuple[str, str]] = []
    for style, text in spans:
        size = cells(text)
        if size > width:
            made.append((style, clipped(text, width)))
            break
        made.append((style, text))
        width -= size
    return tuple(made)

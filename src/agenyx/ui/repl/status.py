"""Figures of a conversation in words: the status line and what /cost and /context tell. Pure."""

from __future__ import annotations

from agenyx.core.events import TurnFinished, Usage
from agenyx.core.tty import safe
from agenyx.ui.repl.talk import Status
from agenyx.ui.spans import Glyphs, cells


def status_line(status: Status, width: int, glyphs: Glyphs) -> str:
    """Model, mode, context, cost and branch, the first of them first, as many as fit."""
    parts = [status.model, status.mode, context_share(status), money(status.cost) if status.usage else ""]
    parts.append(status.branch)
    text = ""
    for part in (safe(" ".join(part.split())) for part in parts if part):
        longer = f"{text}{glyphs.dot}{part}" if text else part
        if cells(longer) < width:
            text = longer
    return text


def context_share(status: Status) -> str:
    """How full the window is, such as `12% of 128k`; "" before the first request."""
    if status.context is None:
        return ""
    size = status.window
    if not size:
        return f"{tokens(status.context)} context"
    return f"{status.context * 100 // size}% of {tokens(size)}"


def tokens(count: int) -> str:
    """A count of tokens, such as `950`, `12.3k`, `128k`, `1.2M`."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            value = count / size
            return f"{value:.1f}".removesuffix(".0") + unit if value < 100 else f"{value:.0f}{unit}"
    return str(count)


def money(dollars: float | None) -> str:
    """US dollars; an unknown price is no zero."""
    if dollars is None:
        return "$?"
    return f"${dollars:.2f}" if dollars >= 1 or dollars == 0 else f"${dollars:.4f}".rstrip("0")


def usage_text(usage: Usage | None) -> str:
    """Tokens in and out, in words."""
    if usage is None:
        return "unknown: the server did not say"
    cached = f", of them {tokens(usage.cache_read)} from the cache" if usage.cache_read else ""
    given = usage.fresh + usage.cache_read + usage.cache_write
    thought = f", of them {tokens(usage.reasoning)} reasoning" if usage.reasoning else ""
    return f"{tokens(given)} in{cached}; {tokens(usage.out)} out{thought}"


def turn_text(finished: TurnFinished) -> str:
    """One line about a turn that is over."""
    steps = f"{finished.steps} step{'' if finished.steps == 1 else 's'}"
    used = f", {usage_text(finished.usage)}" if finished.usage else ""
    price = f", {money(finished.cost)}" if finished.cost is not None else ""
    return f"{steps}, {finished.seconds:.1f} s{used}{price}"

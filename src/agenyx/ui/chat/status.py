"""Figures of a conversation in words: the status line, and the line about a turn. Pure."""

from __future__ import annotations

from agenyx.app.commands.wording import money, tokens, usage_text
from agenyx.core.events import TurnFinished
from agenyx.core.tty import safe
from agenyx.ui.chat.talk import Status
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


def turn_text(finished: TurnFinished) -> str:
    """One line about a turn that is over."""
    steps = f"{finished.steps} step{'' if finished.steps == 1 else 's'}"
    used = f", {usage_text(finished.usage)}" if finished.usage else ""
    price = f", {money(finished.cost)}" if finished.cost is not None else ""
    return f"{steps}, {finished.seconds:.1f} s{used}{price}"

"""The figures of the status line: each a short text with a style and a rank, and which of them fit a width. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from agenyx.app.commands.wording import money
from agenyx.core.tty import safe
from agenyx.ui.chat.status import context_share
from agenyx.ui.chat.talk import Status
from agenyx.ui.spans import Glyphs, Line, cells

UNCONTAINED = "no sandbox"
_MODES = {"bypassPermissions": "error", "acceptEdits": "warn", "plan": "code", "dontAsk": "warn"}
_LONGEST = 40  # columns of one figure


class Figure(Struct, frozen=True):
    """Those of the lowest rank stay longest."""

    text: str
    rank: int
    style: str = "dim"


def figures(status: Status | None, queued: int = 0) -> list[Figure]:
    """What there is to say, in the order in which it stands."""
    made = [Figure(f"{queued} queued", 1, "warn")] if queued else []
    if status is None:
        return made
    usage = status.usage
    hit = usage.hit_rate if usage else None
    share = context_share(status)
    full = status.window and status.context and status.levels and status.context >= status.levels.warn
    rows = [
        (status.mode, 0 if status.mode in _MODES else 5, _MODES.get(status.mode, "dim")),
        (status.model, 2, ""),
        (status.effort, 8, "dim"),
        (f"{share} context" if "%" in share else share, 3, "warn" if full else "dim"),
        (f"cache {hit:.0%}" if hit is not None else "", 9, "dim"),
        (money(status.cost) if usage else "", 4, "dim"),
        (status.branch, 6, "dim"),
        (UNCONTAINED, 7, "dim"),
        ("" if status.persistent else "in memory only", 1, "warn"),
        (status.profile, 10, "dim"),
    ]
    return made + [Figure(_flat(text), rank, style) for text, rank, style in rows if text]


def fitted(parts: Sequence[Figure], width: int, glyphs: Glyphs) -> Line:
    """As many as fit, in their order; those that matter least go first. One that is too long for itself is cut."""
    kept = list(parts)
    while kept and _size(kept, glyphs) > width:
        kept.remove(max(kept, key=lambda figure: figure.rank))
    spans: list[tuple[str, str]] = []
    for figure in kept:
        if spans:
            spans.append(("dim", glyphs.dot))
        spans.append((figure.style, figure.text))
    return tuple(spans)


def _size(parts: Sequence[Figure], glyphs: Glyphs) -> int:
    return sum(cells(figure.text) for figure in parts) + cells(glyphs.dot) * (len(parts) - 1)


def _flat(text: str) -> str:
    return clipped(safe(" ".join(text.split())), _LONGEST)


def clipped(text: str, width: int) -> str:
    """The beginning of a text that fits, with a mark where it goes on."""
    if cells(text) <= width:
        return text
    while text and cells(text) > width - 1:
        text = text[: max(len(text) - max((cells(text) - width + 1) // 2, 1), 0)]
    return f"{text}…" if width > 0 else ""

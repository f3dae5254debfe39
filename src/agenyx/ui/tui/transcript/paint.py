"""Rows of styled spans as strips of the toolkit. The only place that makes segments of text."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from rich.cells import cell_len
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from agenyx.ui.spans import Line
from agenyx.ui.tui.colours import Palette

_OWN = ("chosen", "found")
_FOUND = Style(reverse=True)


class Painter:
    """`palette` has the styles of names; `base` is that of the view itself, `chosen` that of selected text."""

    def __init__(self, palette: Palette, base: Style, chosen: Style | None = None) -> None:
        self.palette, self.base = palette, base
        self._chosen = chosen or Style(reverse=True)
        self._styles: dict[str, Style] = {}

    def strip(self, spans: Line, width: int) -> Strip:
        """The row, filled up to the width."""
        segments = [Segment(text, self.style(style)) for style, text in spans if text]
        used = sum(len(text) if text.isascii() else cell_len(text) for text, _, _ in segments)
        if used < width:
            segments.append(Segment(" " * (width - used), self.base))
            used = width
        strip = Strip(segments, used)
        return strip if used == width else strip.crop(0, width)

    def style(self, names: str) -> Style:
        """The style of names of the palette and of colours as `ui.ansi` writes them."""
        made = self._styles.get(names)
        if made is None:
            own = [name for name in names.split() if "=" in name or name in _OWN]
            made = self.base + self.palette.style_of(" ".join(name for name in names.split() if name not in own))
            for name in own:
                made += self._chosen if name == "chosen" else _FOUND if name == "found" else _colour(name)
            self._styles[names] = made
        return made


@lru_cache(512)
def _colour(name: str) -> Style:
    """`fg=3`, `bg=208` or `fg=#aabbcc`, and attributes such as `at=underline`."""
    kind, _, value = name.partition("=")
    if kind == "at":
        return Style.parse(value)
    colour = Color.parse(value) if value.startswith("#") else Color.from_ansi(int(value))
    return Style(color=colour) if kind == "fg" else Style(bgcolor=colour)


def lit(spans: Line, places: list[tuple[int, int]], style: str) -> Line:
    """The row with one more style on some of its characters, from the first of a place to before its last."""
    if not places:
        return spans
    found: list[tuple[str, str]] = []
    at = 0
    for old, part in spans:
        end = at + len(part)
        cuts = {at, end}
        for first, last in places:
            cuts |= {cut for cut in (first, last) if at < cut < end}
        borders = sorted(cuts)
        for left, right in pairwise(borders):
            inside = any(first <= left and right <= last for first, last in places)
            found.append((f"{old} {style}".strip() if inside else old, part[left - at : right - at]))
        at = end
    return tuple(found)

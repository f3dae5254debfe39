"""The style of a name: for rows that widgets draw themselves, and as themes for the toolkit's own style sheets."""

from __future__ import annotations

from functools import cache

from rich.style import Style
from textual.theme import Theme

from agenyx.ui.tui.palettes import BASES, STYLES

PREFIX = "agenyx-"
"""What the name of a theme begins with in the toolkit; the rest is its name in settings.toml."""


class Palette:
    """The styles of one theme. `key` tells palettes apart, for whoever keeps rows that were drawn with one."""

    def __init__(self, name: str) -> None:
        self.key = name
        self._styles = STYLES[name]
        self.ansi = BASES[name].ansi
        self._made: dict[str, Style] = {"": Style.null()}

    def style_of(self, names: str) -> Style:
        """The style of one or more names of `ui.spans`, separated by spaces; what is not known is plain."""
        made = self._made.get(names)
        if made is None:
            parts = [Style.parse(self._styles[name]) for name in names.split() if self._styles.get(name)]
            made = self._made[names] = Style.combine(parts) if parts else Style.null()
        return made


@cache
def palette(theme: str, *, colour: bool = True) -> Palette:
    """The palette of a theme of settings.toml; `mono` where there may be no colour (NO_COLOR)."""
    return Palette(theme if colour and theme in STYLES else "mono" if not colour else "default")


def themes() -> list[Theme]:
    """All of them, for `App.register_theme`: `App.theme = PREFIX + name` then uses one."""
    made: list[Theme] = []
    for name, base in BASES.items():
        ink, mark = base.cursor
        variables = {
            "ansi-background": "ansi_default",  # which the toolkit's own sheets name
            "dim": _plain(STYLES[name].get("dim", ""), base.foreground),
            "mark": mark,
            "mark-ink": ink,
            "block-cursor-foreground": ink,
            "block-cursor-background": mark,
            "block-cursor-text-style": "bold reverse" if name == "mono" else "bold",
            "input-cursor-text-style": "reverse",
            "input-cursor-background": "ansi_default" if base.ansi else base.foreground,
            "input-cursor-foreground": "ansi_default" if base.ansi else base.background,
            "input-selection-background": mark,
            "scrollbar": base.foreground if base.ansi else base.panel,
            "scrollbar-background": base.background,
            "scrollbar-hover": base.primary,
            "scrollbar-active": base.primary,
            "border": base.primary,
            "border-blurred": base.foreground if base.ansi else base.panel,
        }
        made.append(
            Theme(
                name=PREFIX + name,
                primary=base.primary,
                secondary=base.accent,
                accent=base.accent,
                warning=base.warning,
                error=base.error,
                success=base.success,
                foreground=base.foreground,
                background=base.background,
                surface=base.surface,
                panel=base.panel,
                boost=base.panel,
                dark=base.dark,
                ansi=base.ansi,
                variables=variables,
            )
        )
    return made


def _plain(style: str, otherwise: str) -> str:
    """The colour of a style for a style sheet, where it is one."""
    return style if style.startswith("#") else otherwise

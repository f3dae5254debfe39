"""Themes: every name has a style in each, text can be read on its ground, and colour is never the only sign."""

from __future__ import annotations

import pytest
from rich.color import Color
from textual.color import Color as Shade

from agenyx.config.settings_table import THEMES as SETTINGS
from agenyx.ui.spans import SGR
from agenyx.ui.themes import THEMES
from agenyx.ui.tui.colours import palette, themes
from agenyx.ui.tui.palettes import BASES, STYLES


def contrast(one: Shade, other: Shade) -> float:
    """The ratio of WCAG 2."""

    def light(shade: Shade) -> float:
        parts = [part / 255 for part in (shade.r, shade.g, shade.b)]
        red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


NAMES = tuple(STYLES["default"])


def test_all_tables_know_the_same_themes() -> None:
    assert tuple(THEMES) == tuple(BASES) == tuple(STYLES) == SETTINGS
    assert [theme.name for theme in themes()] == [f"agenyx-{name}" for name in SETTINGS]
    assert set(SGR) <= set(NAMES)


@pytest.mark.parametrize(("theme", "least"), [("default", 4.5), ("light", 4.5), ("contrast", 7.0)])
def test_text_can_be_read_on_every_ground(theme: str, least: float) -> None:
    base = BASES[theme]
    for name, style in STYLES[theme].items():
        made = palette(theme).style_of(name)
        ink = Shade.from_rich_color(made.color) if made.color else Shade.parse(base.foreground)
        grounds = [Shade.from_rich_color(made.bgcolor)] if made.bgcolor else []
        for ground in grounds or [Shade.parse(one) for one in (base.background, base.surface, base.panel)]:
            assert contrast(ink, ground) >= least, (name, style, ground.hex)


@pytest.mark.parametrize("theme", ["ansi", "mono"])
def test_these_name_no_colour_of_ours(theme: str) -> None:
    for name in NAMES:
        style = palette(theme).style_of(name)
        for colour in (style.color, style.bgcolor):
            assert colour is None or (theme == "ansi" and (colour.number or 0) < 16)


def test_no_color_is_mono() -> None:
    plain = palette("light", colour=False)
    assert plain.key == "mono" and plain.style_of("error").color is None and plain.style_of("error").bold
    assert palette("no such theme").key == "default"


def test_styles_add_up_and_unknown_ones_are_plain() -> None:
    style = palette("default").style_of("bold error nothing")
    assert style.bold and style.color == Color.parse("#ff8b86")
    assert palette("default").style_of("nothing").color is None

"""The style of a name in the theme that is shown now, and the place of the terminal's cursor."""

from __future__ import annotations

from typing import Any, cast

from rich.style import Style
from textual.app import App
from textual.widget import Widget

from agenyx.ui.tui.colours import PREFIX, palette


def app_of(widget: Widget) -> App[Any]:
    return cast("App[Any]", widget.app)  # pyright: ignore[reportUnknownMemberType]


def style(widget: Widget, names: str) -> Style:
    """One or more names of `ui.spans`, separated by spaces."""
    theme = app_of(widget).theme
    return palette(theme.removeprefix(PREFIX) if theme.startswith(PREFIX) else "default").style_of(names)

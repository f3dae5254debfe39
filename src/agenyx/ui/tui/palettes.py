"""The colours of the full screen, by theme and by the name of a style. Data; names are those of `ui.themes`.

A value is a style of rich: attributes, a colour, and after `on` a background. What is missing is plain. `ansi` and
`mono` name no colour that the terminal's own settings do not define, and leave its background alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct


class Base(Struct, frozen=True):
    """The surfaces that everything stands on, as colours of Textual. `ansi`: the terminal's own colours are used."""

    foreground: str
    background: str
    surface: str
    panel: str
    primary: str
    accent: str
    warning: str
    error: str
    success: str
    cursor: tuple[str, str]  # text and background of what is marked in a list
    dark: bool = True
    ansi: bool = False


BASES: Mapping[str, Base] = {
    "default": Base(
        "#d7dde5",
        "#11151a",
        "#171c23",
        "#202833",
        "#6cb6ff",
        "#d6a5f2",
        "#e6c46a",
        "#ff8b86",
        "#7fd18b",
        ("#ffffff", "#24507a"),
    ),
    "light": Base(
        "#1f2328",
        "#fcfcfa",
        "#f3f4f2",
        "#e6e8e6",
        "#0b57b0",
        "#7a2fa0",
        "#7a4d00",
        "#b3201f",
        "#11662b",
        ("#ffffff", "#0b57b0"),
        dark=False,
    ),
    "contrast": Base(
        "#ffffff",
        "#000000",
        "#000000",
        "#1a1a1a",
        "#7fdbff",
        "#ffa6ff",
        "#ffe14d",
        "#ff9b94",
        "#66ff7f",
        ("#000000", "#ffe14d"),
    ),
    "ansi": Base(
        "ansi_default",
        "ansi_default",
        "ansi_default",
        "ansi_default",
        "ansi_blue",
        "ansi_magenta",
        "ansi_yellow",
        "ansi_red",
        "ansi_green",
        ("ansi_bright_white", "ansi_blue"),
        ansi=True,
    ),
    "mono": Base(
        "ansi_default",
        "ansi_default",
        "ansi_default",
        "ansi_default",
        "ansi_default",
        "ansi_default",
        "ansi_default",
        "ansi_default",
        "ansi_default",
        ("ansi_default", "ansi_default"),
        ansi=True,
    ),
}

_SHARED = {"bold": "bold", "italic": "italic", "strike": "strike", "caret": "reverse"}

STYLES: Mapping[str, Mapping[str, str]] = {
    "default": {
        **_SHARED,
        "dim": "#8d99a8",
        "link": "underline #82b1ff",
        "code": "#7fd1d8",
        "heading": "bold #d6a5f2",
        "prompt": "bold #6cc7f5",
        "tool": "#82b1ff",
        "ok": "#7fd18b",
        "warn": "#e6c46a",
        "error": "#ff8b86",
        "added": "#b9f0c3 on #12301c",
        "removed": "#ffc9c5 on #3a1a1c",
        "added-word": "bold #e4ffe9 on #1f5c33",
        "removed-word": "bold #ffe9e7 on #7a2a2e",
        "hunk": "#7fd1d8",
        "keyword": "#c9a0f0",
        "string": "#a8d58a",
        "number": "#f2a774",
        "comment": "italic #8d99a8",
        "function": "#82b1ff",
        "type": "#e6c46a",
        "operator": "#9fb8c8",
        "builtin": "#7fd1d8",
        "selected": "bold #ffffff on #24507a",
        "key": "bold #6cc7f5",
        "title": "bold",
    },
    "light": {
        **_SHARED,
        "dim": "#5b646e",
        "link": "underline #0b57b0",
        "code": "#0a5c66",
        "heading": "bold #7a2fa0",
        "prompt": "bold #0b57b0",
        "tool": "#7a2fa0",
        "ok": "#11662b",
        "warn": "#7a4d00",
        "error": "#b3201f",
        "added": "#0c4a20 on #dcf5e1",
        "removed": "#7d1414 on #fde3e1",
        "added-word": "bold #063214 on #a5e5b5",
        "removed-word": "bold #5c0b0b on #f7b5b0",
        "hunk": "#0a5c66",
        "keyword": "#7a2fa0",
        "string": "#11662b",
        "number": "#8f3d00",
        "comment": "italic #5b646e",
        "function": "#0b57b0",
        "type": "#7a4d00",
        "operator": "#4d5560",
        "builtin": "#0a5c66",
        "selected": "bold #ffffff on #0b57b0",
        "key": "bold #0b57b0",
        "title": "bold",
    },
    "contrast": {
        **_SHARED,
        "dim": "#cfcfcf",
        "link": "underline #7fdbff",
        "code": "#7fffff",
        "heading": "bold #ffa6ff",
        "prompt": "bold #7fdbff",
        "tool": "#9fd0ff",
        "ok": "#66ff7f",
        "warn": "bold #ffe14d",
        "error": "bold #ff9b94",
        "added": "#66ff7f",
        "removed": "#ff9b94",
        "added-word": "bold #000000 on #66ff7f",
        "removed-word": "bold #000000 on #ff9b94",
        "hunk": "#7fffff",
        "keyword": "#ffa6ff",
        "string": "#66ff7f",
        "number": "#ffc27a",
        "comment": "italic #cfcfcf",
        "function": "#9fd0ff",
        "type": "#ffe14d",
        "operator": "#ffffff",
        "builtin": "#7fffff",
        "selected": "bold #000000 on #ffe14d",
        "key": "bold #ffe14d",
        "title": "bold",
    },
    "ansi": {
        **_SHARED,
        "dim": "dim",
        "link": "underline",
        "code": "cyan",
        "heading": "bold magenta",
        "prompt": "bold cyan",
        "tool": "blue",
        "ok": "green",
        "warn": "yellow",
        "error": "red",
        "added": "green",
        "removed": "red",
        "added-word": "bold reverse green",
        "removed-word": "bold reverse red",
        "hunk": "cyan",
        "keyword": "magenta",
        "string": "green",
        "number": "yellow",
        "comment": "dim italic",
        "function": "blue",
        "type": "yellow",
        "operator": "",
        "builtin": "cyan",
        "selected": "bold reverse",
        "key": "bold cyan",
        "title": "bold",
    },
    "mono": {
        **_SHARED,
        "dim": "dim",
        "link": "underline",
        "heading": "bold",
        "prompt": "bold",
        "warn": "bold",
        "error": "bold",
        "added-word": "bold underline",
        "removed-word": "bold underline",
        "keyword": "bold",
        "comment": "dim",
        "selected": "bold reverse",
        "key": "bold",
        "title": "bold",
    },
}

"""The colours of a conversation at the terminal, by theme. Data, and which theme a person keeps."""

from __future__ import annotations

import os
from collections.abc import Mapping

from agenyx.ui.spans import SGR

Theme = Mapping[str, str]
"""Select Graphic Rendition parameters (ECMA-48) by the name of a style; what is missing is plain."""

THEMES: Mapping[str, Theme] = {
    "default": SGR,
    # Yellow and cyan can hardly be read on white.
    "light": {**SGR, "code": "34", "prompt": "1;34", "tool": "35", "warn": "1;35"},
    # For those who see little contrast: nothing faint, and the plain colours in bold.
    "contrast": {
        **{name: codes for name, codes in SGR.items() if name != "dim"},
        **{name: f"1;{SGR[name]}" for name in ("code", "tool", "ok", "warn", "error")},
    },
    "ansi": SGR,
    "mono": {"bold": "1", "dim": "2", "italic": "3", "link": "4", "strike": "9", "heading": "1", "prompt": "1"},
}


def chosen(home: str) -> str:
    """The theme of the home's settings; the usual one where none is kept, or where the file is wrong."""
    if not os.path.lexists(os.path.join(home, "settings.toml")):
        return "default"
    from agenyx.config import settings
    from agenyx.core.errors import AgenyxError

    try:
        found = settings.read(settings.home_file(home)).get("theme")
    except AgenyxError:  # told where the settings are read for the run
        found = None
    return str(found.value) if found else "default"

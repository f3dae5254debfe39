"""What a person set for the full screen, in settings.toml of the home. What is wrong there never keeps it from opening:
that is told where the settings are read for the run.
"""

from __future__ import annotations

import os

from msgspec import Struct

from agenyx.core.errors import AgenyxError
from agenyx.ui.tui.keymap import Keymap


class Preferences(Struct, frozen=True):
    """`keys` maps actions to keys; `notify`, `side_panel` and `editor_mode` are the settings of these names."""

    keys: dict[str, str] = {}
    notify: str = "auto"
    side_panel: str = "key"
    editor_mode: str = "emacs"

    @property
    def by_itself(self) -> bool:
        """Whether the panel at the side shows where there is room."""
        return self.side_panel == "wide"

    def keymap(self) -> Keymap:
        return Keymap(self.keys)


def preferences(home: str) -> Preferences:
    """Those of the home; the usual ones where nothing is set. The file is read only where there is one."""
    if not os.path.lexists(os.path.join(home, "settings.toml")):
        return Preferences()
    from agenyx.config import settings
    from agenyx.config.settings_table import KEYS_TABLE

    try:
        found = settings.read(settings.home_file(home))
    except AgenyxError:
        return Preferences()
    keys = {name.removeprefix(KEYS_TABLE): str(one.value) for name, one in found.items() if name.startswith(KEYS_TABLE)}
    said = {name: str(found[name].value) for name in ("notify", "side_panel", "editor_mode") if name in found}
    return Preferences(keys, **said)

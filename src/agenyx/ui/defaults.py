"""Fills in what the command line left open from settings.toml. Loaded only where there is such a file."""

from __future__ import annotations

from collections.abc import Mapping

from agenyx.config import settings
from agenyx.config.settings_table import KEYS
from agenyx.ui.flags import Options


def apply(options: Options, env: Mapping[str, str], home: str) -> None:
    """A flag and a set variable win over the home's file. Raises ConfigError for a file that is wrong.

    The workspace's file comes later, once it is trusted: it wins over what is filled in here. A model is passed over
    when the command line names a provider: it belongs to the one that the file means.
    """
    files = settings.read(settings.home_file(home))
    elsewhere = bool(options.provider or options.base_url)
    for key in KEYS:
        if not hasattr(options, key.name):
            continue  # it is no flag: whoever needs it reads it
        found = files.get(key.name)
        if found is None or getattr(options, key.name) or (key.variable and env.get(key.variable, "").strip()):
            continue
        if elsewhere and key.name in ("provider", "model"):
            continue
        if key.name == "permission_mode" and options.dangerous:
            continue
        setattr(options, key.name, str(found.value))
        options.yielding += (key.name,)

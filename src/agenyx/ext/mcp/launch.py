"""How a server's process is started: its environment, its directory, its arguments. Pure.

The environment is a short list and what is configured, nothing else: no credential of ours, no interpreter hook, no
proxy. What a server needs beyond that stands in its `env`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from agenyx.config.secrets import SECRET_NAME
from agenyx.ext.mcp.config import ServerConfig
from agenyx.proc.environment import search_path
from agenyx.proc.spawn import Spawn

_NAMES = frozenset(("HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TMP", "TEMP", "TZ", "LANG", "LANGUAGE", "TERM"))
_CONTAINED = 8  # a shorter secret would be found inside ordinary words


def environment(config: ServerConfig, env: Mapping[str, str], secrets: Iterable[str] = ()) -> dict[str, str]:
    """The whole environment of a server. No value that holds one of `secrets` is passed on from `env`."""
    hidden = tuple(secret for secret in secrets if secret)

    def clean(value: str) -> bool:
        return not any(value == secret or (len(secret) >= _CONTAINED and secret in value) for secret in hidden)

    child = {
        name: value
        for name, value in env.items()
        if (name in _NAMES or name.startswith("LC_")) and not SECRET_NAME.search(name) and clean(value)
    }
    child["PATH"] = ":".join(filter(clean, search_path(env.get("PATH", ""))))
    return child | dict(config.env)


def spawn(config: ServerConfig, root: str, env: Mapping[str, str], secrets: Iterable[str] = ()) -> Spawn:
    """What to start for a server; a relative directory counts from the workspace `root`."""
    return Spawn(
        argv=(config.command, *config.args),
        cwd=os.path.join(root, config.cwd) if config.cwd else root,
        env=environment(config, env, secrets),
        tracked=True,
    )

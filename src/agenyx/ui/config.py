"""`agenyx config`: shows, explains and changes settings. Words only; config.settings does the work."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from agenyx.app.trust import is_trusted
from agenyx.config import settings
from agenyx.config.home import home_path
from agenyx.config.settings_table import KEYS, Key, key_of
from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.core.tty import safe
from agenyx.ui.arguments import Arguments, arguments
from agenyx.ui.exits import FAILED, OK
from agenyx.ui.standard import show

HELP = """\
Usage: agenyx config list [--json]
       agenyx config get KEY
       agenyx config set KEY VALUE
       agenyx config unset KEY
       agenyx config explain KEY [--json]

Settings stand in settings.toml in the home (~/.agenyx, or AGENYX_HOME); a workspace may set a few of them in
.agenyx/settings.toml, which counts once it is trusted (agenyx trust --help). A flag wins over a variable, a variable
over the workspace, the workspace over the home.

  list            every key, what it is now and where that comes from
  get             the value in effect; exit code 1 when nothing sets it
  set, unset      change the file in the home; its comments stay
  explain         every place that can set the key, the strongest first
  --trust-workspace   read the workspace's file also where it is not trusted

Keys:
"""


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. Raises UsageError, ConfigError."""
    given = arguments("config", argv, switches=("--json", "--trust-workspace"), words=(0, 3))
    home, workspace = home_path(env), os.path.abspath(os.curdir)
    match given.words:
        case _ if given.help:
            show(HELP + "".join(f"  {key.name.ljust(16)}{key.help}; default: {key.default}\n" for key in KEYS))
        case ["list"]:
            _list(given, env, home, workspace)
        case ["get", name]:
            rows = _rows(name, given, env, home, workspace)
            value = next((row[2] for row in rows if row[2]), "")
            if not value:
                return FAILED
            show(safe(value) + "\n")
        case ["set", name, text]:
            key = _key(name)
            value = settings.parse_value(key, text)
            show(f"{settings.store(home, key, value)}: {name} = {safe(str(value))}\n")
        case ["unset", name]:
            show(f"{settings.store(home, _key(name), None)}: {name} is not set\n")
        case ["explain", name]:
            _explain(name, given, env, home, workspace)
        case []:
            raise UsageError("agenyx config needs a command", "See: agenyx config --help")
        case _:
            raise UsageError(f"agenyx config does not understand: {' '.join(given.words)}", "See: agenyx config --help")
    return OK


def _key(name: str) -> Key:
    key = key_of(name)
    if key is None:
        raise UsageError(f"unknown key {name!r}", settings.nearest(name))
    return key


def _rows(name: str, given: Arguments, env: Mapping[str, str], home: str, workspace: str) -> list[tuple[str, str, str]]:
    trusted = given.on("--trust-workspace") or is_trusted(home, os.path.realpath(workspace))
    files = settings.load(home, workspace, trusted)
    return settings.explain(name, files, env, trusted=trusted, workspace=workspace)


def _list(given: Arguments, env: Mapping[str, str], home: str, workspace: str) -> None:
    found: list[dict[str, str]] = []
    for key in KEYS:
        rows = _rows(key.name, given, env, home, workspace)
        place, where, value = next((row for row in rows if row[2]), rows[-1])
        found.append({"key": key.name, "value": value, "source": place, "where": where, "help": key.help})
    if given.on("--json"):
        show(json.encode(found).decode() + "\n")
        return
    wide = max(len(row["value"]) for row in found)
    show(
        safe(
            "".join(
                f"{row['key'].ljust(16)} {(row['value'] or '-').ljust(wide)}  ({row['source']}: {row['where']})\n"
                for row in found
            )
        )
    )


def _explain(name: str, given: Arguments, env: Mapping[str, str], home: str, workspace: str) -> None:
    rows = _rows(name, given, env, home, workspace)
    winner = next((row for row in rows if row[2]), rows[-1])
    if given.on("--json"):
        places = [{"source": p, "where": w, "value": v or None, "in_effect": (p, w, v) == winner} for p, w, v in rows]
        show(json.encode({"key": name, "value": winner[2] or None, "places": places}).decode() + "\n")
        return
    lines = [f"{name}: {_key(name).help}\n"]
    for row in rows:
        place, where, value = row
        mark = ">" if row == winner else " "
        lines.append(f"{mark} {place.ljust(12)} {where}{f' = {value}' if value else ''}\n")
    show(safe("".join(lines)))

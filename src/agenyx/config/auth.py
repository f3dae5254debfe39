"""`<home>/auth.json`: reading it, and changing one profile of it. What it may hold stands in auth_schema."""

from __future__ import annotations

import os
from typing import Any, cast

from agenyx.config import auth_schema as schema
from agenyx.config.auth_schema import Invalid
from agenyx.config.private import read_private, replace_private
from agenyx.config.profiles import Profile
from agenyx.core import json
from agenyx.core.errors import ConfigError, UsageError

NAME = "auth.json"
FILE_BYTES = 64 << 10
PLACEHOLDER = """\
A valid file (mode 0600) looks like this; or let Agenyx write it: agenyx login
{
  "version": 2,
  "providers": [
    {"id": "openai", "type": "openai", "openai": {"api_key": "YOUR-KEY", "model": "MODEL"}}
  ]
}"""


def load(home: str) -> tuple[Profile, ...] | None:
    """All profiles, None when there is no file. Raises ConfigError with path, reason and a placeholder document."""
    data = _read(home)
    if data is None:
        return None
    try:
        return schema.profiles(schema.document(data))
    except Invalid as error:
        raise _invalid(home, error) from None


def put(home: str, entry: dict[str, Any]) -> bool:
    """Add a provider entry, or replace the one of the same id, and keep the others. True when it replaced one.

    What the person declared beside it (default, capabilities) stays. A profile that was the only one was used without
    saying so: it becomes the default before a second one joins it. Raises ConfigError for a file that is invalid,
    before or after.
    """
    value, entries = _document(home)
    replaced = False
    changed: list[dict[str, Any]] = []
    for other in entries:
        if other["id"] == entry["id"]:
            kept = {key: other[key] for key in ("default", "capabilities") if key in other}
            changed.append(entry | kept)
            replaced = True
        else:
            changed.append(other)
    if not replaced:
        if len(changed) == 1:
            changed[0] = changed[0] | {"default": True}
        changed.append(entry)
    _write(home, value, changed)
    return replaced


def drop(home: str, provider: str) -> int:
    """Remove a profile; the number that is left. The file goes with its last one. Raises UsageError, ConfigError."""
    value, entries = _document(home)
    others = [entry for entry in entries if entry.get("id") != provider]
    if len(others) == len(entries):
        names = ", ".join(str(entry["id"]) for entry in entries)
        raise UsageError(f"auth.json has no profile {provider!r}", f"It has: {names or 'none'}.")
    if others:
        _write(home, value, others)
        return len(others)
    path = os.path.join(home, NAME)
    try:
        os.unlink(path)
    except OSError as error:
        raise ConfigError(f"{path} cannot be removed: {error.strerror}", "Remove it by hand.") from error
    return 0


def make_default(home: str, provider: str) -> None:
    """Mark this profile as the default, and no other. Raises ConfigError."""
    value, entries = _document(home)
    rest = [{key: item for key, item in entry.items() if key != "default"} for entry in entries]
    _write(home, value, [entry | ({"default": True} if entry["id"] == provider else {}) for entry in rest])


def _read(home: str) -> bytes | None:
    try:
        return read_private(home, NAME, FILE_BYTES)
    except ConfigError as error:
        raise ConfigError(error.message, f"{error.fix}\n{PLACEHOLDER}") from error


def _document(home: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The file as it stands, checked whole, and its entries; an empty one where there is none."""
    data = _read(home)
    if data is None:
        return {"version": schema.VERSION}, []
    try:
        value = schema.document(data)
        schema.profiles(value)
    except Invalid as error:
        raise _invalid(home, error) from None
    return value, cast("list[dict[str, Any]]", value["providers"])


def _write(home: str, value: dict[str, Any], entries: list[dict[str, Any]]) -> None:
    value = value | {"providers": entries}
    try:
        schema.profiles(value)
    except Invalid as error:
        raise ConfigError(f"this cannot be stored: {error}", "See: agenyx login --help") from None
    data = (json.pretty(value) + "\n").encode()
    if len(data) > FILE_BYTES:
        raise ConfigError(
            f"auth.json would be larger than {FILE_BYTES // 1024} KiB", "Remove profiles: agenyx logout ID"
        )
    replace_private(home, NAME, data)


def _invalid(home: str, error: Invalid) -> ConfigError:
    return ConfigError(f"{os.path.join(home, NAME)} is invalid: {error}", PLACEHOLDER)

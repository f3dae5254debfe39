"""settings.toml of the home and of a trusted workspace: reading, checking, changing one key. Knows no flags.

Flag, environment variable, workspace, home, default: in this order the first that says something counts. A file is
parsed only where there is one.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from typing import Any, cast

from msgspec import Struct

from agenyx.config.guard import HomeGuard
from agenyx.config.settings_table import BY_NAME, KEYS_TABLE, Key, Value, key_of, keys_text, rules_of
from agenyx.config.toml_edit import edited, line_of
from agenyx.core.errors import ConfigError, UsageError

NAME = "settings.toml"
FILE_BYTES = 64 << 10


class Found(Struct, frozen=True):
    """A value and where it stands."""

    value: Value
    path: str
    line: int


class Files(Struct, frozen=True):
    """What the files say, by key. The workspace's is empty unless it is trusted."""

    home: dict[str, Found] = {}
    workspace: dict[str, Found] = {}

    def get(self, name: str) -> Found | None:
        return self.workspace.get(name) or self.home.get(name)


def home_file(home: str) -> str:
    return os.path.join(home, NAME)


def workspace_file(workspace: str) -> str:
    return os.path.join(workspace, ".agenyx", NAME)


def load(home: str, workspace: str, trusted: bool) -> Files:
    """Both files, all of their keys checked. `trusted` says whether the workspace's may act; the home is no workspace.

    Raises ConfigError, which names file, line and the nearest key.
    """
    path = workspace_file(workspace)
    inside = read(path, of_workspace=True) if trusted and not HomeGuard(home).owns(os.path.realpath(path)) else {}
    return Files(read(home_file(home)), inside)


def read(path: str, *, of_workspace: bool = False) -> dict[str, Found]:
    """One file, {} where there is none. Raises ConfigError."""
    text = _text(path, of_workspace)
    return {} if text is None else check(text, path, of_workspace=of_workspace)


def check(text: str, path: str, *, of_workspace: bool = False) -> dict[str, Found]:
    """The keys of a file's text. Raises ConfigError for the first that is wrong."""
    import tomllib  # only where there is a file

    try:
        values: dict[str, Any] = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}", "Mend it, or see: agenyx config --help") from None
    found: dict[str, Found] = {}
    for name, value in _flat(values):
        line = line_of(text, name)
        key = key_of(name)
        if key is None:
            raise ConfigError(f"{path}:{line}: unknown key {name!r}", nearest(name))
        if of_workspace and key.ceiling == "home":
            raise ConfigError(
                f"{path}:{line}: a workspace may not set {name}", f"Remove it there; in {NAME} of the home it counts."
            )
        if wrong := key.wrong(value):
            raise ConfigError(f"{path}:{line}: {name} {wrong}", f"It is {key.help}.")
        found[name] = Found(_value(key, value), path, line)
    return found


def _value(key: Key, value: object) -> Value:
    match key.kind:
        case "rules":
            return rules_of(value)
        case "keys":
            return keys_text(value)
        case _:
            return cast("Value", value)


def _flat(values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The keys of the file with the table's name before those that stand in a table which the settings know."""
    tables = {name.partition(".")[0] for name in (*BY_NAME, KEYS_TABLE) if "." in name}
    for name, value in values.items():
        if name in tables and isinstance(value, dict):
            yield from ((f"{name}.{inner}", item) for inner, item in cast("dict[str, Any]", value).items())
        else:
            yield name, value


def nearest(name: str) -> str:
    """What to do about an unknown key."""
    import difflib

    close = difflib.get_close_matches(name.replace("-", "_").lower(), BY_NAME, n=1, cutoff=0.6)
    return (f"Did you mean {close[0]}? " if close else "") + "All keys: agenyx config list"


def parse_value(key: Key, text: str) -> Value:
    """A value as it is typed on a command line. Raises UsageError."""
    value: Value = text
    if key.kind == "rules":
        raise UsageError(f"{key.name} is a list", "Use: agenyx permissions add allow|ask|deny RULE")
    if key.kind == "integer" and re.fullmatch(r"\d{1,9}", text, re.ASCII):
        value = int(text)
    if wrong := key.wrong(value):
        raise UsageError(
            f"{key.name} {wrong.removesuffix(', without quotes').replace(' in quotes', '')}", f"It is {key.help}."
        )
    return value


def store(home: str, key: Key, value: Value | None) -> str:
    """Set a key in the home's file, None to remove it; comments and other lines stay as they are. Returns the path.

    Raises ConfigError, also when the file is written in a way that one line cannot be exchanged in.
    """
    from agenyx.config.private import replace_private

    path = home_file(home)
    text = _text(path, False) or ""
    before = {name: found.value for name, found in check(text, path).items()}
    changed = edited(text, key.name, value)
    wanted = {name: item for name, item in before.items() if name != key.name}
    wanted |= {} if value is None else {key.name: value}
    try:
        after = {name: found.value for name, found in check(changed, path).items()}
    except ConfigError:
        after = {}
    if after != wanted:
        raise ConfigError(f"{path} writes {key.name} in a way that is not changed automatically", "Edit it by hand.")
    replace_private(home, NAME, changed.encode())
    return path


def _text(path: str, of_workspace: bool) -> str | None:
    """The text of a file, None where there is none. Raises ConfigError for one that may not be trusted to be ours."""
    repair = f"Make it a plain file of yours: chmod go-w {path}"
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", repair) from error
    with open(descriptor, "rb") as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ConfigError(f"{path} is not a regular file", repair)
        if not of_workspace and (found.st_uid not in (0, os.geteuid()) or found.st_mode & 0o022):
            raise ConfigError(f"{path} can be changed by other users", repair)
        try:
            data = file.read(FILE_BYTES + 1)
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {error.strerror}", repair) from error
    if len(data) > FILE_BYTES:
        raise ConfigError(f"{path} is larger than {FILE_BYTES // 1024} KiB", "Remove what does not belong there.")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8 text", "Write it again as UTF-8.") from None


def explain(
    name: str, files: Files, env: Mapping[str, str], *, trusted: bool, workspace: str
) -> list[tuple[str, str, str]]:
    """Each place that can say something about a key, the strongest first: its name, where it is, and what it says.

    "" is nothing. Raises UsageError for an unknown key.
    """
    key = key_of(name)
    if key is None:
        raise UsageError(f"unknown key {name!r}", nearest(name))
    rows = [("flag", key.flag, "")]
    if key.variable:
        rows.append(("environment", key.variable, env.get(key.variable, "").strip()))
    if key.ceiling == "workspace":
        inside = files.workspace.get(name)
        where = f"{inside.path}:{inside.line}" if inside else workspace_file(workspace)
        rows.append(("workspace", where if trusted else f"{where} (not read: not trusted)", _shown(inside)))
    own = files.home.get(name)
    rows.append(("home", f"{own.path}:{own.line}" if own else NAME, _shown(own)))
    rows.append(("default", key.default, ""))
    return rows


def _shown(found: Found | None) -> str:
    if found is None:
        return ""
    if isinstance(found.value, tuple):
        return ", ".join(rule.rule for rule in found.value)
    return str(found.value)

"""settings.toml of the home and of a trusted workspace: reading, checking, changing one key. Knows no flags.

Flag, environment variable, workspace, home, default: in this order the first that says something counts. A file is
parsed only where there is one.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from agenyx.config.settings_table import BY_NAME, Key, Value
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
    """Both files, all of their keys checked. `trusted` says whether the workspace's may act.

    Raises ConfigError, which names file, line and the nearest key.
    """
    inside = read(workspace_file(workspace), of_workspace=True) if trusted else {}
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
    for name, value in values.items():
        line = line_of(text, name)
        key = BY_NAME.get(name)
        if key is None:
            raise ConfigError(f"{path}:{line}: unknown key {name!r}", nearest(name))
        if of_workspace and key.ceiling == "home":
            raise ConfigError(
                f"{path}:{line}: a workspace may not set {name}", f"Remove it there; in {NAME} of the home it counts."
            )
        if wrong := key.wrong(value):
            raise ConfigError(f"{path}:{line}: {name} {wrong}", f"It is {key.help}.")
        found[name] = Found(value, path, line)
    return found


def nearest(name: str) -> str:
    """What to do about an unknown key."""
    import difflib

    close = difflib.get_close_matches(name.replace("-", "_").lower(), BY_NAME, n=1, cutoff=0.6)
    return (f"Did you mean {close[0]}? " if close else "") + "All keys: agenyx config list"


def parse_value(key: Key, text: str) -> Value:
    """A value as it is typed on a command line. Raises UsageError."""
    value: Value = text
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


def edited(text: str, name: str, value: Value | None) -> str:
    """The text with the line of a key exchanged, added or (None) taken out. Pure."""
    lines = text.splitlines(keepends=True)
    number = line_of(text, name) - 1
    there = any(_is_line_of(line, name) for line in lines)
    comment = ""
    if there:
        tail = re.search(r"\s+#[^\"']*$", lines[number].rstrip("\r\n"))
        comment = tail[0] if tail else ""
    new = [] if value is None else [f"{name} = {_toml(value)}{comment}\n"]
    if there:
        lines[number : number + 1] = new
    else:
        if lines and new and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        lines += new
    return "".join(lines)


def line_of(text: str, name: str) -> int:
    """The line, from 1, on which a key or table stands; 1 where it cannot be told."""
    for number, line in enumerate(text.splitlines(), 1):
        if _is_line_of(line, name):
            return number
    return 1


def _is_line_of(line: str, name: str) -> bool:
    quoted = re.escape(name)
    return re.match(rf"""\s*(\[+\s*)?["']?{quoted}["']?\s*[=.\]]""", line) is not None


def _toml(value: Value) -> str:
    if isinstance(value, int):
        return str(value)
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


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
    key = BY_NAME.get(name)
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
    return "" if found is None else str(found.value)

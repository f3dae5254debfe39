"""Changes the files in which MCP servers are written down: the person's in the home, and `.mcp.json` of a workspace.

What it does not know stays as it is. A reader sees the old file or the new one.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any, Literal

from agenyx.config.private import replace_private
from agenyx.core import json
from agenyx.core.errors import AgenyxError, ConfigError, UsageError
from agenyx.ext.mcp.config import FILE_BYTES

Scope = Literal["user", "project"]
USER, PROJECT = "mcp.json", ".mcp.json"
_KEY = "mcpServers"


def path_of(scope: Scope, home: str, workspace: str) -> str:
    return os.path.join(home, USER) if scope == "user" else os.path.join(workspace, PROJECT)


def add(scope: Scope, home: str, workspace: str, name: str, entry: dict[str, Any]) -> tuple[bytes, bytes]:
    """Write a server down; what the file held before and holds now. Raises AgenyxError."""
    before, document, servers = _read(path_of(scope, home, workspace))
    if taken := _named(servers, name):
        raise UsageError(f"there is a server named {taken!r} already", f"Remove it first: agenyx mcp remove {taken}")
    return _write(scope, home, workspace, before, {**document, _KEY: {**servers, name: entry}})


def remove(scope: Scope, home: str, workspace: str, name: str) -> tuple[bytes, bytes] | None:
    """Take a server out; None when the file does not name it. Raises AgenyxError."""
    before, document, servers = _read(path_of(scope, home, workspace))
    taken = _named(servers, name)
    if not taken:
        return None
    del servers[taken]
    return _write(scope, home, workspace, before, {**document, _KEY: servers})


def _named(servers: dict[str, Any], name: str) -> str:
    return next((one for one in servers if one.casefold() == name.casefold()), "")


def _read(path: str) -> tuple[bytes, dict[str, Any], dict[str, Any]]:
    if os.path.islink(path):
        raise ConfigError(f"{path} is a symbolic link", "Change the file that it points to yourself.")
    try:
        with open(path, "rb") as file:
            data = file.read(FILE_BYTES + 1)
    except FileNotFoundError:
        return b"", {}, {}
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror}", "Make it readable for yourself.") from None
    try:
        document = json.strict(data, dict[str, Any]) if data.strip() else {}
        return data, document, dict(json.convert(document.get(_KEY, {}), dict[str, Any]))
    except json.JsonError as error:
        raise ConfigError(f"{path} is not valid: {error}", "Mend it first; nothing was changed.") from None


def _write(scope: Scope, home: str, workspace: str, before: bytes, document: dict[str, Any]) -> tuple[bytes, bytes]:
    data = json.pretty(document).encode() + b"\n"
    if scope == "user":
        replace_private(home, USER, data)
        return before, data
    path = path_of(scope, home, workspace)
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        mode = os.stat(path).st_mode & 0o777 if before else 0o644
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(temporary, flags, mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        raise AgenyxError(f"{path} cannot be written: {error.strerror}", "Make it writable, or --scope user.") from None
    return before, data

"""The application home: where it is, and making its folders private. It never falls back to another place silently."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Mapping

from agenyx.core.errors import ConfigError


def home_path(env: Mapping[str, str]) -> str:
    """`AGENYX_HOME` (absolute, not a filesystem root, no link) or `~/.agenyx`. Raises ConfigError; makes nothing."""
    chosen = env.get("AGENYX_HOME", "").strip()
    if not chosen:
        user = env.get("HOME", "").strip() or os.path.expanduser("~")
        if not os.path.isabs(user):
            raise ConfigError("there is no home directory", "Set HOME, or AGENYX_HOME to an absolute path.")
        return os.path.join(user, ".agenyx")
    if not os.path.isabs(chosen) or os.path.normpath(chosen) == "/":
        raise ConfigError(
            f"AGENYX_HOME is {chosen!r}, which is not an absolute path below the root",
            "Set it to an absolute directory, or unset it to use ~/.agenyx.",
        )
    if os.path.islink(chosen):
        raise ConfigError(f"AGENYX_HOME {chosen!r} is a symbolic link", "Name the directory itself.")
    return os.path.normpath(chosen)


def private_directory(path: str) -> None:
    """Make a directory and its missing parents with mode 0700. Raises OSError."""
    missing: list[str] = []
    while not os.path.isdir(path) and os.path.dirname(path) != path:
        missing.append(path)
        path = os.path.dirname(path)
    for directory in reversed(missing):  # os.makedirs gives the mode to the last one only
        try:
            os.mkdir(directory, 0o700)
        except FileExistsError:
            if not os.path.isdir(directory):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), directory) from None


def workspace_key(workspace: str) -> str:
    """The folder name of a workspace's sessions: 24 hex digits of the SHA-256 of its real path."""
    return hashlib.sha256(os.fsencode(os.path.realpath(workspace))).hexdigest()[:24]

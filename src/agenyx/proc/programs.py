"""Finds programs, also those that came with our own installation and are not on the PATH (`rg`, `shfmt`).

A program inside the workspace is never taken: a repository could bring its own `rg`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

_DISTRIBUTIONS = {"rg": "ripgrep", "shfmt": "shfmt-py"}


def find(name: str, env: Mapping[str, str], outside: str | None = None) -> str | None:
    """The absolute path of a program, or None.

    Looks in the scripts folder of the Python environment that runs us, then in the RECORD of the distribution that
    brings the program, then on the PATH of `env`, there leaving out what lies in or leads into `outside`.
    """
    if name in _DISTRIBUTIONS:
        found = _executable(os.path.join(_scripts(), name)) or _recorded(name)
        if found is not None:
            return found
    return on_path(name, env, outside)


def on_path(name: str, env: Mapping[str, str], outside: str | None = None) -> str | None:
    """As `find`, but only on the PATH; relative entries are left out."""
    wall = os.path.join(os.path.realpath(outside), "") if outside else ""
    for directory in env.get("PATH", "").split(":"):
        if not directory.startswith("/"):
            continue
        found = _executable(os.path.join(directory, name))
        if found is None or (wall and (_within(directory, wall) or _within(found, wall))):
            continue
        return found
    return None


def _within(path: str, wall: str) -> bool:
    return os.path.join(os.path.realpath(path), "").startswith(wall)


def _executable(path: str) -> str | None:
    return path if os.path.isfile(path) and os.access(path, os.X_OK) else None


def _scripts() -> str:
    if sys.prefix != sys.base_prefix:
        # In a virtual environment python lies there itself; sysconfig would cost a millisecond.
        return os.path.dirname(sys.executable)
    import sysconfig

    return sysconfig.get_path("scripts")


def _recorded(name: str) -> str | None:
    """Look the program up in the installed files of its distribution, such as after `pip install --user`."""
    from importlib import metadata

    try:
        files = metadata.files(_DISTRIBUTIONS[name]) or ()
    except metadata.PackageNotFoundError:
        return None
    for file in files:
        if file.name == name and file.parent.name in ("bin", "Scripts"):
            return _executable(os.path.abspath(file.locate()))
    return None

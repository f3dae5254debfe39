"""When a file or folder was made or changed, as far as the system tells: how a new one is told from one that was there.

Times are nanoseconds since the epoch. The clock of a file system may lag behind by GRAIN.
"""

from __future__ import annotations

import os
import sys
import time
from typing import cast

GRAIN = 20_000_000
_NOFOLLOW, _BTIME, _AT = 0x100, 0x800, 80  # statx(2): flags, mask, and where stx_btime lies in struct statx


def born(path: bytes) -> int | None:
    """Nanoseconds since the epoch; None where the system or the file system does not know, or nothing is there."""
    try:
        facts = os.lstat(path)
    except (OSError, ValueError):
        return None
    if (told := cast("float | None", getattr(facts, "st_birthtime", None))) is not None:  # macOS
        return int(told * 1e9)
    if not sys.platform.startswith("linux"):
        return None
    import ctypes  # Python before 3.15 has no statx

    try:
        statx = ctypes.CDLL(None, use_errno=True).statx
    except (OSError, AttributeError):
        return None
    found = ctypes.create_string_buffer(256)
    if statx(-100, ctypes.c_char_p(path), _NOFOLLOW, _BTIME, found):
        return None
    raw = found.raw
    if not int.from_bytes(raw[:4], sys.byteorder) & _BTIME:
        return None
    seconds = int.from_bytes(raw[_AT : _AT + 8], sys.byteorder, signed=True)
    return seconds * 1_000_000_000 + int.from_bytes(raw[_AT + 8 : _AT + 12], sys.byteorder)


def facts_of(path: bytes) -> tuple[int, ...]:
    """What tells one state of a file from another without reading it; () where nothing is there."""
    try:
        facts = os.lstat(path)
    except (OSError, ValueError):
        return ()
    return (facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_mode)


def settled(facts: tuple[int, ...]) -> bool:
    """Whether a later change is sure to show in the facts: clocks of file systems are coarse."""
    return bool(facts) and facts[4] < time.time_ns() - GRAIN


def changed_since(path: bytes, since: int) -> bool:
    try:
        return os.lstat(path).st_ctime_ns >= since
    except OSError:
        return False


def made_since(path: bytes, since: int) -> bool:
    """Also where the system does not tell."""
    made = born(path)
    return made is None or made >= since


def ignores_changed(tree: bytes, since: int) -> bool:
    """Whether what git ignores may have changed by its own settings."""
    own = os.path.join(tree, b".git")
    return any(changed_since(os.path.join(own, name), since) for name in (b"config", b"info/exclude"))

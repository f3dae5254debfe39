"""Which stored sessions are too old, too many or too large together. Chooses; deleting is done elsewhere."""

from __future__ import annotations

import os
import re
import stat
from typing import Literal

from msgspec import Struct

from agenyx.core.errors import UsageError
from agenyx.session.inventory import Found

Why = Literal["old", "many", "large"]
_AGE = re.compile(r"(\d{1,6})([dhw]?)")
_SIZE = re.compile(r"(\d{1,9})([KMG]?)(?:i?B)?", re.IGNORECASE)
_HOURS = {"h": 1, "d": 24, "": 24, "w": 168}
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class Limits(Struct, frozen=True):
    """`age` in seconds since the last record, `keep` a number of sessions, `size` in bytes of all; None: no limit."""

    age: float | None = None
    keep: int | None = None
    size: int | None = None


class Chosen(Struct, frozen=True):
    """A session to delete. `size` in bytes of everything in its folder."""

    found: Found
    why: Why
    size: int


def limits(older: str, keep: str, size: str) -> Limits:
    """From what a person wrote, "" for no limit: `30d`, `12h`, `2w`; a number; `500M`, `2G`. Raises UsageError."""
    age = _AGE.fullmatch(older)
    if older and not age:
        raise UsageError(f"--older-than {older!r} is no age", "For example: --older-than 30d, 12h or 8w")
    bytes_ = _SIZE.fullmatch(size)
    if size and not bytes_:
        raise UsageError(f"--max-size {size!r} is no size", "For example: --max-size 500M or 2G")
    if keep and not (keep.isascii() and keep.isdigit() and len(keep) < 10):
        raise UsageError(f"--keep {keep!r} is no number", "For example: --keep 50")
    return Limits(
        int(age[1]) * _HOURS[age[2]] * 3600.0 if age else None,
        int(keep) if keep else None,
        int(bytes_[1]) * _UNITS[bytes_[2].upper()] if bytes_ else None,
    )


def choose(found: list[Found], limits: Limits, now: float) -> list[Chosen]:
    """What exceeds the limits, of sessions that stand the latest first. The latest stay."""
    chosen: list[Chosen] = []
    kept = total = 0
    for one in found:
        size = size_of(one.directory)
        why: Why | None = None
        if limits.age is not None and now - one.updated_at > limits.age:
            why = "old"
        elif limits.keep is not None and kept >= limits.keep:
            why = "many"
        elif limits.size is not None and total + size > limits.size:
            why = "large"
        if why is None:
            kept, total = kept + 1, total + size
        else:
            chosen.append(Chosen(one, why, size))
    return chosen


def size_of(directory: str) -> int:
    """Bytes of all plain files below; what cannot be looked at counts as nothing."""
    total = 0
    try:
        with os.scandir(directory) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    total += size_of(entry.path)
                elif stat.S_ISREG(status.st_mode):
                    total += status.st_size
    except OSError:
        return total
    return total

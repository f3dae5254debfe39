"""Saved prompt states: files that let a fresh server skip the tokens of a prompt head it has read before.

A state fits one model file, one template and one head; that is its key. The hash beside it says whether the file is
whole: the server is never given one that is not.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress

from agenyx.llm.local import paths
from agenyx.llm.local.store import replace_file

KEEP = 4  # states of about 15 MB each


def slot_key(*what: bytes | str) -> str:
    """32 hex digits that stand for everything the state depends on."""
    sha = hashlib.sha256()
    for part in what:
        data = part.encode() if isinstance(part, str) else part
        sha.update(len(data).to_bytes(8) + data)
    return sha.hexdigest()[:32]


def file_name(key: str) -> str:
    return f"{key}.slot"


def whole(home: str, key: str) -> bool:
    """Whether a state is there and undamaged; a damaged one is removed."""
    path = os.path.join(paths.slots(home), file_name(key))
    try:
        with open(f"{path}.sha256", encoding="ascii") as file:
            if file.read(64) == _digest(path):
                return True
    except (OSError, UnicodeDecodeError):
        pass
    forget(home, key)
    return False


def seal(home: str, key: str) -> None:
    """Note the hash of a state that was just written, and remove the oldest beyond KEEP. Raises OSError."""
    folder = paths.slots(home)
    path = os.path.join(folder, file_name(key))
    replace_file(f"{path}.sha256", _digest(path).encode())
    states = [name for name in os.listdir(folder) if name.endswith(".slot")]
    states.sort(key=lambda name: os.stat(os.path.join(folder, name)).st_mtime_ns)
    for name in states[:-KEEP]:
        forget(home, name.removesuffix(".slot"))


def forget(home: str, key: str) -> None:
    for suffix in ("", ".sha256"):
        with suppress(OSError):
            os.unlink(os.path.join(paths.slots(home), file_name(key) + suffix))


def _digest(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

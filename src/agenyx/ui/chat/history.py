"""What was typed in earlier sessions: one JSON line an input, in a file of the home that only its owner reads.

Whatever goes wrong with the file, the history of this run works.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress

from msgspec import Struct

from agenyx.config.home import private_directory
from agenyx.core import json
from agenyx.core.redact import Masker

NAME = "history.jsonl"
MOST = 2_000  # inputs that are kept
LARGEST = 64 << 10  # characters of an input; a longer one (a pasted file) is not kept
_FILE = 8 << 20  # bytes that are read, from the end


class _Entry(Struct):
    text: str


class HistoryFile:
    """Shared by all sessions; appended under a lock, trimmed when it is read and has become twice too long."""

    def __init__(self, home: str, masker: Masker | None = None) -> None:
        self._masker = masker or Masker()
        self._path = os.path.join(home, NAME)

    def load(self) -> list[str]:
        """The newest first."""
        with suppress(OSError):
            return self._read()[::-1]
        return []

    def store(self, text: str) -> None:
        if not text.strip() or len(text) > LARGEST:
            return
        with suppress(OSError):
            private_directory(os.path.dirname(self._path))
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
            descriptor = os.open(self._path, flags, 0o600)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.write(descriptor, json.encode(_Entry(json.scrub(self._masker.text(text)))) + b"\n")
            finally:
                os.close(descriptor)

    def _read(self) -> list[str]:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, "r+b") as file:
            file.seek(max(0, os.fstat(descriptor).st_size - _FILE))
            rows = file.read().splitlines()
            texts = [text for row in rows if (text := _decode(row))]
            if len(rows) > 2 * MOST:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                file.seek(0)
                file.write(b"".join(json.encode(_Entry(text)) + b"\n" for text in texts[-MOST:]))
                file.truncate()
        return texts[-MOST:]


def _decode(row: bytes) -> str:
    try:
        return json.Decoder(_Entry).decode(row).text
    except json.JsonError:
        return ""

"""A file that grows piece by piece and survives a kill at any point: the bytes, and a journal of what counts.

The bytes go to `NAME.gguf.partial`. The journal names how many of them are certain; what lies behind was written by a
run that died and is cut off. Knows nothing of where the bytes come from.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress

from msgspec import Struct, structs

from agenyx.core import json
from agenyx.core.errors import AgenyxError
from agenyx.llm.local import paths

CHUNK = 1 << 20
GGUF_MAGIC = b"GGUF"


class InstallError(AgenyxError):
    """The model could not be installed."""


class Journal(Struct, frozen=True):
    """`want` names what is being fetched (a hash or an address): a journal of something else starts anew.

    `size` bytes of the partial file are certain. The first `whole` of them are the first `parts` numbered parts; the
    others came from a web server, whose name for that version of the file is `tag`.
    """

    want: str
    size: int = 0
    parts: int = 0
    whole: int = 0
    tag: str = ""


_journal = json.Decoder(Journal)


class Partial:
    """The growing file of one model. Not for two processes at once: the installer holds a lock."""

    def __init__(self, home: str, name: str, want: str) -> None:
        self.path = os.path.join(paths.models(home), f"{name}.gguf.partial")
        self._journal_path = os.path.join(paths.models(home), f"{name}.gguf.journal")
        self.journal = self._load(want)

    def _load(self, want: str) -> Journal:
        try:
            with open(self._journal_path, "rb") as file:
                journal = _journal.decode(file.read())
            if journal.want == want and os.stat(self.path).st_size >= journal.size >= 0:
                return journal
        except (OSError, json.JsonError):
            pass
        return Journal(want)

    def append(
        self, read: Callable[[int], bytes], grown: Callable[[int], None], parts: int = 0, tag: str = "", every: int = 0
    ) -> None:
        """Append what `read(n)` gives until it gives b"". `grown` gets the size of the file after each piece.

        `parts` is the journal's new count once all is there. `every` journals after so many bytes, for a source that
        can go on in the middle; else a piece counts whole or not at all. Raises OSError, and what `read` raises.
        """
        with open(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "r+b", buffering=0) as file:
            file.truncate(self.journal.size)
            size = noted = file.seek(self.journal.size)
            try:
                while data := read(CHUNK):
                    view = memoryview(data)
                    while view:
                        view = view[file.write(view) :]
                    size += len(data)
                    grown(size)
                    if every and size - noted >= every:
                        os.fsync(file.fileno())
                        self._note(structs.replace(self.journal, size=size, tag=tag))
                        noted = size
            finally:
                # A connection that broke leaves good bytes behind.
                if every and size > noted:
                    os.fsync(file.fileno())
                    self._note(structs.replace(self.journal, size=size, tag=tag))
            os.fsync(file.fileno())
        if parts:
            self._note(Journal(self.journal.want, size, parts, size))
        else:
            self._note(structs.replace(self.journal, size=size, tag=tag))

    def rewind(self) -> None:
        """Back to the end of the last whole part: a part cannot follow bytes that end in the middle of one."""
        if self.journal.size != self.journal.whole:
            self._note(structs.replace(self.journal, size=self.journal.whole, tag=""))

    def restart(self) -> None:
        """Forget every byte."""
        self._note(Journal(self.journal.want))

    def _note(self, journal: Journal) -> None:
        replace_file(self._journal_path, json.encode(journal))
        self.journal = journal

    def commit(self, target: str) -> None:
        """The bytes are right: give the file its name."""
        os.replace(self.path, target)

    def discard(self) -> None:
        """Remove bytes and journal."""
        for path in (self._journal_path, self.path):
            with suppress(FileNotFoundError):
                os.unlink(path)


def replace_file(path: str, data: bytes) -> None:
    """Write a small private file so that a reader sees the old content or the new one."""
    with open(os.open(f"{path}.tmp", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{path}.tmp", path)


def digest(path: str, read: Callable[[int], None]) -> str:
    """SHA-256 of a file in hex; `read` gets the number of bytes done. Raises InstallError when it is no GGUF file."""
    import hashlib

    sha, done = hashlib.sha256(), 0
    with open(path, "rb", buffering=0) as file:
        while data := file.read(CHUNK):
            if not done and not data.startswith(GGUF_MAGIC):
                raise InstallError(f"{path} is not a GGUF file", "Name a model file in the GGUF format.")
            sha.update(data)
            done += len(data)
            read(done)
    if not done:
        raise InstallError(f"{path} is empty", "Name a model file in the GGUF format.")
    return sha.hexdigest()

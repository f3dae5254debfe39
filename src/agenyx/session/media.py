"""The bytes of images and documents that a session shows its model: kept by their hash, for as long as it lives.

A request of a session that goes on has to hold the bytes that the one before it held. So nothing is dropped here to
make room, unlike the copies of `checkpoints.Blobs`: what finds no room is told in words instead.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from agenyx.config.home import private_directory
from agenyx.core.json import scrub
from agenyx.core.messages import Ability, Media
from agenyx.core.pictures import Broken, picture
from agenyx.core.tty import safe

FOLDER = "media"
MOST_ITEM = 20 << 20  # bytes (this and the next: AgentX §10)
MOST_SESSION = 512 << 20
NAME_CHARS = 100
STALE = 3_600  # seconds after which nobody writes a file any more
SMALLER = "Make a smaller copy with a shell command, then look at that."
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def _plain(_data: bytes) -> bool:
    return False


class MediaStore:
    """Files in `<directory>/media`, named by the SHA-256 of their content. May be used by several threads.

    `secret` tells of content that must not leave; `earlier` is the folder of the session that this one goes on from
    without writing to it, "" for none.
    """

    def __init__(
        self, directory: str, secret: Callable[[bytes], bool] = _plain, earlier: str = "", most: int = MOST_SESSION
    ) -> None:
        self._folder, self._secret, self._most = os.path.join(directory, FOLDER), secret, most
        self._folders = (self._folder, *([os.path.join(earlier, FOLDER)] if earlier else []))

    def keep(self, data: bytes, name: str, sees: Sequence[Ability]) -> Media | str | None:
        """The bytes as what a message can hold; a sentence where they cannot be shown; None for no image or document.

        `sees` is what the model can be shown. What is kept is on the disk when this returns.
        """
        try:
            found = picture(data)
        except Broken as problem:
            return f"It {problem}."
        if found is None:
            return None
        if found.kind == "image" and "images" not in sees:
            return "This model cannot see images."
        if found.kind == "document" and "documents" not in sees:
            return "This model cannot be shown documents."
        if len(data) > MOST_ITEM:
            return f"It has {len(data):,} bytes, and at most {MOST_ITEM:,} can be shown. {SMALLER}"
        if self._secret(data):
            return "It holds a configured key in its bytes, so it must not leave this machine."
        try:
            digest = self._put(data)
        except OSError as error:
            return f"Its bytes could not be kept: {error.strerror or error}."
        if not digest:
            return f"The images of this session take up the {self._most:,} bytes that they may. Begin a new session."
        return Media(found.kind, found.mime, digest, len(data), safe(scrub(name))[:NAME_CHARS])

    def get(self, media: Media) -> bytes | None:
        """The bytes, None when they are gone or damaged."""
        name = os.path.basename(media.sha256)
        for folder in self._folders:
            with suppress(OSError), open(os.open(os.path.join(folder, name), _READ), "rb") as file:
                data = file.read(MOST_ITEM + 1)
                if hashlib.sha256(data).hexdigest() == media.sha256:
                    return data
        return None

    def _put(self, data: bytes) -> str:
        """The hash under which the bytes stand now, "" where there is no room for them. Raises OSError."""
        digest = hashlib.sha256(data).hexdigest()
        path = os.path.join(self._folder, digest)
        private_directory(self._folder)
        used = 0
        with os.scandir(self._folder) as scan:
            for entry in scan:
                facts = entry.stat(follow_symlinks=False)
                if entry.name.endswith(".tmp") and facts.st_mtime < time.time() - STALE:
                    os.unlink(entry.path)  # a crash left it
                    continue
                if entry.name == digest and entry.is_file(follow_symlinks=False) and facts.st_size == len(data):
                    return digest
                used += facts.st_size
        if used + len(data) > self._most:
            return ""
        temporary = f"{path}.{os.urandom(4).hex()}.tmp"
        try:
            with open(os.open(temporary, _NEW, 0o600), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())  # the record that names it will be on the disk as well
            os.replace(temporary, path)
        except OSError:
            with suppress(OSError):
                os.unlink(temporary)
            raise
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
        return digest

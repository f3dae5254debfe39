"""Which content of a workspace the person trusts: by hash, so that a change asks again. Stored in the home."""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec import Struct

from agenyx.config.home import private_directory
from agenyx.core import json
from agenyx.core.errors import ConfigError

_FILE = "trust.json"
_FILE_BYTES = 4 << 20


class _Document(Struct, frozen=True):
    """`trusted`: by real path of the workspace, the SHA-256 of each file by its absolute path."""

    version: int = 1
    trusted: dict[str, dict[str, str]] = {}


class Trust:
    """The store. Reading a damaged store raises ConfigError: forgetting what was refused would be no safe default."""

    def __init__(self, home: str) -> None:
        self._path = os.path.join(home, _FILE)

    def holds(self, workspace: str, files: Iterable[tuple[str, str]]) -> bool:
        """Whether every (path, sha256) is trusted for this workspace. Raises ConfigError."""
        known = self._read().trusted.get(workspace, {})
        return all(known.get(path) == digest for path, digest in files)

    def grant(self, workspace: str, files: Iterable[tuple[str, str]]) -> None:
        """Remember that these contents are trusted. Raises ConfigError, OSError."""
        trusted = self._read().trusted
        merged = trusted | {workspace: trusted.get(workspace, {}) | dict(files)}
        temporary = f"{self._path}.{os.getpid()}.tmp"
        private_directory(os.path.dirname(self._path))
        with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(json.encode(_Document(1, merged)))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, self._path)

    def _read(self) -> _Document:
        try:
            with open(os.open(self._path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW), "rb") as file:
                data = file.read(_FILE_BYTES)
        except FileNotFoundError:
            return _Document()
        except OSError as error:
            raise ConfigError(f"{self._path} cannot be read: {error.strerror}", "Mend or remove it.") from error
        try:
            return json.Decoder(_Document).decode(data)
        except json.JsonError as error:
            raise ConfigError(f"{self._path} is damaged: {error}", "Remove it to be asked again.") from None

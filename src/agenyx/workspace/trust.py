"""Which content of a workspace the person trusts: by hash, so that a change asks again. Stored in the home.

A grant belongs to the real path of the folder that was opened and to that folder itself (device and inode); nothing is
taken over from git, from a folder above or from a copy elsewhere. Texts that were trusted are kept, so that a change
can be shown. Knows neither what acts nor how to ask.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, suppress

from msgspec import Struct
from msgspec.structs import replace

from agenyx.config.home import private_directory
from agenyx.config.private import read_private, replace_private
from agenyx.core import json
from agenyx.core.errors import ConfigError
from agenyx.workspace.files import FileProblem, content, opened
from agenyx.workspace.names import show

FILE, LOCK, TEXTS = "trust.json", "trust.lock", "trust"
IMPORT, BELOW = "import", "below"
ALONE = frozenset({IMPORT, BELOW})
"""Kinds of what was asked about by itself: a file that was taken in from outside, instructions in a folder below."""
_FILE_BYTES = 4 << 20
TEXT_BYTES = 256 << 10  # of one text that is kept for a later diff
_KEPT_BYTES = 4 << 20  # of all texts of one workspace
_RACY = 2_000_000_000  # ns: a clock tick of a coarse file system, in which a second change would not show


class Stamp(Struct, frozen=True, array_like=True):
    """What tells without reading that a file has not changed. Times in ns."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


class Trusted(Struct, frozen=True):
    """One file's content. Without a stamp it is read again the next time: it was still warm when it was read."""

    sha256: str
    kind: str
    size: int
    stamp: Stamp | None = None


class Grant(Struct, frozen=True):
    """What was trusted of one folder: files by absolute path, as `names.show` prints it. `at` in Unix seconds."""

    device: int
    inode: int
    at: float
    files: dict[str, Trusted]


class _Document(Struct, frozen=True):
    """`workspaces`: by the real path, as `names.show` prints it."""

    version: int = 2
    workspaces: dict[str, Grant] = {}


def fingerprint(top: str, path: str, cap: int, now: Callable[[], int] = time.time_ns) -> tuple[bytes, Trusted]:
    """The content of a regular file below a real folder, and what to remember of it. Raises FileProblem.

    No link is followed. The kind is left open.
    """
    shown = show(os.fsencode(os.path.join(top, path)))
    with opened(os.fsencode(top), tuple(os.fsencode(path).split(b"/")), shown) as (descriptor, facts):
        data = content(descriptor, facts, cap, shown).data
        after = os.fstat(descriptor)
    stamp = stamp_of(after)
    warm = stamp_of(facts) != stamp or now() - max(stamp.modified, stamp.changed) < _RACY
    return data, Trusted(hashlib.sha256(data).hexdigest(), "", len(data), None if warm else stamp)


def stamp_of(facts: os.stat_result) -> Stamp:
    return Stamp(facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)


class Trust:
    """The store. Reading a damaged store raises ConfigError: forgetting what was refused would be no safe default."""

    def __init__(self, home: str, clock: Callable[[], float] = time.time) -> None:
        self._home, self._clock = home, clock

    def all(self) -> dict[str, Grant]:
        """Every grant, by workspace. Raises ConfigError."""
        return self._read().workspaces

    def grant_of(self, workspace: str) -> Grant | None:
        """What is trusted of a workspace, None too where another folder stands at its path now. Raises ConfigError."""
        return _valid(self._read().workspaces, workspace)

    def holds(self, workspace: str, files: Mapping[str, Trusted]) -> bool:
        """Whether all these contents are trusted; stamps that are better now are kept. Raises ConfigError."""
        grant = self.grant_of(workspace)
        if grant is None or any(not _same(grant.files.get(path), file) for path, file in files.items()):
            return False
        if any(file.stamp and grant.files[path].stamp != file.stamp for path, file in files.items()):
            with suppress(OSError, ConfigError), self._changing() as grants:  # else it is read at every start
                if (grant := _valid(grants, workspace)) is not None:
                    better = {path: file for path, file in files.items() if _same(grant.files.get(path), file)}
                    grants[_key(workspace)] = replace(grant, files={**grant.files, **better})
        return True

    def grant(self, workspace: str, files: Mapping[str, Trusted], texts: Iterable[bytes] = ()) -> None:
        """Trust these contents, and nothing else, of a workspace from now on. Raises ConfigError, OSError.

        What was asked about by itself (ALONE) stays as it was answered. `texts` are contents to keep for a later diff;
        large ones are not.
        """
        self._granted(workspace, files, texts, ALONE)

    def add(self, workspace: str, files: Mapping[str, Trusted], texts: Iterable[bytes] = ()) -> None:
        """Trust these contents as well. Raises ConfigError, OSError."""
        self._granted(workspace, files, texts, None)

    def _granted(
        self, workspace: str, files: Mapping[str, Trusted], texts: Iterable[bytes], kinds: frozenset[str] | None
    ) -> None:
        """With what was trusted before and is of these kinds, None for all."""
        device, inode = _identity(workspace)
        with self._changing() as grants:
            self._keep(texts)
            before = _valid(grants, workspace)
            old = before.files.items() if before else ()
            kept = {path: file for path, file in old if kinds is None or file.kind in kinds}
            at = self._clock() if before is None or kinds is not None else before.at
            grants[_key(workspace)] = Grant(device, inode, at, {**kept, **files})

    def refresh(self, workspace: str, path: str, old: str, new: str, kind: str) -> bool:
        """Take over a change that the person approved: of a trusted file, or of a new one ("") in a trusted workspace.

        `path` is real and absolute, `old` and `new` are SHA-256 in hex, before and after. Returns whether the new
        content is trusted now: only if the old one was, and if the new one still stands there. Raises ConfigError,
        OSError.
        """
        shown = show(os.fsencode(path))
        try:
            data, now = fingerprint(os.path.dirname(path), os.path.basename(path), _FILE_BYTES)
        except FileProblem:
            return False
        if now.sha256 != new or self.grant_of(workspace) is None:
            return False
        with self._changing() as grants:
            grant = _valid(grants, workspace)
            was = grant.files.get(shown) if grant else None
            if grant is None or (was.sha256 if was else "") != old:
                return False
            self._keep([data])
            grants[_key(workspace)] = replace(grant, files={**grant.files, shown: replace(now, kind=kind)})
        return True

    def revoke(self, workspace: str) -> bool:
        """Forget a workspace; whether it was known. Raises ConfigError, OSError."""
        with self._changing() as grants:
            return grants.pop(_key(workspace), None) is not None

    def text(self, sha256: str) -> bytes | None:
        """A text that was trusted, None where it was not kept or is not what its name says."""
        try:
            data = read_private(self._texts, sha256, TEXT_BYTES)
        except ConfigError:
            return None
        return data if data is not None and hashlib.sha256(data).hexdigest() == sha256 else None

    @property
    def _texts(self) -> str:
        return os.path.join(self._home, TEXTS)

    def _keep(self, texts: Iterable[bytes]) -> None:
        kept = 0
        for data in texts:
            kept += len(data)
            if len(data) <= TEXT_BYTES and kept <= _KEPT_BYTES:
                replace_private(self._texts, hashlib.sha256(data).hexdigest(), data)

    @contextmanager
    def _changing(self) -> Generator[dict[str, Grant]]:
        """The grants to change, alone; then they are written, and texts that nothing refers to any more go."""
        private_directory(self._home)
        lock = os.open(os.path.join(self._home, LOCK), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            grants = dict(self._read().workspaces)
            yield grants
            replace_private(self._home, FILE, json.encode(_Document(2, grants)))
            used = {file.sha256 for grant in grants.values() for file in grant.files.values()}
            with suppress(OSError):
                for name in set(os.listdir(self._texts)) - used:
                    os.unlink(os.path.join(self._texts, name))
        finally:
            os.close(lock)

    def _read(self) -> _Document:
        data = read_private(self._home, FILE, _FILE_BYTES)
        if data is None:
            return _Document()
        try:
            return json.Decoder(_Document).decode(data)
        except json.JsonError as error:
            path = os.path.join(self._home, FILE)
            raise ConfigError(f"{path} is damaged: {error}", "Remove it to be asked again.") from None


def _same(known: Trusted | None, file: Trusted) -> bool:
    return known is not None and (known.sha256, known.kind) == (file.sha256, file.kind)


def _key(workspace: str) -> str:
    return show(os.fsencode(workspace))


def _valid(grants: Mapping[str, Grant], workspace: str) -> Grant | None:
    grant = grants.get(_key(workspace))
    try:
        return grant if grant and (grant.device, grant.inode) == _identity(workspace) else None
    except OSError:
        return None


def _identity(workspace: str) -> tuple[int, int]:
    """Raises OSError."""
    found = os.stat(workspace, follow_symlinks=False)
    return (found.st_dev, found.st_ino)

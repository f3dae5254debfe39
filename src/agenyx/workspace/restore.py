"""Looks at a path and puts it back, whatever it is: a file, a link, a folder, or nothing there. By descriptor.

Owns what a state of a path is to the system (see `Found`). Knows no history and asks nobody: whether a path may be
changed is decided before. All failures are FileProblem or "?"; every change first makes sure of what is there.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct

from agenyx.workspace import files, publish
from agenyx.workspace.files import FileProblem, Parts
from agenyx.workspace.names import show
from agenyx.workspace.root import Root

HASHED = 64 << 20  # bytes of the largest file that is compared
_CHUNK = 1 << 20


class Found(Struct, frozen=True):
    """`state` is "", a SHA-256, `link:` and the SHA-256 of its target, "folder" or "?"; `mode` is st_mode, 0 if absent.

    `data` is the content, or a link's target, where it is small enough; `why` says why the state is "?".
    """

    state: str
    mode: int = 0
    data: bytes | None = None
    why: str = ""


class Place:
    """Paths of a workspace, and outside of it for looking only."""

    def __init__(self, root: Root, cap: int) -> None:
        """`cap`: bytes of the largest content that is taken along."""
        self.root, self._cap = root, cap

    def look(self, real: bytes) -> Found:
        """What is there. Never raises."""
        top, parts = self._parts(real)
        if not parts:
            return Found("folder", stat.S_IFDIR | 0o755)
        try:
            with files.parent(top, parts) as folder:
                return self._found(folder, parts[-1], real)
        except (FileNotFoundError, NotADirectoryError):
            return Found("")
        except OSError as error:
            return Found("?", why=error.strerror or "it cannot be read")
        except FileProblem as problem:
            return Found("?", why=problem.message)

    def _found(self, folder: int, name: bytes, real: bytes) -> Found:
        facts = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if stat.S_ISLNK(facts.st_mode):
            target = os.readlink(name, dir_fd=folder)
            return Found(f"link:{hashlib.sha256(target).hexdigest()}", facts.st_mode, target)
        if stat.S_ISDIR(facts.st_mode):
            return Found("folder", facts.st_mode)
        descriptor, facts = files.open_regular(folder, name, show(real))
        try:
            if facts.st_size > HASHED:
                return Found("?", facts.st_mode, why=f"it is larger than {HASHED >> 20} MiB")
            pieces, digest = list[bytes](), hashlib.sha256()
            while piece := os.read(descriptor, _CHUNK):
                digest.update(piece)
                if facts.st_size <= self._cap:
                    pieces.append(piece)
            data = b"".join(pieces) if facts.st_size <= self._cap else None
            return Found(digest.hexdigest(), facts.st_mode, data)
        finally:
            os.close(descriptor)

    def below(self, real: bytes, most: int) -> tuple[list[bytes], bool]:
        """The paths below a folder, parents first, links not followed, `.git` left out; and whether it is all."""
        found = list(_walk(real, most + 1))
        return found[:most], len(found) <= most

    # --- changes ---------------------------------------------------------------------------------------------------

    def put(self, real: bytes, data: bytes, now: Found, perms: int) -> None:
        """A file with this content where `now` is. Raises FileProblem; then nothing has changed."""
        top, parts = self._changing(real)
        expected = now.state if stat.S_ISREG(now.mode) else ""
        if now.state and not expected:
            self._take(real, now)
        publish.replace(top, parts, show(real), data, expected, HASHED)
        self.permit(real, perms)

    def permit(self, real: bytes, perms: int) -> None:
        """Set the permission bits of a file or folder. Raises FileProblem."""
        top, parts = self._changing(real)
        try:
            with files.parent(top, parts) as folder:
                descriptor = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
                try:
                    os.fchmod(descriptor, perms & 0o777)
                finally:
                    os.close(descriptor)
        except OSError as error:
            raise files.explain(show(real), error, "changed") from None

    def link(self, real: bytes, target: bytes, now: Found) -> None:
        """A symbolic link where `now` is. Raises FileProblem."""
        top, parts = self._changing(real)
        if now.state:
            self._take(real, now)
        try:
            with files.parent(top, parts, make=True) as folder:
                os.symlink(target, parts[-1], dir_fd=folder)
        except OSError as error:
            raise files.explain(show(real), error, "made") from None

    def folder(self, real: bytes, now: Found, perms: int) -> None:
        """A folder where `now` is. Raises FileProblem."""
        top, parts = self._changing(real)
        if now.state:
            self._take(real, now)
        try:
            with files.parent(top, parts, make=True) as folder:
                os.mkdir(parts[-1], 0o700, dir_fd=folder)
            self.permit(real, perms)
        except OSError as error:
            raise files.explain(show(real), error, "made") from None

    def remove(self, real: bytes, now: Found) -> None:
        """Nothing where `now` is; a folder goes only when it is empty. Raises FileProblem."""
        self._changing(real)
        self._take(real, now)

    def _take(self, real: bytes, now: Found) -> None:
        top, parts = self._changing(real)
        shown = show(real)
        try:
            with files.parent(top, parts) as folder:
                if self._found(folder, parts[-1], real).state != now.state:
                    raise FileProblem(f"{shown} changed meanwhile", "It was left as it is.")
                if now.state == "folder":
                    os.rmdir(parts[-1], dir_fd=folder)
                else:
                    os.unlink(parts[-1], dir_fd=folder)
        except OSError as error:
            raise files.explain(shown, error, "removed") from None

    def _changing(self, real: bytes) -> tuple[bytes, Parts]:
        holder = self.root.holder(real)
        if holder is None or real in (self.root.real, holder.real):
            raise FileProblem(f"{show(real)} lies outside the workspace", "It was left as it is.")
        return self._parts(real)

    def _parts(self, real: bytes) -> tuple[bytes, Parts]:
        holder = self.root.holder(real)
        top = holder.real if holder is not None else b"/"
        return top, tuple(part for part in real[len(top) :].split(b"/") if part)


def _walk(folder: bytes, most: int) -> Iterator[bytes]:
    waiting, seen = [folder], 0
    while waiting and seen < most:
        here, names = waiting.pop(), list[tuple[bytes, bool]]()
        with suppress(OSError), os.scandir(here) as scan:
            names = [(entry.path, entry.is_dir(follow_symlinks=False)) for entry in scan if entry.name != b".git"]
        for path, deeper in sorted(names):
            yield path
            seen += 1
            if deeper:
                waiting.append(path)

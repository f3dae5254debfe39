"""The workspace root: from a path in words to a `PathRef`, and the only way to the files below it.

Owns containment, protection and identity of paths. Knows no tool, no rule and no text encoding; what is protected, and
why, is told by the `protected` callable.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from typing import Literal

from agenyx.core.limits import FILE_BYTES
from agenyx.core.tools import PathRef
from agenyx.workspace import files, publish
from agenyx.workspace.files import FileContent, FileProblem, Listed
from agenyx.workspace.names import literal, parse, show

_PATH_BYTES = 4096
_KERNEL = (b"/dev", b"/proc", b"/sys")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")


def _unprotected(_path: bytes) -> str:
    return ""


def _within(path: bytes, folder: bytes) -> bool:
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")


def _spelling(text: str) -> str:
    """Why a spelling is refused before anything is looked up; "" if it is not."""
    if not text.strip():
        return "The path is empty; name a file or folder in the workspace"
    if text.startswith("~"):
        return "A leading ~ is not expanded; write the path out, or ./~name for a name that begins so"
    if _URL.match(text):
        return "This is an address, not a path; give a path in the workspace"
    raw = parse(text)
    if b"\0" in raw:
        return "The path holds a NUL character; give a plain path"
    if len(raw) > _PATH_BYTES:
        return "The path is too long; give a shorter one"
    return ""


class Root:
    """One workspace folder. `path` is its real path; `protected` maps a real path to why it is protected, or ""."""

    def __init__(self, path: str, protected: Callable[[bytes], str] = _unprotected) -> None:
        self.real = os.path.realpath(os.fsencode(path))
        self.path = os.fsdecode(self.real)
        self._shown = show(self.real)
        self._protected = protected

    def ref(self, text: str) -> PathRef:
        """Resolve a path, relative to the root or absolute, links followed. Never raises: see `PathRef.problem`."""
        if problem := _spelling(text):
            return PathRef(show(literal(text[:200])), b"", None, problem=problem)
        raw = parse(text)
        if raw != literal(text) and not os.path.lexists(os.path.join(self.real, raw)):
            plain = os.path.join(self.real, literal(text))
            raw = plain if os.path.lexists(plain) else raw
        try:
            real = os.path.realpath(os.path.join(self.real, raw))
        except (OSError, ValueError, RecursionError):
            return PathRef(show(raw), b"", None, problem=f"{show(raw)} cannot be resolved; check the path with LS")
        return self.at(real)

    def at(self, real: bytes) -> PathRef:
        """The reference of an absolute path that holds no links."""
        inside = _within(real, self.real)
        shown = self._relative(real) if inside else show(real)
        problem, facts = "", None
        try:
            facts = os.stat(real, follow_symlinks=False)
            if stat.S_ISLNK(facts.st_mode):  # the only links that resolving leaves are loops
                raise OSError(errno.ELOOP, "loop")
        except OSError as error:
            if error.errno == errno.ELOOP:
                problem = f"{shown} is a loop of symbolic links; use another path"
            elif error.errno == errno.ENAMETOOLONG:
                problem = "A name in the path is too long for the file system; use a shorter one"
        if any(_within(real, place) and not _within(self.real, place) for place in _KERNEL):
            problem = f"{shown} is a device or kernel file; use a regular file in the workspace"
        elif not inside:
            problem = f"{shown} lies outside the workspace {self._shown}; use a path inside it"
        identity = (facts.st_dev, facts.st_ino) if facts else None
        protected = self._protected(real)
        if facts and not protected and inside and stat.S_ISREG(facts.st_mode) and facts.st_nlink > 1:
            protected = self._alias(real, facts)
        return PathRef(shown, real, self._shown if inside else None, identity, protected, problem)

    def key(self, ref: PathRef) -> str:
        """The absolute path as text, for maps of what was observed. Equals the path where its name is clean UTF-8."""
        return show(ref.real)

    def kind(self, ref: PathRef) -> Literal["file", "folder", "other", "missing"]:
        try:
            mode = os.stat(ref.real, follow_symlinks=False).st_mode
        except (OSError, ValueError):
            return "missing"
        return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"

    def opened(self, ref: PathRef) -> AbstractContextManager[tuple[int, os.stat_result]]:
        """A descriptor open for reading, and its facts. Raises FileProblem on entry."""
        return files.opened(self.real, self._parts(ref), ref.shown)

    def read_bytes(self, ref: PathRef, cap: int = FILE_BYTES) -> FileContent:
        """A whole regular file of at most `cap` bytes. Raises FileProblem."""
        return files.read(self.real, self._parts(ref), ref.shown, cap)

    def entries(self, ref: PathRef, cap: int = 100_000) -> tuple[list[Listed], bool]:
        """The names in a folder, unordered, at most `cap`; and whether there are more. Raises FileProblem."""
        return files.entries(self.real, self._parts(ref), ref.shown, cap)

    def replace(self, ref: PathRef, data: bytes, expected: str | None = None) -> str:
        """Put `data` in place of the file in one step and return its SHA-256; see `publish.replace`."""
        return publish.replace(self.real, self._parts(ref), ref.shown, data, expected, FILE_BYTES)

    def _parts(self, ref: PathRef) -> files.Parts:
        if ref.problem:
            raise FileProblem(ref.problem)
        if not _within(ref.real, self.real):
            raise FileProblem(f"{ref.shown} lies outside the workspace {self._shown}", "Use a path inside it.")
        return tuple(part for part in ref.real[len(self.real) :].split(b"/") if part)

    def _relative(self, real: bytes) -> str:
        shown = show(real[len(self.real) :].lstrip(b"/")) or "."
        return f"./{shown}" if shown.startswith("~") else shown

    def _alias(self, real: bytes, facts: os.stat_result) -> str:
        """Whether another name of this file, in its own folder or one above it, is protected."""
        folder: bytes = os.path.dirname(real)
        while _within(folder, self.real):
            with suppress(OSError), os.scandir(folder) as scan:
                for entry in scan:
                    if entry.inode() == facts.st_ino and (why := self._protected(entry.path)):
                        return f"another name of {self._relative(entry.path)}: {why}"
            if folder == self.real or folder == b"/":
                break
            folder = os.path.dirname(folder)
        return ""

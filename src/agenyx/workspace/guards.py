"""What lies below or behind a path: Agenyx's own folder, protected files in a tree, other names of protected files.

Owns the bounded looking around that names alone cannot answer. Which names are protected is told by callables.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from agenyx.workspace.names import show
from agenyx.workspace.resolve import resolve

Protected = Callable[[bytes], str]

_ENTRIES = 100_000  # of a tree that are looked at
_SECONDS = 0.3
_LISTED = 500  # files of a folder of known secrets
_NAMED = 3
# Other programs keep thousands of files here and people none of their secrets; `.git` is judged as a whole.
_PASSED_OVER = frozenset({b".git", b"node_modules", b"site-packages", b"dist-packages", b"__pycache__"})
_KERNEL = (b"/dev", b"/proc", b"/sys")


def within(path: bytes, folder: bytes) -> bool:
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")


def _folded(path: bytes) -> bytes:
    """As a file system that folds names compares them."""
    text = os.fsdecode(path)
    if text.isascii():
        return path.lower()
    from unicodedata import normalize

    return os.fsencode(normalize("NFC", normalize("NFC", text).casefold()))


class Guards:
    """`root` is the workspace, `home` Agenyx's own folder, b"" for none; `known` as in `Root`."""

    def __init__(
        self, root: bytes, protected: Protected, below: Protected, home: bytes, known: tuple[bytes, ...]
    ) -> None:
        self._root, self._protected, self.below, self._known = root, protected, below, known
        self._home = os.path.realpath(home) if home else b""
        self._homes = tuple({_folded(home), _folded(self._home)}) if home else ()
        self._first = self._now()  # a home that is moved away is still the home

    def owns(self, real: bytes, thorough: bool = False) -> bool:
        """Whether a path lies in Agenyx's own folder, also by another name of it; `thorough` compares identities."""
        if not self._homes:
            return False
        folded = _folded(real)
        if any(within(folded, home) for home in self._homes):
            return True
        return thorough and self._reaches(real)

    def above_home(self, real: bytes) -> bool:
        return any(within(home, _folded(real)) for home in self._homes)

    def _now(self) -> tuple[int, int] | None:
        with suppress(OSError):
            facts = os.stat(self._home)
            return facts.st_dev, facts.st_ino
        return None

    def _reaches(self, real: bytes) -> bool:
        homes = {self._first, self._now()} - {None}
        path = real
        while homes and path not in (b"", b"/"):
            with suppress(OSError):
                facts = os.stat(path, follow_symlinks=False)
                if (facts.st_dev, facts.st_ino) in homes:
                    return True
            path = os.path.dirname(path)
        return False

    def holds(self, folder: bytes, changing: bool, hidden: bool) -> str:
        """Why going through a whole tree needs a question, or "". Bounded; what cannot be looked through is asked."""
        if self.above_home(folder):
            return "it holds the folder of Agenyx itself"
        if any(within(place, folder) or within(folder, place) for place in _KERNEL):
            return "it holds devices and files of the kernel"
        why = self._protected if changing else self.below
        found, first = list[bytes](), ""
        inodes = {inode for _, inode in self._identities()}
        end, partial = time.monotonic() + _SECONDS, ""
        closed = set[bytes]()
        for seen, entry in enumerate(_walk(folder, closed, hidden)):
            if seen >= _ENTRIES or (seen % 256 == 255 and time.monotonic() > end):
                partial = f"it is too large to be looked through (more than {seen:,} files)"
                break
            if reason := self._reason(entry, why, inodes):
                first = first or reason
                found.append(os.path.relpath(entry.path, folder))
                closed.add(entry.path)
        if not found:
            return partial
        names = ", ".join(show(name) for name in sorted(found)[:_NAMED])
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        return f"it holds {names}{more}: {first}" + (f"; {partial}" if partial else "")

    def _reason(self, entry: os.DirEntry[bytes], why: Protected, inodes: set[int]) -> str:
        if reason := why(entry.path):
            return reason
        if entry.is_symlink():  # some programs follow the links that they meet
            target = resolve(entry.path).real
            own = self.owns(target) or self.above_home(target)
            return _leads(why(target) or ("it is, or holds, the folder of Agenyx" if own else ""))
        if entry.inode() in inodes:
            with suppress(OSError):
                facts = entry.stat(follow_symlinks=False)
                if (facts.st_dev, facts.st_ino) in self._identities():
                    return "it is another name of a file with secrets"
        return ""

    def other_name(self, real: bytes, facts: os.stat_result, why: Protected, thorough: bool) -> bytes | None:
        """The path by which a file with several names is protected, as far as that can be found.

        Looked for among the known secrets, in its own folder and those above it; if `thorough`, in the whole root.
        """
        if path := self._identities().get((facts.st_dev, facts.st_ino)):
            return path
        folder: bytes = os.path.dirname(real)
        while within(folder, self._root):
            with suppress(OSError), os.scandir(folder) as scan:
                for entry in scan:
                    if entry.inode() == facts.st_ino and why(entry.path):
                        return entry.path
            if folder in (self._root, b"/"):
                break
            folder = os.path.dirname(folder)
        end = time.monotonic() + _SECONDS
        for seen, entry in enumerate(_walk(self._root, set()) if thorough else ()):
            if seen >= _ENTRIES or (seen % 256 == 255 and time.monotonic() > end):
                break
            if entry.inode() == facts.st_ino and why(entry.path):
                return entry.path
        return None

    def _identities(self) -> dict[tuple[int, int], bytes]:
        found: dict[tuple[int, int], bytes] = {}
        for path in _expanded(self._known):
            with suppress(OSError):
                facts = os.stat(path)
                if stat.S_ISREG(facts.st_mode):
                    found[(facts.st_dev, facts.st_ino)] = path
        return found


def _leads(reason: str) -> str:
    return f"it leads to what is protected: {reason}" if reason else ""


def _expanded(known: tuple[bytes, ...]) -> Iterator[bytes]:
    for path in known:
        if not path.endswith(b"/*"):
            yield path
            continue
        with suppress(OSError), os.scandir(path[:-2]) as scan:
            for _, entry in zip(range(_LISTED), scan, strict=False):
                yield entry.path


def _walk(folder: bytes, closed: set[bytes], hidden: bool = True) -> Iterator[os.DirEntry[bytes]]:
    """Every entry of a tree, links not followed. Folders in `closed` are not entered, nor some by name."""
    todo = [folder]
    while todo:
        if (path := todo.pop()) in closed:
            continue
        with suppress(OSError), os.scandir(path) as scan:
            for entry in scan:
                if not hidden and entry.name.startswith(b"."):
                    continue
                yield entry
                if entry.name not in _PASSED_OVER and entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)

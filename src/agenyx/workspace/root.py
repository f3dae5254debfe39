"""The workspace root: from a path in words to a `PathRef`, and the only way to the files below it.

Owns containment, protection and identity of paths. Further folders stand beside it, each a root of its own with its own
guards: the root that holds a path judges and opens it. Knows no tool, no rule and no text encoding; what is protected,
and why, is told by callables.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Literal

from agenyx.core.limits import FILE_BYTES
from agenyx.core.tools import PathRef
from agenyx.workspace import files, publish
from agenyx.workspace.files import FileContent, FileProblem, Judged, Listed
from agenyx.workspace.guards import Guards, Protected, within
from agenyx.workspace.names import literal, parse, show
from agenyx.workspace.resolve import Resolved, forbidden, harmless, resolve

_PATH_BYTES = 4096
_KERNEL = (b"/dev", b"/proc", b"/sys")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_OWN = "belongs to Agenyx itself, with its keys and sessions; nothing in it is used by a tool"
_STANDS = "/proc/self/fd"


_Use = Literal["read", "write", "tree"]  # see policy.paths


def _unprotected(_path: bytes) -> str:
    return ""


def _spelling(text: str) -> str:
    """Why a spelling is refused before anything is looked up; "" if it is not."""
    if not text.strip():
        return "The path is empty; name a file or folder in the workspace"
    if text.startswith("~"):
        return "A leading ~ is not expanded; write the path out, or ./~name for a name that begins so"
    # Looking such a path up can already send the person's password hash to the host that it names.
    if text.startswith(("\\\\", "\\??\\", "//")) and not text.startswith("///"):
        return "This names another machine or a device of Windows; give a path in the workspace"
    if _URL.match(text):
        return "This is an address, not a path; give a path in the workspace"
    return _unusable(parse(text))


def _unusable(raw: bytes) -> str:
    if b"\0" in raw:
        return "The path holds a NUL character; give a plain path"
    if len(raw) > _PATH_BYTES:
        return "The path is too long; give a shorter one"
    return ""


class Root:
    """One workspace folder. `path` is its real path; `beside` are the folders that the person added to it.

    `protected` maps a real path to why it may not be read unasked, or "". `changing` does so for changing it, `below`
    for taking it along with a whole folder; both are `protected` if not given. `home` is Agenyx's own folder, which no
    tool may use. `known` are protected files outside, whose other names are known by identity; `/*` at the end stands
    for every file of a folder.
    """

    def __init__(
        self,
        path: str,
        protected: Protected = _unprotected,
        *,
        changing: Protected | None = None,
        below: Protected | None = None,
        home: str = "",
        known: tuple[bytes, ...] = (),
    ) -> None:
        self.real = os.path.realpath(os.fsencode(path))
        self.path = os.fsdecode(self.real)
        self._shown = show(self.real)
        changing, below = changing or protected, below or protected
        self.beside: tuple[Root, ...] = ()
        self._reading, self._changing = protected, changing
        self._guards = Guards(self.real, protected, below, os.fsencode(home), known)
        try:
            facts = os.stat(self.real)
            self._identity = (facts.st_dev, facts.st_ino)
        except OSError:
            self._identity = None

    # --- further folders -------------------------------------------------------------------------------------------

    def join(self, other: Root) -> bool:
        """Take a further folder in; False where it is held already. Those that lie below it are part of it then."""
        if self.holder(other.real) is not None and not within(self.real, other.real):
            return False
        self.beside = (*(one for one in self.beside if not within(one.real, other.real)), other)
        return True

    def holder(self, real: bytes) -> Root | None:
        """The root that holds a path, None where it lies outside of all. The workspace comes first: it may lie below
        a folder that was added."""
        if within(real, self.real):
            return self
        return next((one for one in self.beside if within(real, one.real)), None)

    def folders(self) -> tuple[str, ...]:
        """The real paths of the folders that were added."""
        return tuple(one.path for one in self.beside)

    # --- from words to references ----------------------------------------------------------------------------------

    def ref(self, text: str, writing: bool = False) -> PathRef:
        """Resolve a path, relative to the root or absolute, links followed. Never raises: see `PathRef.problem`."""
        if problem := _spelling(text):
            return PathRef(show(literal(text[:200])), b"", None, problem=problem)
        raw = parse(text)
        if raw != literal(text) and not os.path.lexists(os.path.join(self.real, raw)):
            plain = os.path.join(self.real, literal(text))
            raw = plain if os.path.lexists(plain) else raw
        found = resolve(os.path.join(self.real, raw))
        return self._ref(found, "write" if writing else "read", self._confined)

    def word(self, word: str, cwd: str = "", writing: bool = False, removing: bool = False) -> PathRef:
        """The path that a word of a shell command names, in a directory: absolute, or relative to the root.

        Outside the root it has `root=None` and no problem: that is for rules to judge. `/dev/null` and its like, and
        the descriptors of the command itself, count as inside, with `/dev` as their root. A problem has what nothing
        may ever use: Agenyx's own folder, disks, memory, and the files of the kernel that hold secrets of processes.
        With `removing`, a link at the end stands for itself, as it is the link that goes. Never raises.
        """
        raw, folder = literal(word), literal(cwd)
        if problem := _unusable(raw) or _unusable(folder):
            return PathRef(show(raw[:200]), b"", None, problem=problem)
        found = resolve(os.path.join(self.real, folder, raw), follow=not removing)
        return self._ref(found, "write" if writing or removing else "read", self._forbidden)

    def at(self, real: bytes, writing: bool = False) -> PathRef:
        """The reference of an absolute path that holds no links."""
        return self._ref(Resolved(real), "write" if writing else "read", self._confined)

    def found(self, real: bytes) -> PathRef:
        """The reference of a path that was met below a folder, not named: protected only if it holds secrets."""
        return self._ref(Resolved(real), "tree", self._confined, thorough=False)

    def owns(self, real: bytes) -> bool:
        """Whether a path lies in Agenyx's own folder, by its name."""
        return self._guards.owns(real)

    def hides(self, real: bytes) -> str:
        """Whether a name met below a folder is left out of lists: why, or "". Looks at the name only."""
        return _OWN if self._guards.owns(real) else self._protected(real, "tree")

    def holds(self, ref: PathRef, writing: bool = False, hidden: bool = True) -> str:
        """Why the tree below a folder must not be read, or changed, as a whole unasked, or "".

        Without `hidden`, what begins with a dot is passed over, as some programs do. Bounded in size and time: what
        cannot be looked through wholly is asked about.
        """
        return self._of(ref.real)._guards.holds(ref.real, writing, hidden) if ref.real else ""

    def keeps_home(self, ref: PathRef) -> bool:
        """Whether Agenyx's own folder lies below a path: whoever goes through the whole tree would reach it."""
        return bool(ref.real) and self._guards.above_home(ref.real)

    def _of(self, real: bytes) -> Root:
        return self.holder(real) or self

    def _protected(self, real: bytes, use: _Use) -> str:
        """Why a path is protected from this use, by the root that holds it, or ""."""
        holder = self._of(real)
        if use == "tree":
            return holder._guards.below(real)
        return holder._changing(real) if use == "write" else holder._reading(real)

    def _ref(
        self,
        found: Resolved,
        use: _Use,
        refuse: Callable[[bytes, str, os.stat_result | None], str],
        thorough: bool = True,
    ) -> PathRef:
        real, holder = found.real, self.holder(found.real)
        shown = self._relative(real) if holder is self else show(real)
        problem, facts = "", None
        try:
            facts = os.stat(real, follow_symlinks=False)
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                problem = "A name in the path is too long for the file system; use a shorter one"
        if found.problem:
            problem = f"{shown} {found.problem}"
        if self._guards.owns(real, thorough):
            problem = f"{shown} {_OWN}"
        problem = refuse(real, shown, facts) or problem
        identity = (facts.st_dev, facts.st_ino) if facts else None
        protected = next((reason for path in (real, *found.via) if (reason := self._protected(path, use))), "")
        if facts and not protected and stat.S_ISCHR(facts.st_mode) and not harmless(real):
            protected = "it is a device"
        if facts and not protected and stat.S_ISREG(facts.st_mode) and facts.st_nlink > 1:
            protected = self._alias(real, facts, use, thorough)
        root = holder._shown if holder is not None else "/dev" if harmless(real) else None
        return PathRef(shown, real, root, identity, protected, problem)

    def _alias(self, real: bytes, facts: os.stat_result, use: _Use, thorough: bool) -> str:
        """Whether a file with several names is a protected one: looked for where it lies, then in the other roots."""

        def why(path: bytes) -> str:
            return self._protected(path, use)

        first = self._of(real)
        for root in (first, *(one for one in (self, *self.beside) if one is not first)):
            if (other := root._guards.other_name(real, facts, why, thorough)) is not None:
                named = self._relative(other) if within(other, self.real) else show(other)
                return f"another name of {named}: {why(other) or 'it holds secrets'}"
        return ""

    def _confined(self, real: bytes, shown: str, facts: os.stat_result | None) -> str:
        """Why a file tool must not use a path, or ""."""
        if any(within(real, place) and not within(self.real, place) for place in _KERNEL):
            return f"{shown} is a device or kernel file; use a regular file in the workspace"
        if self.holder(real) is None:
            return f"{shown} lies outside the {self._walls()}"
        if facts and stat.S_ISLNK(facts.st_mode):  # the only links that resolving leaves are loops
            return f"{shown} is a loop of symbolic links; use another path"
        return ""

    def _forbidden(self, real: bytes, shown: str, facts: os.stat_result | None) -> str:
        """Why even a command must not use a path, or ""."""
        why = "" if harmless(real) else forbidden(real, facts)
        return f"{shown} {why}; nothing may use it" if why else ""

    def _walls(self) -> str:
        if not self.beside:
            return f"workspace {self._shown}; use a path inside it"
        added = ", ".join(one._shown for one in self.beside)
        return f"workspace {self._shown} and the folders added to it ({added}); use a path inside them"

    def _relative(self, real: bytes) -> str:
        shown = show(real[len(self.real) :].lstrip(b"/")) or "."
        return f"./{shown}" if shown.startswith("~") else shown

    # --- files behind references -----------------------------------------------------------------------------------

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
        top, parts, judged = self._way(ref)
        return files.opened(top, parts, ref.shown, judged)

    def read_bytes(self, ref: PathRef, cap: int = FILE_BYTES) -> FileContent:
        """A whole regular file of at most `cap` bytes, the one that was judged. Raises FileProblem."""
        top, parts, judged = self._way(ref)
        return files.read(top, parts, ref.shown, cap, judged)

    def entries(self, ref: PathRef, cap: int = 100_000) -> tuple[list[Listed], bool]:
        """The names in a folder, unordered, at most `cap`; and whether there are more. Raises FileProblem."""
        top, parts, judged = self._way(ref)
        return files.entries(top, parts, ref.shown, cap, judged)

    @contextmanager
    def standing(self, ref: PathRef) -> Generator[bytes]:
        """A directory to start a program in: the folder that was judged, whatever its path leads to meanwhile.

        Raises FileProblem on entry. Where the system has no such path, it is the folder's own.
        """
        top, parts, judged = self._way(ref)
        with files.standing(top, parts, ref.shown, judged) as descriptor:
            yield os.fsencode(f"{_STANDS}/{descriptor}") if os.path.isdir(_STANDS) else ref.real

    def replace(self, ref: PathRef, data: bytes, expected: str | None = None) -> str:
        """Put `data` in place of the file in one step and return its SHA-256; see `publish.replace`."""
        top, parts, judged = self._way(ref)
        return publish.replace(top, parts, ref.shown, data, expected, FILE_BYTES, judged)

    def _way(self, ref: PathRef) -> tuple[bytes, files.Parts, Judged]:
        """The folder that holds a path, the names from there to it, and what was judged. Raises FileProblem."""
        if ref.problem:
            raise FileProblem(ref.problem)
        if (holder := self.holder(ref.real)) is None:
            outside = f"{ref.shown} lies outside the {self._walls().partition(';')[0]}"
            raise FileProblem(outside, "Use a path inside it.")
        parts = tuple(part for part in ref.real[len(holder.real) :].split(b"/") if part)
        return holder.real, parts, Judged(holder._identity, ref.identity)

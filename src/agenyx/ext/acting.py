"""The inventory of what can act in a workspace: each file with its hash, and a sentence for each that was left out.

What `workspace.acting` names is looked at through descriptors, without following links, within bounds, and so is what
such instructions take in by `@path`, as far as it lies inside. Of what lies outside only the name is noted. A file that
`known` knows by its stamp is not read. Whether any of it may act is asked elsewhere.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from agenyx.config.guard import HomeGuard
from agenyx.ext.imports import HOPS, is_path, named, place
from agenyx.policy.paths import protection
from agenyx.workspace.acting import LIVE, Candidate, Kind, candidates, kind_of
from agenyx.workspace.files import FileProblem, Listed, entries
from agenyx.workspace.names import show
from agenyx.workspace.trust import Trusted, fingerprint, stamp_of

FILE_BYTES = 256 << 10
TOTAL_BYTES = 4 << 20
MOST_FILES = 1000
_DEPTH = 8
_NAMES = 10_000  # in one folder
_PASSED = (b".git", b"node_modules")  # what others bring along is not searched
_IMPORTING = frozenset[Kind]({"instructions", "rules"})
_OWN_FOLDERS = frozenset({".agenyx", ".claude", ".codex", ".agents"})  # what is kept there for agents may be taken in


class Item(Struct, frozen=True):
    """One file that acts: `path` below the folder `top`; `shown` is the absolute path as it is printed and stored.

    `by` is the file that takes it in, `hops` how far it is from one that acts by itself.
    """

    top: str
    path: str
    shown: str
    kind: Kind
    file: Trusted
    by: str = ""
    hops: int = 0


class Outside(Struct, frozen=True):
    """What the file `by` takes in from elsewhere, as it is spelled there. It was not looked at."""

    name: str
    by: Item


class Inventory(Struct, frozen=True):
    """`problems` are sentences without a full stop, `asides` others that need no warning."""

    items: tuple[Item, ...] = ()
    problems: tuple[str, ...] = ()
    outside: tuple[Outside, ...] = ()
    asides: tuple[str, ...] = ()

    @property
    def files(self) -> dict[str, Trusted]:
        return {item.shown: item.file for item in self.items}


def take(workspace: str, home: str, known: Mapping[str, Trusted], kinds: frozenset[Kind] = LIVE) -> Inventory:
    """What acts in the workspace, a real path, outermost first. Blank files say nothing and are passed over.

    Nothing that belongs to the home counts, wherever it lies.
    """
    return _take(workspace, home, known, candidates(workspace, kinds))


def take_these(workspace: str, home: str, known: Mapping[str, Trusted], paths: Sequence[str]) -> Inventory:
    """Instruction files by their real absolute paths, with what they take in."""
    found = (Candidate(os.path.dirname(path), os.path.basename(path), "instructions") for path in paths)
    return _take(workspace, home, known, found)


def take_outside(
    workspace: str, home: str, person: str, outside: Sequence[Outside], seen: Iterable[str] = ()
) -> Inventory:
    """What is taken in from outside, read now, with what that takes in. `person` is the home directory, "" for none.

    Links are followed, as the whole path is shown. `seen` are shown paths that are told already.
    """
    taking = _Taking(workspace, home, {})
    taking.reach(outside, person, seen)
    return taking.inventory()


def _take(workspace: str, home: str, known: Mapping[str, Trusted], found: Iterable[Candidate]) -> Inventory:
    taking = _Taking(workspace, home, known)
    for candidate in found:
        for path in _files(candidate, taking.guard, taking.problems):
            if not taking.add(candidate, path):
                break
    return taking.inventory()


class _Taking:
    """One inventory while it is made."""

    def __init__(self, workspace: str, home: str, known: Mapping[str, Trusted]) -> None:
        self._workspace, self._home, self._known = workspace, home, known
        self.guard = HomeGuard(home)
        self.items: list[Item] = []
        self.problems: list[str] = []
        self.outside: list[Outside] = []
        self.asides: list[str] = []
        self._seen: set[str] = set()
        self._total = 0

    def inventory(self) -> Inventory:
        return Inventory(tuple(self.items), tuple(self.problems), tuple(self.outside), tuple(self.asides))

    def reach(self, outside: Sequence[Outside], person: str, seen: Iterable[str]) -> None:
        """Take in files from outside, and what they take in."""
        self._seen |= set(seen)
        self.outside += outside
        while self.outside:
            name, by = self.outside[0].name, self.outside.pop(0).by
            path = place(name, os.path.dirname(os.path.join(by.top, by.path)), person)
            real = os.path.realpath(path) if path else ""
            if not os.path.isfile(real):
                self.asides.append(f"{by.shown} names @{name}, which does not exist")
            else:
                self._take_in(real, os.path.dirname(real), by)

    def add(self, found: Candidate, path: str, by: Item | None = None) -> bool:
        """Take in one file, with what it takes in itself. False when nothing more of its folder fits in."""
        shown = show(os.fsencode(os.path.join(found.top, path)))
        if shown in self._seen:
            return True
        try:
            data, file = _one(found, path, self._known.get(shown))
        except FileProblem as problem:
            self.problems.append(_left_out(shown, problem.message))
            return True
        if file is None:
            return True
        if self._total + file.size > TOTAL_BYTES or len(self.items) == MOST_FILES:
            limit = f"{MOST_FILES} files" if len(self.items) == MOST_FILES else f"{TOTAL_BYTES >> 10} KiB"
            self.problems.append(_left_out(shown, f"all that acts together exceeds {limit}"))
            return False
        self._total += file.size
        self._seen.add(shown)
        item = Item(found.top, path, shown, found.kind, file, by.shown if by else "", by.hops + 1 if by else 0)
        self.items.append(item)
        for name in named(data.decode("utf-8-sig", "replace")) if found.kind in _IMPORTING else ():
            self._follow(name, item)
        if found.kind == "hooks" and path.endswith(".json"):
            from agenyx.ext.hooks.scripts import in_workspace  # few workspaces bring hooks

            for script in in_workspace(item, self._workspace):
                self.add(Candidate(self._workspace, "", "hooks"), script, item)
        return True

    def _follow(self, name: str, by: Item) -> None:
        """Take in what a file names with @, if it lies in the workspace or beside the file."""
        folder = os.path.dirname(os.path.join(by.top, by.path))
        path = place(name, folder)
        tops = (self._workspace, folder) if folder != "/" else (self._workspace,)  # all lies beside a file of /
        top = next((one for one in tops if path.startswith(one.rstrip("/") + "/")), "")
        if not top:
            if name.startswith("~") or is_path(name):
                self.outside.append(Outside(name, by))
            return
        if kind_of(path, self._workspace) is not None:
            return  # it acts by itself
        if os.path.lexists(path):
            self._take_in(path, top, by)
        elif is_path(name):
            self.asides.append(f"{by.shown} names @{name}, which does not exist")

    def _take_in(self, path: str, top: str, by: Item) -> None:
        shown = show(os.fsencode(path))
        if shown in self._seen or os.path.isdir(path):
            return
        if why := refused(path, self._workspace, self._home, self.guard):
            self.problems.append(f"{by.shown} takes in {shown}, which was left out: {why}")
        elif by.hops == HOPS:
            self.problems.append(_left_out(shown, f"it is taken in by a file that is {HOPS} files away already"))
        else:
            self.add(Candidate(top, "", by.kind), os.path.relpath(path, top), by)


def refused(path: str, workspace: str, home: str, guard: HomeGuard) -> str:
    """Why a file is never told to a model because another one names it, "" if it may be."""
    if guard.owns(path):
        return "it belongs to Agenyx itself"
    parts = path.split("/")
    use = "tree" if not _OWN_FOLDERS.isdisjoint(parts) and ".git" not in parts else "read"
    return protection(os.fsencode(path), workspace, home, use)


def load(item: Item) -> bytes:
    """Exactly the content that was judged. Raises FileProblem, also when it has changed since."""
    data, file = fingerprint(item.top, item.path, FILE_BYTES)
    if file.sha256 != item.file.sha256:
        raise FileProblem(f"{item.shown} changed while it was read", "Start again.")
    return data


def _one(found: Candidate, path: str, known: Trusted | None) -> tuple[bytes, Trusted | None]:
    """The content, b"" where it was not read, and None for a blank file. Raises FileProblem."""
    whole = os.path.join(found.top, path)
    if link := _link(found.top, path):
        raise FileProblem(f"{link} is a symbolic link")
    facts = os.lstat(whole)
    unread = found.kind not in _IMPORTING
    if unread and known is not None and known.kind == found.kind and known.stamp == stamp_of(facts):
        return b"", known
    if stat.S_ISREG(facts.st_mode) and facts.st_size > FILE_BYTES:
        raise FileProblem(f"it has more than {FILE_BYTES >> 10} KiB")
    data, file = fingerprint(found.top, path, FILE_BYTES)
    return data, replace(file, kind=found.kind) if data.strip() else None


def _link(top: str, path: str) -> str:
    """The first part of the path that is a link. Raises FileProblem where a part cannot be looked at."""
    place = top
    for part in path.split("/"):
        place = os.path.join(place, part)
        try:
            if stat.S_ISLNK(os.lstat(place).st_mode):
                return "it" if place == os.path.join(top, path) else show(os.fsencode(place))
        except OSError as error:
            raise FileProblem(f"it cannot be read: {error.strerror}") from None
    return ""


def _files(found: Candidate, guard: HomeGuard, problems: list[str]) -> Generator[str]:
    """The paths below `top`: the one file, or all of a tree, folder by folder."""
    if guard.owns(os.path.join(found.top, found.path)):
        return
    if not found.tree:
        yield found.path
        return
    waiting = [found.path]
    while waiting:
        folder = waiting.pop()
        shown = show(os.fsencode(os.path.join(found.top, folder)))
        try:
            names = _listed(found.top, folder, shown)
        except FileProblem as problem:
            problems.append(_left_out(shown, problem.message))
            continue
        for entry in names:
            path = os.path.join(folder, os.fsdecode(entry.name))
            if entry.link or not entry.folder:
                if path.endswith(found.only):
                    yield path
            elif entry.name not in _PASSED and not guard.owns(os.path.join(found.top, path)):
                waiting.append(path)


def _listed(top: str, folder: str, shown: str) -> list[Listed]:
    """Raises FileProblem."""
    if link := _link(top, folder):
        raise FileProblem(f"{link} is a symbolic link")
    names, more = entries(os.fsencode(top), tuple(os.fsencode(folder).split(b"/")), shown, _NAMES)
    if more or folder.count("/") > _DEPTH:
        raise FileProblem("it is too large or too deep")
    return sorted(names)


def _left_out(shown: str, why: str) -> str:
    return f"{shown} was left out: {f'it {why[len(shown) :].strip()}' if why.startswith(shown) else why}"

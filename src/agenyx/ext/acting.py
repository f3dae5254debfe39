"""The inventory of what can act in a workspace: each file with its hash, and a sentence for each that was left out.

What `workspace.acting` names is looked at through descriptors, without following links, within bounds. A file that
`known` knows by its stamp is not read. Whether any of it may act is asked elsewhere.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from agenyx.config.guard import HomeGuard
from agenyx.workspace.acting import LIVE, Candidate, Kind, candidates
from agenyx.workspace.files import FileProblem, Listed, entries
from agenyx.workspace.names import show
from agenyx.workspace.trust import Trusted, fingerprint, stamp_of

FILE_BYTES = 256 << 10
TOTAL_BYTES = 4 << 20
MOST_FILES = 1000
_DEPTH = 8
_NAMES = 10_000  # in one folder
_PASSED = (b".git", b"node_modules")  # what others bring along is not searched


class Item(Struct, frozen=True):
    """One file that acts: `path` below the folder `top`; `shown` is the absolute path as it is printed and stored."""

    top: str
    path: str
    shown: str
    kind: Kind
    file: Trusted


class Inventory(Struct, frozen=True):
    """`problems` are sentences without a full stop."""

    items: tuple[Item, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def files(self) -> dict[str, Trusted]:
        return {item.shown: item.file for item in self.items}


def take(workspace: str, home: str, known: Mapping[str, Trusted], kinds: frozenset[Kind] = LIVE) -> Inventory:
    """What acts in the workspace, a real path, outermost first. Blank files say nothing and are passed over.

    Nothing that belongs to the home counts, wherever it lies.
    """
    guard, items, problems, total = HomeGuard(home), list[Item](), list[str](), 0
    for found in candidates(workspace, kinds):
        for path in _files(found, guard, problems):
            shown = show(os.fsencode(os.path.join(found.top, path)))
            try:
                file = _one(found, path, known.get(shown))
            except FileProblem as problem:
                problems.append(_left_out(shown, problem.message))
                continue
            if file is None:
                continue
            total += file.size
            if total > TOTAL_BYTES or len(items) == MOST_FILES:
                limit = f"{TOTAL_BYTES >> 10} KiB" if total > TOTAL_BYTES else f"{MOST_FILES} files"
                problems.append(_left_out(shown, f"all that acts together exceeds {limit}"))
                break
            items.append(Item(found.top, path, shown, found.kind, file))
    return Inventory(tuple(items), tuple(problems))


def load(item: Item) -> bytes:
    """Exactly the content that was judged. Raises FileProblem, also when it has changed since."""
    data, file = fingerprint(item.top, item.path, FILE_BYTES)
    if file.sha256 != item.file.sha256:
        raise FileProblem(f"{item.shown} changed while it was read", "Start again.")
    return data


def _one(found: Candidate, path: str, known: Trusted | None) -> Trusted | None:
    """None for a blank file. Raises FileProblem."""
    whole = os.path.join(found.top, path)
    if link := _link(found.top, path):
        raise FileProblem(f"{link} is a symbolic link")
    facts = os.lstat(whole)
    if known is not None and known.kind == found.kind and known.stamp == stamp_of(facts):
        return known
    if stat.S_ISREG(facts.st_mode) and facts.st_size > FILE_BYTES:
        raise FileProblem(f"it has more than {FILE_BYTES >> 10} KiB")
    data, file = fingerprint(found.top, path, FILE_BYTES)
    return replace(file, kind=found.kind) if data.strip() else None


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

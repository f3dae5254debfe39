"""Branch and head commit of a repository, read from its files: starting git could run what the repository configures.

Knows no tool. Everything read is untrusted: sizes are capped, links are not followed, only well-formed values count.
"""

from __future__ import annotations

import os
import re
import stat

from msgspec import Struct

_SMALL = 4096
_PACKED = 16 << 20
_DEPTH = 64
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_BRANCH = "refs/heads/"
# git check-ref-format(1): no controls, no special characters, no component that begins or ends oddly
_NAME = re.compile(
    r"(?!.*(?:\.\.|//|/\.|\.lock/|@\{))[^\x00-\x20\x7f~^:?*\[\\./][^\x00-\x20\x7f~^:?*\[\\]{0,199}(?<![./])"
)


class GitFacts(Struct, frozen=True):
    """`branch` is "" when the head is detached; `head` is "" before the first commit."""

    branch: str
    head: str


def facts(folder: str) -> GitFacts | None:
    """The facts of the repository that holds a folder; None if there is none or it keeps its references otherwise."""
    git = _git_dir(os.fsencode(os.path.realpath(folder)))
    head = _small(os.path.join(git, b"HEAD")) if git else None
    if git is None or head is None:
        return None
    if _HASH.fullmatch(head):
        return GitFacts("", head)
    name = head.removeprefix("ref: ").removeprefix(_BRANCH)
    if head != f"ref: {_BRANCH}{name}" or not _NAME.fullmatch(name) or not name.isprintable():
        return None
    common = _common_dir(git)
    if _kind(os.path.join(common, b"reftable")) == stat.S_IFDIR:
        return None
    loose = _small(os.path.join(common, _BRANCH.encode(), name.encode()))
    if loose is not None and _HASH.fullmatch(loose):
        return GitFacts(name, loose)
    return GitFacts(name, _packed(common, name))


def top(folder: bytes) -> bytes | None:
    """The top folder of the repository that holds a real path, by its files alone; None if there is none."""
    for _ in range(_DEPTH):
        path = os.path.join(folder, b".git")
        kind = _kind(path)
        if kind == stat.S_IFREG or (kind == stat.S_IFDIR and _kind(os.path.join(path, b"HEAD")) == stat.S_IFREG):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return None


def shared_dir(folder: str) -> bytes | None:
    """The real path of the git directory that a folder shares with its linked worktrees; None if it is not such a top.

    A worktree counts only when the repository itself names it: its directory lies in `worktrees` of the shared one and
    leads back to this folder. A forged `.git` or `commondir` can say neither for a repository of somebody else.
    """
    path = os.path.join(os.fsencode(folder), b".git")
    if _kind(path) == stat.S_IFDIR:
        plain = _kind(os.path.join(path, b"HEAD")) == stat.S_IFREG and not os.path.lexists(
            os.path.join(path, b"commondir")
        )
        return os.path.realpath(path) if plain else None
    text = _small(path) or ""
    pointer = text.removeprefix("gitdir: ")
    if pointer == text or not pointer:
        return None
    try:
        git = os.path.realpath(os.path.join(os.fsencode(folder), os.fsencode(pointer)))
        common = os.path.realpath(_common_dir(git))
        back = _small(os.path.join(git, b"gitdir")) or ""
        named = os.path.realpath(os.path.join(git, os.fsencode(back)))
    except ValueError:  # NUL in a path
        return None
    inside = os.path.dirname(git) == os.path.join(common, b"worktrees")
    known = _kind(os.path.join(common, b"HEAD")) == stat.S_IFREG
    return common if inside and known and named == os.path.realpath(path) else None


def _git_dir(folder: bytes) -> bytes | None:
    if (found := top(folder)) is None:
        return None
    path = os.path.join(found, b".git")
    if _kind(path) == stat.S_IFDIR:
        return path
    text = _small(path) or ""
    pointer = text.removeprefix("gitdir: ")
    return os.path.join(found, os.fsencode(pointer)) if pointer != text and pointer else None


def _common_dir(git: bytes) -> bytes:
    """A worktree keeps its own HEAD and shares the branches of the repository it belongs to."""
    pointer = _small(os.path.join(git, b"commondir"))
    return os.path.join(git, os.fsencode(pointer)) if pointer else git


def _packed(common: bytes, name: str) -> str:
    data = _read(os.path.join(common, b"packed-refs"), _PACKED)
    found = re.search(
        rb"^([0-9a-f]{40}|[0-9a-f]{64}) %s$" % re.escape(f"{_BRANCH}{name}".encode()), data or b"", re.MULTILINE
    )
    return found[1].decode() if found else ""


def _kind(path: bytes) -> int:
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return 0


def _small(path: bytes) -> str | None:
    data = _read(path, _SMALL)
    try:
        return None if data is None else data.decode().rstrip("\r\n")
    except UnicodeDecodeError:
        return None


def _read(path: bytes, cap: int) -> bytes | None:
    """A regular file of at most `cap` bytes, or None."""
    if _kind(path) != stat.S_IFREG:
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode) or facts.st_size > cap:
                return None
            pieces = list[bytes]()
            while piece := os.read(descriptor, 1 << 20):
                pieces.append(piece)
                if sum(map(len, pieces)) > cap:
                    return None
            return b"".join(pieces)
        finally:
            os.close(descriptor)
    except (OSError, ValueError):
        return None

"""Which files of a git tree a command changed, and what they held before: what git shows before and after it.

Files that were clean need no copy, git has their content; those that were not are named before, so that they can be
copied. Bounded in number and time. Runs git only through gitrun; knows no session.
"""

from __future__ import annotations

import asyncio
import os

from msgspec import Struct

from agenyx.workspace import git
from agenyx.workspace.gitrun import OUTPUT, GitProblem, Repository

MOST = 2000  # paths that are looked at
SECONDS = 1.0  # for each look of git
_BATCH = OUTPUT * 3 // 4  # bytes of contents that one run of git prints
_CONVERTS = ("filter", "ident", "working-tree-encoding", "eol")
_PLAIN = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--no-renames", "--no-relative", "--name-only")


class Tree(Struct, frozen=True):
    """A work tree before a command. `head` is "" before the first commit; `dirty` are paths below the top that were
    changed or new."""

    repository: Repository
    head: str
    dirty: frozenset[bytes]


class Committed(Struct, frozen=True):
    """A file as the last commit had it. `data` is None where that is not what the work tree held; `why` says why."""

    mode: int
    data: bytes | None
    why: str = ""


async def tree(repository: Repository) -> Tree:
    """Raises GitProblem, also when there is more to see than is looked at."""
    facts = git.facts(os.fsdecode(repository.top))
    if facts is None:
        raise GitProblem("the head of this repository cannot be read")
    return Tree(repository, facts.head, await _status(repository))


async def changed(before: Tree) -> frozenset[bytes]:
    """The paths below the top that may differ from what was there before. Raises GitProblem."""
    repository = before.repository
    found = before.dirty | await _status(repository)
    facts = git.facts(os.fsdecode(repository.top))
    if before.head and (facts is None or facts.head != before.head):
        answer = await repository.look("diff", *_PLAIN, "-z", before.head, "--", ".", seconds=SECONDS)
        found |= _paths(answer.output, answer.code, answer.more)
    if len(found) > MOST:
        raise GitProblem(f"more than {MOST:,} files changed")
    return found


async def committed(before: Tree, paths: list[bytes], cap: int) -> dict[bytes, Committed]:
    """Those of the paths that the commit before held, with their content. Raises GitProblem."""
    if not before.head or not paths:
        return {}
    repository = before.repository
    listed, odd = await asyncio.gather(
        repository.look("ls-tree", "-r", "-l", "-z", "--full-tree", before.head, "--", *paths),
        _converted(repository, paths),
    )
    rows = [row.partition(b"\t") for row in listed.output.split(b"\0") if row]
    if listed.code or listed.more:
        raise GitProblem("git cannot list the last commit")
    found: dict[bytes, Committed] = {}
    wanted: list[tuple[bytes, int, bytes, int]] = []
    for facts, _, name in rows:
        mode, kind, oid, size = facts.split()
        if kind != b"blob":
            continue
        if name in odd:
            found[name] = Committed(int(mode, 8), None, "git converts it")
        elif int(size) > min(cap, _BATCH):
            found[name] = Committed(int(mode, 8), None, "it is too large")
        else:
            wanted.append((name, int(mode, 8), oid, int(size)))
    while wanted:
        batch, room = list[tuple[bytes, int, bytes, int]](), _BATCH
        while wanted and (not batch or room >= wanted[-1][3] + 100):
            batch.append(wanted.pop())
            room -= batch[-1][3] + 100
        asked = b"".join(oid + b"\n" for _, _, oid, _ in batch)
        answer = await repository.look("cat-file", "--batch", stdin=asked)
        at = 0
        for name, mode, _, size in batch:
            at = answer.output.index(b"\n", at) + 1
            found[name] = Committed(mode, answer.output[at : at + size])
            at += size + 1
    return found


async def _converted(repository: Repository, names: list[bytes]) -> set[bytes]:
    """The paths whose content in the work tree is not what git keeps."""
    asked = b"".join(name + b"\0" for name in names)
    setting, answer = await asyncio.gather(
        repository.look("config", "--get", "core.autocrlf", seconds=SECONDS),
        repository.look("-C", repository.top, "check-attr", "-z", "--stdin", *_CONVERTS, stdin=asked, seconds=SECONDS),
    )
    if setting.output.strip().lower() in (b"true", b"yes", b"on", b"1") or answer.code or answer.more:
        return set(names)
    parts = answer.output.split(b"\0")[:-1]
    rows = zip(parts[::3], parts[1::3], parts[2::3], strict=False)
    return {name for name, what, value in rows if value not in (b"unspecified", b"unset") and (what, value) != _LF}


_LF = (b"eol", b"lf")


async def _status(repository: Repository) -> frozenset[bytes]:
    words = ("--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=dirty")
    answer = await repository.look("status", *words, "--", ".", seconds=SECONDS)
    rows = answer.output.split(b"\0")[:-1]
    return _paths(b"".join(row[3:] + b"\0" for row in rows), answer.code, answer.more)


def _paths(output: bytes, code: int, more: bool) -> frozenset[bytes]:
    """What `-z` printed; folders that are repositories of their own are left out."""
    found = frozenset(path for path in output.split(b"\0") if path and not path.endswith(b"/"))
    if code or more or len(found) > MOST:
        raise GitProblem(f"git cannot tell what has changed here, or it is more than {MOST:,} files")
    return found

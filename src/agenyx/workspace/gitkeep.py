"""Keeps the uncommitted work of a git tree under a private reference, in the form of a stash, and touches nothing.

Plumbing with an index of its own: neither the work tree nor the person's index changes, and no hook or filter runs.
Files that git ignores are not in it.
"""

from __future__ import annotations

import os
import re
import shutil
from contextlib import suppress

from agenyx.workspace import gitwatch
from agenyx.workspace.gitrun import GitProblem, Repository

LARGEST = 32 << 20  # bytes of one new file
TOTAL = 256 << 20  # bytes of all that is kept at once
_NAME = re.compile(r"[^0-9A-Za-z_-]+")
_WHO = {
    "GIT_AUTHOR_NAME": "Agenyx",
    "GIT_AUTHOR_EMAIL": "agenyx@localhost",
    "GIT_COMMITTER_NAME": "Agenyx",
    "GIT_COMMITTER_EMAIL": "agenyx@localhost",
}


async def keep(repository: Repository, session: str, scratch: str) -> str:
    """The reference under which the work is kept now, "" where nothing is uncommitted.

    `repository` was opened at its top; `scratch` is a private folder for the indexes. Raises OSError, and GitProblem
    with why it could not be kept.
    """
    seen = await gitwatch.tree(repository)
    if not seen.dirty:
        return ""
    if not seen.head:
        raise GitProblem("there is no commit yet that a stash could stand on")
    _small(repository, seen.dirty)
    os.makedirs(scratch, mode=0o700, exist_ok=True)
    index, second = os.path.join(scratch, "index"), os.path.join(scratch, "index-new")
    try:
        place = await _said(repository, "rev-parse", "--git-path", "index")
        path = os.path.join(os.fsdecode(repository.top), place)
        with suppress(FileNotFoundError):
            shutil.copyfile(path, index)
        own = {"GIT_INDEX_FILE": index, **_WHO}
        staged = await _commit(repository, own, f"index of {session}", seen.head)
        names = await repository.look("ls-files", "--others", "--exclude-standard", "-z", more=own)
        new = [name for name in names.output.split(b"\0") if name and not name.endswith(b"/")]
        parents = [seen.head, staged]
        if new:
            other = {"GIT_INDEX_FILE": second, **_WHO}
            listed = b"".join(name + b"\0" for name in new)
            await _said(repository, "update-index", "--add", "-z", "--stdin", stdin=listed, more=other)
            parents.append(await _commit(repository, other, f"new files of {session}"))
        await _said(repository, "add", "--update", "--", ".", more=own)
        work = await _commit(repository, own, f"uncommitted work before a command of session {session}", *parents)
    finally:
        for name in (index, second):
            with suppress(OSError):
                os.unlink(name)
    return await _name(repository, _NAME.sub("-", session), work)


def _small(repository: Repository, paths: frozenset[bytes]) -> None:
    total = 0
    for path in paths:
        with suppress(OSError):
            size = os.lstat(os.path.join(repository.top, path)).st_size
            total += size
            if size > LARGEST or total > TOTAL:
                raise GitProblem(f"its changed and new files are larger than {LARGEST >> 20} MiB, or all {TOTAL >> 20}")


async def _commit(repository: Repository, env: dict[str, str], text: str, *parents: str) -> str:
    tree = await _said(repository, "write-tree", more=env)
    above = [word for parent in parents for word in ("-p", parent)]
    return await _said(repository, "commit-tree", "--no-gpg-sign", tree, *above, "-m", text, more=env)


async def _name(repository: Repository, session: str, commit: str) -> str:
    listed = await _said(repository, "for-each-ref", "--format=%(refname)", f"refs/agenyx/{session}/")
    numbers = [int(tail) for name in listed.split() if (tail := name.rpartition("/")[2]).isdigit()]
    name = f"refs/agenyx/{session}/{max(numbers, default=0) + 1}"
    await _said(repository, "update-ref", "--no-deref", name, commit, "0" * len(commit))
    return name


async def _said(
    repository: Repository, *words: str | bytes, stdin: bytes | None = None, more: dict[str, str] | None = None
) -> str:
    answer = await repository.look(*words, stdin=stdin, more=more)
    if answer.code:
        raise GitProblem(f"git failed: {answer.errors.removeprefix('fatal: ') or f'exit code {answer.code}'}")
    return os.fsdecode(answer.output.strip(b"\n"))

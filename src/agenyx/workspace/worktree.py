"""A second work tree of a repository for somebody who changes things there, and what came of it: a branch and a diff.

Made from the last commit; nothing that the repository configures runs with it (see gitrun). What is not committed at
the end is committed to the branch, so that the tree can go; where that cannot be done the tree stays and is named.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable

from msgspec import Struct

from agenyx.workspace import git
from agenyx.workspace.gitrun import GitProblem, Repository
from agenyx.workspace.names import show
from agenyx.workspace.text import printable

SECONDS = 120.0
LARGEST = 32 << 20  # bytes of one new or changed file
TOTAL = 256 << 20
_MOST_HIDDEN = 500
_WHO = {
    "GIT_AUTHOR_NAME": "Agenyx",
    "GIT_AUTHOR_EMAIL": "agenyx@localhost",
    "GIT_COMMITTER_NAME": "Agenyx",
    "GIT_COMMITTER_EMAIL": "agenyx@localhost",
}
_PLAIN = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--submodule=short", "--no-color")


class Worktree(Struct, frozen=True):
    """`path` is its top, `base` the commit it was made from, `branch` the name of its branch."""

    path: str
    base: str
    branch: str


class Handed(Struct, frozen=True):
    """What came of it. `branch` is "" where nothing was changed; `kept` is the path of a tree that stays, and why."""

    branch: str
    diff: str = ""
    hidden: int = 0
    more: bool = False
    kept: str = ""
    why: str = ""


async def make(repository: Repository, path: str, branch: str) -> Worktree:
    """The work tree at `path`; one that an earlier process made there is taken up. Raises GitProblem, OSError."""
    if os.path.isfile(os.path.join(path, ".git")) and (base := _noted(path)):
        return Worktree(path, base, branch)
    facts = git.facts(os.fsdecode(repository.top))
    if facts is None or not facts.head:
        raise GitProblem("this repository has no commit yet from which a work tree could be made", "Commit first.")
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    _note(path, facts.head)
    try:
        await _said(repository, "worktree", "add", "--quiet", "-b", branch, path, facts.head)
    except BaseException:
        os.unlink(f"{path}.base")
        shutil.rmtree(path, ignore_errors=True)
        raise
    return Worktree(path, facts.head, branch)


async def hand_over(
    repository: Repository, inner: Repository, tree: Worktree, title: str, hide: Callable[[bytes], str]
) -> Handed:
    """End a work tree. `repository` is the one it was made from, `inner` the same opened in it; `hide` says of an
    absolute path why its changes are not for show, or "". Does not raise GitProblem: what went wrong is in `why`."""
    try:
        await _commit(inner, title)
        tip = await _said(inner, "rev-parse", "--verify", "HEAD")
        if tip == tree.base:
            await _remove(repository, tree)
            await _said(repository, "branch", "--quiet", "-D", tree.branch)
            return Handed("")
        await _said(repository, "update-ref", f"refs/heads/{tree.branch}", tip)
        text, hidden, more = await _diff(inner, tree, tip, hide)
        await _remove(repository, tree)
    except (GitProblem, OSError) as problem:
        why = problem.message if isinstance(problem, GitProblem) else problem.strerror or str(problem)
        return Handed(tree.branch, kept=tree.path, why=why)
    return Handed(tree.branch, text, hidden, more)


def _note(path: str, base: str) -> None:
    with open(f"{path}.base", "w", encoding="ascii") as file:
        file.write(base)


def _noted(path: str) -> str:
    try:
        with open(f"{path}.base", encoding="ascii") as file:
            return file.read(100).strip()
    except OSError:
        return ""


async def _commit(inner: Repository, title: str) -> None:
    """Put everything that git does not ignore on the branch."""
    listed = await inner.look("status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames")
    if listed.code:
        raise GitProblem(f"git failed: {listed.errors}")
    paths = [row[3:] for row in listed.output.split(b"\0") if row]
    if not paths:
        return
    if listed.more:
        raise GitProblem("too many files changed to be committed by themselves")
    total = 0
    for path in paths:
        try:
            size = os.lstat(os.path.join(inner.top, path)).st_size
        except FileNotFoundError:
            continue
        total += size
        if size > LARGEST or total > TOTAL:
            raise GitProblem(f"its changed files are larger than {LARGEST >> 20} MiB, or all {TOTAL >> 20}")
    await _said(inner, "add", "--all", "--", ".")
    await _said(inner, "commit", "--quiet", "--no-verify", "--no-gpg-sign", "-m", title, more=_WHO)


async def _diff(inner: Repository, tree: Worktree, tip: str, hide: Callable[[bytes], str]) -> tuple[str, int, bool]:
    span = (tree.base, tip)
    names = await inner.look("diff", *_PLAIN, "--name-only", "--no-renames", "-z", *span)
    if names.code:
        raise GitProblem(f"git failed: {names.errors}")
    hidden = [name for name in names.output.split(b"\0")[:-1] if hide(os.path.join(inner.top, name))]
    if len(hidden) > _MOST_HIDDEN:
        raise GitProblem("too many protected files have changed")
    out = tuple(b":(exclude,literal)" + name for name in hidden)
    answer = await inner.look("diff", *_PLAIN, *span, "--", ".", *out)
    if answer.code:
        raise GitProblem(f"git failed: {answer.errors}")
    text = printable(answer.output.decode("utf-8", "surrogateescape")).rstrip("\n")
    return text, len(hidden), answer.more


async def _remove(repository: Repository, tree: Worktree) -> None:
    await _said(repository, "worktree", "remove", "--force", tree.path)
    os.unlink(f"{tree.path}.base")


async def _said(repository: Repository, *words: str, more: dict[str, str] | None = None) -> str:
    answer = await repository.look(*words, more=more, seconds=SECONDS)
    if answer.code:
        raise GitProblem(f"git failed: {answer.errors.removeprefix('fatal: ') or f'exit code {answer.code}'}")
    return show(answer.output.strip(b"\n"))

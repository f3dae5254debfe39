"""Uncommitted work under a private reference: all of it, nothing else changes, nothing of the repository runs."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Processes
from agenyx.workspace import gitkeep, gitwatch
from agenyx.workspace.gitrun import GitProblem, Repository, open_repository
from support.repository import git, make_hostile, repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def within(folder: Path, body: Callable[[Repository], Awaitable[Any]]) -> Any:
    async def main() -> Any:
        processes = Processes()
        env = child_env({"PATH": os.environ["PATH"], "HOME": "/nonexistent"})
        try:
            return await body(await open_repository(processes, env, os.fsencode(folder)))
        finally:
            await processes.close()

    return asyncio.run(main())


def keep(folder: Path, session: str = "s-1") -> str:
    async def body(repo: Repository) -> str:
        return await gitkeep.keep(repo, session, str(folder.parent / "scratch"))

    return within(folder, body)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = repository(tmp_path / "repo")
    (folder / "a.txt").write_text("one\n")
    (folder / "sub").mkdir()
    (folder / "sub" / "b.txt").write_text("one\n")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def test_a_clean_tree_needs_nothing_and_before_the_first_commit_it_is_told(repo: Path, tmp_path: Path) -> None:
    assert keep(repo) == "" and not git(repo, "for-each-ref", "refs/agenyx")
    empty = repository(tmp_path / "empty")
    (empty / "a.txt").write_text("x")
    with pytest.raises(GitProblem, match="no commit yet"):
        keep(empty)


def test_nothing_of_a_hostile_repository_runs(repo: Path, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    make_hostile(repo, witness)
    (repo / ".gitattributes").write_text("*.txt filter=evil diff=evil merge=evil\nb.txt filter=hidden\n")
    (repo / "a.txt").write_text("two\n")
    (repo / "new.txt").write_text("new\n")
    name = keep(repo)
    assert name == "refs/agenyx/s-1/1" and list(witness.iterdir()) == []
    assert git(repo, "-c", "filter.evil.required=false", "cat-file", "-p", f"{name}:a.txt") == "two"
    assert git(repo, "cat-file", "-p", f"{name}^3:new.txt") == "new"


def test_index_and_work_tree_stay_as_they_are_and_names_go_on(repo: Path) -> None:
    (repo / "a.txt").write_text("staged\n")
    git(repo, "add", "a.txt")
    (repo / "a.txt").write_text("worked\n")
    (repo / "odd\nname").write_text("x\n")
    status = git(repo, "status", "--porcelain", "-z")  # which may write the index anew
    index = (repo / ".git" / "index").read_bytes()
    names = [keep(repo), keep(repo), keep(repo, "other/../x")]
    assert names == ["refs/agenyx/s-1/1", "refs/agenyx/s-1/2", "refs/agenyx/other-x/1"]
    assert (repo / ".git" / "index").read_bytes() == index and git(repo, "status", "--porcelain", "-z") == status
    assert git(repo, "show", f"{names[0]}^2:a.txt") == "staged" and git(repo, "show", f"{names[0]}:a.txt") == "worked"
    assert git(repo, "ls-tree", "-z", "--name-only", f"{names[0]}^3") == "odd\nname\0"
    assert not any((repo.parent / "scratch").iterdir())


def test_what_is_too_large_is_told_and_nothing_is_kept(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gitkeep, "LARGEST", 1000)
    (repo / "big").write_bytes(b"x" * 1001)
    with pytest.raises(GitProblem, match="larger than"):
        keep(repo)
    assert not git(repo, "for-each-ref", "refs/agenyx")


def test_what_changed_is_found_from_a_folder_below_the_top_as_well(repo: Path) -> None:
    (repo / ".gitattributes").write_text("sub/c.txt ident\n")
    (repo / "sub" / "c.txt").write_text("$Id$\n")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "second")
    (repo / "sub" / "dirty").write_text("x")

    async def body(inside: Repository) -> Any:
        before = await gitwatch.tree(inside)
        (repo / "sub" / "b.txt").write_text("two\n")
        (repo / "sub" / "c.txt").write_text("other\n")
        (repo / "sub" / "new").write_text("x")
        (repo / "a.txt").write_text("outside of the folder\n")
        git(repo, "commit", "-q", "-am", "third")
        found = sorted(await gitwatch.changed(before))
        return before.dirty, found, await gitwatch.committed(before, found, 100)

    dirty, found, was = within(repo / "sub", body)
    assert dirty == {b"sub/dirty"}
    assert found == [b"sub/b.txt", b"sub/c.txt", b"sub/dirty", b"sub/new"]
    assert set(was) == {b"sub/b.txt", b"sub/c.txt"} and was[b"sub/b.txt"].data == b"one\n"
    assert was[b"sub/c.txt"].data is None and "converts" in was[b"sub/c.txt"].why


def test_more_than_is_looked_at_is_a_problem_in_words(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gitwatch, "MOST", 3)
    for number in range(4):
        (repo / f"n{number}").write_text("x")
    with pytest.raises(GitProblem, match="more than 3 files"):
        within(repo, gitwatch.tree)

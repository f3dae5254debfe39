"""Of a hostile repository nothing runs when git only looks; and what git is pointed at is the repository itself."""

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
from agenyx.workspace import gitview
from agenyx.workspace.gitrun import GitProblem, Repository, open_repository
from support.repository import git, make_hostile, repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


@pytest.fixture
def within(tmp_path: Path):
    """Run a coroutine function with the repository of a folder."""

    def run(folder: Path, body: Callable[[Repository], Awaitable[Any]], **env: str) -> Any:
        async def main() -> Any:
            processes = Processes()
            variables = child_env({"PATH": os.environ["PATH"], "HOME": str(tmp_path)}) | env
            try:
                async with asyncio.timeout(60):
                    return await body(await open_repository(processes, variables, os.fsencode(folder)))
            finally:
                await processes.close()

        return asyncio.run(main())

    return run


async def look_at_everything(repo: Repository) -> str:
    lines = await gitview.status(repo)
    diff = await gitview.diff(repo, b".", False, lambda path: False)
    staged = await gitview.diff(repo, b".", True, lambda path: False)
    log = await gitview.log(repo, b".", 20)
    return "\n".join([*lines, diff.text, staged.text, *log, *await gitview.to_commit(repo, True)])


def hostile(tmp_path: Path) -> Path:
    repo = repository(tmp_path / "repo")
    (repo / "a.txt").write_text("one\n", "utf-8")
    (repo / "b.txt").write_text("one\n", "utf-8")
    git(repo, "add", ".")
    git(repo, "commit", "-q", "-m", "first")
    make_hostile(repo, tmp_path / "witness")
    (repo / ".gitattributes").write_text(
        "*.txt filter=evil diff=evil\nb.txt filter=hidden\nc.txt filter=o\\ dd\n", "utf-8"
    )
    (repo / "a.txt").write_text("two\n", "utf-8")
    (repo / "b.txt").write_text("two\n", "utf-8")
    return repo


def test_nothing_of_a_hostile_repository_runs(within: Any, tmp_path: Path) -> None:
    repo = hostile(tmp_path)
    text = within(repo, look_at_everything)
    assert "## main" in text and "-one\n+two" in text and "Ann Author: first" in text and "M a.txt" in text
    assert sorted(os.listdir(tmp_path / "witness")) == []


def test_the_bait_works(tmp_path: Path) -> None:
    """Plain git does run these programs, so that the test above can fail."""
    repo = hostile(tmp_path)
    git(repo, "diff", check=False)
    git(repo, "status", check=False)
    git(repo, *("-c", "filter.evil.process="), *("-c", "filter.evil.required=false"), "diff", check=False)
    ran = set(os.listdir(tmp_path / "witness"))
    assert {"fsmonitor", "diff-command"} <= ran
    assert ran & {"clean", "process", "included"}


def test_a_missing_object_is_not_fetched_by_the_repositorys_program(within: Any, tmp_path: Path) -> None:
    repo = hostile(tmp_path)
    blob = git(repo, "rev-parse", "HEAD:a.txt")
    path = repo / ".git" / "objects" / blob[:2] / blob[2:]
    path.unlink()
    with pytest.raises(GitProblem, match="git failed"):
        within(repo, look_at_everything)
    assert os.listdir(tmp_path / "witness") == []


def test_a_filter_that_cannot_be_switched_off_refuses_git(within: Any, tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    git(repo, "config", "filter.a=b.clean", "touch hit; cat")
    with pytest.raises(GitProblem, match="cannot be switched off"):
        within(repo, look_at_everything)


def test_a_working_tree_elsewhere_is_refused(within: Any, tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    (tmp_path / "private").mkdir()
    git(repo, "config", "core.worktree", str(tmp_path / "private"))
    with pytest.raises(GitProblem, match=r"moves its files to .*/private"):
        within(repo, look_at_everything)
    above = repository(tmp_path)
    git(repo, "config", "core.worktree", str(above))
    with pytest.raises(GitProblem, match="moves its files"):
        within(repo, look_at_everything)


def test_a_folder_that_looks_like_a_bare_repository_is_none(within: Any, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--bare", "work")
    with pytest.raises(GitProblem, match="is not in a git repository"):
        within(tmp_path / "work", look_at_everything)
    repo = repository(tmp_path / "repo")
    git(repo, "init", "-q", "--bare", "inner")
    git(repo / "inner", "config", "core.fsmonitor", f"touch {tmp_path}/hit")
    with pytest.raises(GitProblem, match="bareRepository"):
        within(repo / "inner", look_at_everything)
    assert not (tmp_path / "hit").exists()


def test_git_variables_lead_nowhere_else(within: Any, tmp_path: Path) -> None:
    other = repository(tmp_path / "other")
    (other / "secret").write_text("x", "utf-8")
    git(other, "add", ".")
    repo = repository(tmp_path / "repo")
    env = {"GIT_DIR": str(other / ".git"), "GIT_WORK_TREE": str(other), "GIT_EXTERNAL_DIFF": f"touch {tmp_path}/hit"}
    assert "secret" not in within(repo, look_at_everything, **env)
    assert not (tmp_path / "hit").exists()


def test_a_submodules_configuration_does_not_run(within: Any, tmp_path: Path) -> None:
    part = repository(tmp_path / "part")
    (part / "a.txt").write_text("one\n", "utf-8")
    git(part, "add", ".")
    git(part, "commit", "-q", "-m", "part")
    repo = repository(tmp_path / "repo")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(part), "sub")
    git(repo, "commit", "-q", "-m", "with part")
    git(repo / "sub", "config", "core.fsmonitor", f"touch {tmp_path}/hit; false")
    git(repo / "sub", "config", "filter.evil.clean", f"touch {tmp_path}/hit; cat")
    (repo / "sub" / ".gitattributes").write_text("*.txt filter=evil\n", "utf-8")
    (repo / "sub" / "a.txt").write_text("two\n", "utf-8")
    assert "with part" in within(repo, look_at_everything)
    assert not (tmp_path / "hit").exists()
    # The submodule itself is a place to work in as well.
    assert " M a.txt" in within(repo / "sub", look_at_everything)
    assert not (tmp_path / "hit").exists()


def test_a_program_of_the_workspace_is_not_taken_for_git(within: Any, tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo")
    (repo / "git").write_text(f"#!/bin/sh\ntouch {tmp_path}/hit\n", "utf-8")
    (repo / "git").chmod(0o755)
    assert "## No commits yet on main" in within(repo, look_at_everything, PATH=f"{repo}:{os.environ['PATH']}")
    with pytest.raises(GitProblem, match="git is not installed"):
        within(repo, look_at_everything, PATH=str(repo))
    assert not (tmp_path / "hit").exists()

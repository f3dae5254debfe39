"""Branch and commit as git itself would say, without starting it, and nothing from hostile files."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agenyx.workspace.git import GitFacts, facts

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
}


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, env=ENV, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    return folder


@needs_git
def test_a_repository_through_its_life(repo: Path) -> None:
    assert facts(str(repo)) == GitFacts("main", "")
    git(repo, "commit", "-q", "--allow-empty", "-m", "one")
    head = git(repo, "rev-parse", "HEAD")
    assert facts(str(repo)) == GitFacts("main", head)
    git(repo, "checkout", "-q", "-b", "feature/größe")
    assert facts(str(repo)) == GitFacts("feature/größe", head)
    git(repo, "pack-refs", "--all")
    assert facts(str(repo)) == GitFacts("feature/größe", head)
    (repo / "deep/er").mkdir(parents=True)
    assert facts(str(repo / "deep/er")) == GitFacts("feature/größe", head)
    git(repo, "checkout", "-q", "--detach")
    assert facts(str(repo)) == GitFacts("", head)


@needs_git
def test_a_worktree_has_its_own_branch(repo: Path) -> None:
    git(repo, "commit", "-q", "--allow-empty", "-m", "one")
    git(repo, "worktree", "add", "-q", "../tree", "-b", "side")
    tree = repo.parent / "tree"
    assert (tree / ".git").is_file()
    assert facts(str(tree)) == GitFacts("side", git(tree, "rev-parse", "HEAD"))
    git(repo, "pack-refs", "--all")
    assert facts(str(tree)) == GitFacts("side", git(tree, "rev-parse", "HEAD"))


def test_no_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert facts(str(tmp_path)) is None or facts(str(tmp_path)) == facts(str(tmp_path.parent))


@pytest.mark.parametrize(
    "head",
    [
        "ref: refs/heads/../../../../secret",
        "ref: refs/heads/.invalid",
        "ref: refs/heads/a\x1b[31m",
        "ref: refs/heads/\u202eevil",
        "ref: /etc/passwd",
        "root:x:0:0",
        "a" * 39,
        "",
        "ref: refs/heads/" + "a" * 300,
        "x" * 100_000,
    ],
)
def test_odd_heads_are_no_facts(tmp_path: Path, head: str) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").write_text(head, "utf-8")
    assert facts(str(tmp_path)) is None


def test_fifos_links_and_pointers_are_not_followed_into_trouble(tmp_path: Path) -> None:
    (tmp_path / "a/.git").mkdir(parents=True)
    os.mkfifo(tmp_path / "a/.git/HEAD")
    assert facts(str(tmp_path / "a")) is None
    (tmp_path / "b").mkdir()
    (tmp_path / "b/.git").write_text("gitdir: /dev\n", "utf-8")
    assert facts(str(tmp_path / "b")) is None
    (tmp_path / "c").mkdir()
    (tmp_path / "c/.git").write_bytes(b"gitdir: a\0b\n")
    assert facts(str(tmp_path / "c")) is None
    (tmp_path / "d/.git/refs/heads").mkdir(parents=True)
    (tmp_path / "d/.git/HEAD").write_text("ref: refs/heads/main\n", "utf-8")
    (tmp_path / "d/.git/refs/heads/main").symlink_to("/etc/passwd")
    assert facts(str(tmp_path / "d")) == GitFacts("main", "")
    (tmp_path / "d/.git/reftable").mkdir()
    assert facts(str(tmp_path / "d")) is None

"""The git tools as a model uses them, on real repositories."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from agenyx.policy.decide import Policy, decide
from agenyx.tools.git import GitCommit, GitDiff, GitLog, GitStatus
from support.repository import git, make_hostile, repository

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
STATUS, DIFF, LOG, COMMIT = GitStatus(), GitDiff(), GitLog(), GitCommit()


@pytest.fixture
def repo(work: Any) -> Any:
    repository(work.path)
    return work


def commit(repo: Any, message: str = "first") -> None:
    git(repo.path, "add", ".")
    git(repo.path, "commit", "-q", "-m", message)


def test_status(repo: Any) -> None:
    assert repo.ok(STATUS) == "## No commits yet on main\n(nothing has changed)"
    for name in ("a", "b", "c c"):
        repo.put(name, f"{name}\n" * 20)
    commit(repo)
    repo.put("a", "new\n")
    git(repo.path, "mv", "b", "moved")
    git(repo.path, "rm", "-q", "c c")
    repo.put("sub/new", "x")
    assert repo.ok(STATUS).splitlines() == ["## main", " M a", "D  c c", "R  b -> moved", "?? sub/"]
    for tool in (STATUS, DIFF, LOG):
        effects = repo.project(tool)
        assert effects.parallel and not effects.acts and effects.reads[0].shown == "."
        assert decide(tool.name, effects, Policy("plan")).decision == "allow"


def test_diff_of_what_is_not_committed_and_of_what_is_staged(repo: Any) -> None:
    repo.put("new", "first\n")
    git(repo.path, "add", ".")
    assert "+first" in repo.ok(DIFF) and "+first" in repo.ok(DIFF, staged=True)  # before the first commit
    commit(repo)
    assert repo.ok(DIFF) == "No tracked file has uncommitted changes."
    assert repo.ok(DIFF, staged=True, path="new") == "Nothing is staged in new."
    repo.put("new", "staged\n")
    git(repo.path, "add", ".")
    repo.put("new", "later\n")
    repo.put("dir/other", "x\n")
    git(repo.path, "add", "dir")
    assert "-first\n+later" in repo.ok(DIFF, path="new")
    assert "-first\n+staged" in repo.ok(DIFF, staged=True)
    whole = repo.ok(DIFF)
    assert "--- a/new" in whole and "+++ b/dir/other" in whole
    assert "dir/other" not in repo.ok(DIFF, path="new")
    assert repo.project(DIFF, path="new").reads[0].shown == "new"


def test_protected_files_are_left_out_unless_they_are_asked_for(repo: Any) -> None:
    repo.put(".env", "TOKEN=old\n")
    repo.put("plain", "a\n")
    commit(repo)
    repo.put(".env", "TOKEN=new\n")
    repo.put("plain", "b\n")
    text = repo.ok(DIFF)
    assert "+b" in text and "TOKEN" not in text and "1 protected file was left out: .env" in text
    effects = repo.project(DIFF, path=".env")
    assert decide("GitDiff", effects, Policy("bypassPermissions", True)).decision == "ask"
    assert "+TOKEN=new" in repo.ok(DIFF, path=".env")


def test_log(repo: Any) -> None:
    assert repo.ok(LOG) == "There are no commits."
    for number in range(3):
        repo.put(f"f{number}", "x")
        commit(repo, f"change {number}\n\nbody")
    lines = repo.ok(LOG).splitlines()
    assert [line.split(" ", 1)[1] for line in lines] == [f"2026-05-04 Ann Author: change {n}" for n in (2, 1, 0)]
    assert len(repo.ok(LOG, limit=1).splitlines()) == 1
    assert repo.ok(LOG, path="f1").endswith(": change 1")
    git(repo.path, "rm", "-q", "f1")
    commit(repo, "gone")
    assert len(repo.ok(LOG, path="f1").splitlines()) == 2
    for limit in (0, 201):
        with pytest.raises(ValueError):
            repo.call(LOG, limit=limit)


def test_odd_names_and_messages_stay_one_line(repo: Any) -> None:
    names = [b"a\nb", b"$(touch hit);x", b"-rf", b"q\xff", b"\xe2\x80\xaegpj", b"--output=hit", b":(top)x", b'"quoted"']
    for name in names:
        (repo.path / os.fsdecode(name)).write_text("x\n", "utf-8")
    lines = repo.ok(STATUS).splitlines()[1:]
    shown = ["a\\x0ab", "$(touch hit);x", "-rf", "q\\xff", "\\xe2\\x80\\xaegpj", "--output=hit", ":(top)x", '"quoted"']
    assert sorted(lines) == sorted(f"?? {name}" for name in shown)
    commit(repo, "subject \x1b[31m\u202e;$(touch hit)")
    assert repo.ok(LOG).endswith("subject \\x1b[31m\\xe2\\x80\\xae;$(touch hit)")
    for name in names:
        (repo.path / os.fsdecode(name)).write_text("changed\n", "utf-8")
    for line in lines:
        text = repo.ok(DIFF, path=line.removeprefix("?? "))
        assert text.count("diff --git") == 1 and "+changed" in text
        assert "x" in repo.ok(LOG, path=line.removeprefix("?? "))
    assert not (repo.path / "hit").exists()


def test_a_workspace_within_a_repository_sees_only_itself(work: Any) -> None:
    top = repository(work.path.parent)
    work.put("mine", "a\n")
    (top / "secret").write_text("a\n", "utf-8")
    git(top, "add", "work/mine", "secret")
    git(top, "commit", "-q", "-m", "both")
    (top / "secret").write_text("changed\n", "utf-8")
    git(top, "commit", "-q", "-a", "-m", "only secret")
    work.put("mine", "b\n")
    (top / "secret").write_text("again\n", "utf-8")
    assert work.ok(STATUS).splitlines() == ["## main", " M mine"]
    text = work.ok(DIFF)
    assert "--- a/mine" in text and "again" not in text
    assert work.ok(LOG).endswith(": both") and "only secret" not in work.ok(LOG)
    assert "outside the workspace" in work.fails(DIFF, path="../secret")
    work.ok(COMMIT, message="mine", all=True)
    assert git(top, "show", "--name-only", "--format=", "HEAD") == "work/mine"
    assert git(top, "status", "--short", "--untracked-files=no") == "M secret"


def test_commit(repo: Any) -> None:
    assert "nothing was committed" in repo.fails(COMMIT, message="empty").lower()
    repo.put("a", "1\n")
    git(repo.path, "add", ".")
    text = repo.ok(COMMIT, message="-m 'subject'\n\n# not a comment; $(touch hit)\n")
    assert "1 file changed" in text and "main (root-commit)" in text
    assert git(repo.path, "log", "-1", "--format=%B") == "-m 'subject'\n\n# not a comment; $(touch hit)"
    repo.put("a", "2\n")
    repo.put("b", "new\n")
    assert "nothing was committed" in repo.fails(COMMIT, message="not staged").lower()
    repo.ok(COMMIT, message="tracked", all=True)
    assert repo.ok(STATUS).splitlines() == ["## main", "?? b"]
    assert "message is empty" in repo.fails(COMMIT, message="  \n")
    assert not (repo.path / "hit").exists()


def test_a_commit_is_asked_about_with_what_it_holds(repo: Any) -> None:
    repo.put("a", "1\n")
    git(repo.path, "add", ".")
    effects = repo.project(COMMIT, message="why not")
    assert "why not" in effects.preview and "A a" in effects.preview and not effects.opaque
    assert effects.commands[0].argv == ("git", "commit", "-m", "why not")
    assert decide("GitCommit", effects, Policy()).decision == "ask"
    assert decide("GitCommit", effects, Policy("acceptEdits")).decision == "ask"
    assert decide("GitCommit", effects, Policy("plan")).decision == "deny"
    hook = repo.path / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\necho checked; touch ran\n", "utf-8")
    hook.chmod(0o755)
    git(repo.path, "config", "filter.up.clean", "tr a-z A-Z")
    effects = repo.project(COMMIT, message="why not")
    assert effects.opaque == "code of the repository runs with a commit: hook pre-commit, filter up"
    assert not (repo.path / "ran").exists()
    assert "checked" in repo.ok(COMMIT, message="with hook")
    assert (repo.path / "ran").exists()
    hook.write_text("#!/bin/sh\necho refused >&2; exit 1\n", "utf-8")
    repo.put("a", "2\n")
    assert "refused" in repo.fails(COMMIT, message="no", all=True)


def test_a_commit_in_a_hostile_repository_runs_hooks_and_filters_only(repo: Any, tmp_path: Path) -> None:
    repo.put("a", "1\n")
    commit(repo)
    make_hostile(repo.path, tmp_path / "witness")
    repo.put("a", "2\n")
    repo.project(COMMIT, message="x", all=True)
    assert os.listdir(tmp_path / "witness") == []
    text = repo.ok(COMMIT, message="x", all=True)
    assert "[commit.gpgSign is set, but this commit is not signed]" in text
    ran = os.listdir(tmp_path / "witness")
    assert ran and all(name.startswith("hook-") for name in ran)


def test_worktrees(repo: Any, tmp_path: Path) -> None:
    repo.put("a", "1\n")
    commit(repo)
    git(repo.path, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "side")
    tree = type(repo)(tmp_path / "tree", tmp_path / "state")
    tree.put("a", "2\n")
    assert tree.ok(STATUS).splitlines() == ["## side", " M a"]
    tree.ok(COMMIT, message="on the side", all=True)
    assert repo.ok(STATUS).splitlines()[0] == "## main" and "on the side" not in repo.ok(LOG)


def test_no_repository(work: Any) -> None:
    for tool in (STATUS, DIFF, LOG):
        assert "is not in a git repository" in work.fails(tool)
    assert "is not in a git repository" in work.fails(COMMIT, message="x")
    effects = work.project(COMMIT, message="x")
    assert "This would fail" in effects.preview and effects.acts


def test_a_huge_diff_is_cut(repo: Any) -> None:
    repo.put("big", "")
    commit(repo)
    repo.put("big", "a line of text that is long enough\n" * 200_000)
    text = repo.ok(DIFF)
    assert text.endswith("[the diff goes on; name a path to see less]") and len(text) < 5 << 20
